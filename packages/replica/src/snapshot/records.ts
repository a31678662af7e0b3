/**
 * The format of a snapshot, record by record: u(n) ‖ kind ‖ fields, where u(n) is a varint and n counts kind and fields.
 * Records are in the order of the kinds below, and within a kind in the order of the bytes that name a record. So each
 * state has one encoding, which depends on the log alone, not on the layout in Redis. Members sign its hash: another
 * format needs another version.
 */
import { ByteReader, ByteWriter, readVarint, splitFrames, utf8 } from '@quorumscan/base'
import type { ChangeRecord } from '@quorumscan/ledger'
import type { ContractId, Micros, PartyId } from '@quorumscan/model'
import type { TileBefore } from '../storage/activity-tiles.ts'
import { decodeChange, encodeChange } from '../storage/change-records.ts'

const VERSION = 1
const HASH_BYTES = 32
const HEAD_HASHES = ['genesisHash', 'historyHash', 'entryHash', 'stateRoot'] as const
const HEAD_NUMBERS = ['offset', 'recordTime', 'endedCount', 'activityCount'] as const

/** The numbers are as in `StoredHead`, the hashes hex. */
export type SnapshotHead = Readonly<
  Record<(typeof HEAD_HASHES)[number], string> & Record<(typeof HEAD_NUMBERS)[number], number>
>

/** The bytes are not a snapshot that a replica wrote. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** How the fields of a record are written and read. */
type Form<Fields> = {
  write(writer: ByteWriter, fields: Fields): void
  read(reader: ByteReader): Fields
}

/** Bytes that another codec wrote. */
const BYTES: Form<{ readonly bytes: Uint8Array }> = {
  write: (writer, { bytes }) => writer.raw(bytes),
  read: (reader) => ({ bytes: reader.rest() }),
}

/** In the order in which records are written. */
const FORMS = {
  /** The first record. */
  head: {
    write(writer, { head }) {
      writer.byte(VERSION)
      for (const member of HEAD_HASHES) writer.hex(head[member])
      for (const member of HEAD_NUMBERS) writer.unsigned(head[member])
    },
    read(reader) {
      if (reader.byte() !== VERSION)
        throw new SnapshotError('the snapshot has a format that this software does not know')
      const hashes = HEAD_HASHES.map((member) => [member, reader.hex(HASH_BYTES)])
      const numbers = HEAD_NUMBERS.map((member) => [member, reader.unsigned()])
      return { head: Object.fromEntries([...hashes, ...numbers]) }
    },
  } satisfies Form<{ readonly head: SnapshotHead }>,
  /** Contracts in force of a template that lookups read, the newest first. */
  documents: {
    write(writer, { entity, ids }) {
      writer.text(entity)
      writer.list(ids, (id) => writer.hex(id))
    },
    read: (reader) => ({
      entity: reader.text(),
      ids: Array.from({ length: reader.unsigned() }, () => reader.hex(HASH_BYTES + 1)),
    }),
  } satisfies Form<{ readonly entity: string; readonly ids: readonly ContractId[] }>,
  party: {
    write: (writer, { party }) => writer.raw(utf8(party)),
    read: (reader) => ({ party: reader.rest().toString('utf8') }),
  } satisfies Form<{ readonly party: PartyId }>,
  change: {
    write(writer, { id, record }) {
      writer.raw(id)
      writer.raw(encodeChange(record))
    },
    read: (reader) => ({ id: reader.raw(HASH_BYTES), record: decodeChange(reader.rest()) }),
  } satisfies Form<{ readonly id: Uint8Array; readonly record: ChangeRecord }>,
  seen: {
    write(writer, { id, until }) {
      writer.raw(id)
      writer.unsigned(until)
    },
    read: (reader) => ({ id: reader.raw(HASH_BYTES), until: reader.unsigned() }),
  } satisfies Form<{ readonly id: Uint8Array; readonly until: Micros }>,
  /** As `ContractCodec` writes it. */
  contract: BYTES,
  /** Hashes of the activity tree before the first row in the snapshot (`activity-tiles.ts`). */
  tile: {
    write(writer, { level, hashes }) {
      writer.unsigned(level)
      writer.raw(hashes)
    },
    read: (reader) => ({ level: reader.unsigned(), hashes: reader.rest() }),
  } satisfies Form<TileBefore>,
  /** As `encodeActivity` writes it. */
  activity: BYTES,
  /** The last record: the number of records before it. */
  end: {
    write: (writer, { count }) => writer.unsigned(count),
    read: (reader) => ({ count: reader.unsigned() }),
  } satisfies Form<{ readonly count: number }>,
}

type Kind = keyof typeof FORMS
type RecordOf<K extends Kind> = { readonly kind: K } & Parameters<(typeof FORMS)[K]['write']>[1]
export type SnapshotRecord = { [K in Kind]: RecordOf<K> }[Kind]
const KINDS = Object.keys(FORMS) as readonly Kind[]

/** Appends the record. */
export function writeRecord(writer: ByteWriter, record: SnapshotRecord): void {
  const fields = new ByteWriter()
  fields.byte(KINDS.indexOf(record.kind))
  const write: (writer: ByteWriter, fields: never) => void = FORMS[record.kind].write
  write(fields, record as never)
  writer.unsigned(fields.byteCount())
  writer.append(fields)
}

/** Puts together records that were cut anywhere. They are views of the bytes that arrived. */
export function createRecordReader() {
  const splitter = splitFrames((bytes) => {
    const length = lengthOf(bytes)
    return length === null ? bytes.byteLength + 1 : length.end + length.value
  })
  return {
    /** @throws {SnapshotError} For a kind or version that this software does not know. */
    *add(piece: Uint8Array): Generator<SnapshotRecord> {
      for (const record of splitter.add(piece))
        yield readRecord(record.subarray(lengthOf(record)?.end))
    },
    /** @throws {SnapshotError} If it ends in the middle of a record. */
    end(): void {
      if (splitter.heldBytes() > 0)
        throw new SnapshotError('the snapshot ends in the middle of a record')
    },
  }
}

/** A varint of a safe integer has eight bytes at most. */
const LENGTH_BYTES_MAX = 8

function lengthOf(bytes: Uint8Array): ReturnType<typeof readVarint> {
  try {
    return readVarint(bytes, LENGTH_BYTES_MAX)
  } catch (cause) {
    throw new SnapshotError('a record of the snapshot has no length', { cause })
  }
}

function readRecord(bytes: Uint8Array): SnapshotRecord {
  const reader = new ByteReader(bytes)
  const kind = KINDS[reader.byte()]
  if (kind === undefined)
    throw new SnapshotError('the snapshot has a kind of record that this software does not know')
  return { kind, ...FORMS[kind].read(reader) } as SnapshotRecord
}
