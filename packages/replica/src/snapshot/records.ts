/**
 * What a snapshot says, record by record: u(n) ‖ kind ‖ fields, where u(n) is a varint and n counts kind and fields.
 * The order is that of the kinds below, and within a kind that of the bytes that name a record: the same state has one
 * text. It depends on the log alone, not on how a replica lies in Redis, and another form would be another version:
 * nodes sign what it hashes to.
 */
import { ByteReader, ByteWriter, readVarint, splitFrames, utf8 } from '@quorumscan/base'
import type { ChangeRecord } from '@quorumscan/ledger'
import type { ContractId, Micros, Offset, PartyId } from '@quorumscan/model'
import { decodeChange, encodeChange } from '../ingest/plan.ts'

const VERSION = 1
const HASH_BYTES = 32
const HEAD_HASHES = ['genesisHash', 'historyHash', 'entryHash', 'stateRoot'] as const
const HEAD_NUMBERS = ['offset', 'recordTime', 'endedCount', 'activityCount'] as const

export type SnapshotHead = {
  readonly genesisHash: string
  readonly offset: Offset
  readonly recordTime: Micros
  readonly historyHash: string
  readonly entryHash: string
  readonly stateRoot: string
  /** As in `StoredHead`. */
  readonly endedCount: number
  readonly activityCount: number
}

export type SnapshotRecord =
  /** The first one. */
  | { readonly kind: 'head'; readonly head: SnapshotHead }
  /** Contracts in force of a template that lookups read, the newest first. */
  | { readonly kind: 'documents'; readonly entity: string; readonly ids: readonly ContractId[] }
  | { readonly kind: 'party'; readonly party: PartyId }
  | { readonly kind: 'change'; readonly id: Uint8Array; readonly record: ChangeRecord }
  | { readonly kind: 'seen'; readonly id: Uint8Array; readonly until: Micros }
  /** As `ContractCodec` writes it. */
  | { readonly kind: 'contract'; readonly bytes: Uint8Array }
  /** Hashes of the activity tree before the first row that is kept (`activity-tiles.ts`). */
  | { readonly kind: 'tile'; readonly level: number; readonly hashes: Uint8Array }
  /** As `encodeActivity` writes it. */
  | { readonly kind: 'activity'; readonly member: Uint8Array }
  /** The last one: how many came before it. */
  | { readonly kind: 'end'; readonly count: number }

/** It is not what a replica wrote. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

type RecordOf<Kind> = Extract<SnapshotRecord, { readonly kind: Kind }>
/** The fields of a kind. */
type Form<Kind> = {
  write(writer: ByteWriter, record: RecordOf<Kind>): void
  read(reader: ByteReader): Omit<RecordOf<Kind>, 'kind'>
}

/** In the order in which records come. */
const FORMS: { readonly [Kind in SnapshotRecord['kind']]: Form<Kind> } = {
  head: {
    write(writer, { head }) {
      writer.byte(VERSION)
      for (const member of HEAD_HASHES) writer.hex(head[member])
      for (const member of HEAD_NUMBERS) writer.unsigned(head[member])
    },
    read(reader) {
      if (reader.byte() !== VERSION)
        throw new SnapshotError('it has a form that this software does not know')
      const hashes = HEAD_HASHES.map((member) => [member, reader.hex(HASH_BYTES)])
      const numbers = HEAD_NUMBERS.map((member) => [member, reader.unsigned()])
      return { head: Object.fromEntries([...hashes, ...numbers]) }
    },
  },
  documents: {
    write(writer, { entity, ids }) {
      writer.text(entity)
      writer.list(ids, (id) => writer.hex(id))
    },
    read: (reader) => ({
      entity: reader.text(),
      ids: Array.from({ length: reader.unsigned() }, () => reader.hex(HASH_BYTES + 1)),
    }),
  },
  party: {
    write: (writer, { party }) => writer.raw(utf8(party)),
    read: (reader) => ({ party: reader.rest().toString('utf8') }),
  },
  change: {
    write(writer, { id, record }) {
      writer.raw(id)
      writer.raw(encodeChange(record))
    },
    read: (reader) => ({ id: reader.raw(HASH_BYTES), record: decodeChange(reader.rest()) }),
  },
  seen: {
    write(writer, { id, until }) {
      writer.raw(id)
      writer.unsigned(until)
    },
    read: (reader) => ({ id: reader.raw(HASH_BYTES), until: reader.unsigned() }),
  },
  contract: {
    write: (writer, { bytes }) => writer.raw(bytes),
    read: (reader) => ({ bytes: reader.rest() }),
  },
  tile: {
    write(writer, { level, hashes }) {
      writer.unsigned(level)
      writer.raw(hashes)
    },
    read: (reader) => ({ level: reader.unsigned(), hashes: reader.rest() }),
  },
  activity: {
    write: (writer, { member }) => writer.raw(member),
    read: (reader) => ({ member: reader.rest() }),
  },
  end: {
    write: (writer, { count }) => writer.unsigned(count),
    read: (reader) => ({ count: reader.unsigned() }),
  },
}
const KINDS = Object.keys(FORMS) as readonly SnapshotRecord['kind'][]

function formOf<Kind extends SnapshotRecord['kind']>(kind: Kind): Form<Kind> {
  return FORMS[kind]
}

/** Writes the record behind what the writer has. */
export function writeRecord(writer: ByteWriter, record: SnapshotRecord): void {
  const fields = new ByteWriter()
  fields.byte(KINDS.indexOf(record.kind))
  formOf(record.kind).write(fields, record)
  writer.unsigned(fields.byteCount())
  writer.append(fields)
}

/** Puts together what was cut anywhere. Its records are views of what came in. */
export function createRecordReader(): {
  /** @throws {SnapshotError} For a kind or version that this software does not know. */
  add(piece: Uint8Array): Generator<SnapshotRecord>
  /** @throws {SnapshotError} If it ends in the middle of a record. */
  end(): void
} {
  const splitter = splitFrames((bytes) => {
    const length = lengthOf(bytes)
    return length === null ? bytes.byteLength + 1 : length.end + length.value
  })
  return {
    *add(piece) {
      for (const record of splitter.add(piece))
        yield readRecord(record.subarray(lengthOf(record)?.end))
    },
    end() {
      if (splitter.heldBytes() > 0) throw new SnapshotError('it ends in the middle of a record')
    },
  }
}

/** A varint of a safe integer has eight bytes at most. */
const LENGTH_BYTES_MAX = 8

function lengthOf(bytes: Uint8Array): ReturnType<typeof readVarint> {
  try {
    return readVarint(bytes, LENGTH_BYTES_MAX)
  } catch (cause) {
    throw new SnapshotError('a record has no length', { cause })
  }
}

function readRecord(bytes: Uint8Array): SnapshotRecord {
  const reader = new ByteReader(bytes)
  const kind = KINDS[reader.byte()]
  if (kind === undefined)
    throw new SnapshotError('a record is of a kind that this software does not know')
  return { kind, ...formOf(kind).read(reader) } as SnapshotRecord
}
