/**
 * What a snapshot says, record by record: u(n) ‖ kind ‖ fields, where u(n) is a varint and n counts kind and fields.
 * The order is that of the kinds below, and within a kind that of the bytes that name a record: the same state has one
 * text. It depends on the log alone, not on how a replica lies in Redis, and another form would be another version:
 * nodes sign what it hashes to.
 */
import { ByteReader, ByteWriter, concatBytes, utf8 } from '@quorumscan/base'
import type { ChangeRecord } from '@quorumscan/ledger'
import type { ContractId, Micros, Offset, PartyId } from '@quorumscan/model'
import { decodeChange, encodeChange } from '../ingest/plan.ts'

const VERSION = 1
const HASH_BYTES = 32
const KINDS = [
  'head',
  'documents',
  'party',
  'change',
  'seen',
  'contract',
  'tile',
  'activity',
  'end',
] as const

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

/** Writes the record behind what the writer has. */
export function writeRecord(writer: ByteWriter, record: SnapshotRecord): void {
  const fields = fieldsOf(record)
  writer.unsigned(fields.reduce((sum, field) => sum + field.byteLength, 1))
  writer.byte(KINDS.indexOf(record.kind))
  for (const field of fields) writer.raw(field)
}

function fieldsOf(record: SnapshotRecord): readonly Uint8Array[] {
  switch (record.kind) {
    case 'contract':
      return [record.bytes]
    case 'activity':
      return [record.member]
    case 'party':
      return [utf8(record.party)]
    case 'change':
      return [record.id, encodeChange(record.record)]
  }
  const writer = new ByteWriter()
  switch (record.kind) {
    case 'head': {
      const { head } = record
      writer.byte(VERSION)
      for (const hash of [head.genesisHash, head.historyHash, head.entryHash, head.stateRoot])
        writer.hex(hash)
      for (const number of [head.offset, head.recordTime, head.endedCount, head.activityCount])
        writer.unsigned(number)
      break
    }
    case 'documents':
      writer.text(record.entity)
      writer.list(record.ids, (id) => writer.hex(id))
      break
    case 'seen':
      writer.raw(record.id)
      writer.unsigned(record.until)
      break
    case 'tile':
      writer.unsigned(record.level)
      writer.raw(record.hashes)
      break
    case 'end':
      writer.unsigned(record.count)
  }
  return [writer.finish()]
}

/** Puts together what was cut anywhere. Its records are views of what came in. */
export function createRecordReader(): {
  /** @throws {SnapshotError} For a kind or version that this software does not know. */
  add(piece: Uint8Array): Generator<SnapshotRecord>
  /** @throws {SnapshotError} If it ends in the middle of a record. */
  end(): void
} {
  let held: Uint8Array = new Uint8Array(0)
  return {
    *add(piece) {
      held = held.byteLength === 0 ? piece : concatBytes([held, piece])
      for (;;) {
        const found = spanOf(held)
        if (found === null) return
        const record = held.subarray(found.start, found.end)
        held = held.subarray(found.end)
        yield readRecord(record)
      }
    },
    end() {
      if (held.byteLength > 0) throw new SnapshotError('it ends in the middle of a record')
    },
  }
}

/** A varint of a safe integer has eight bytes at most. */
const LENGTH_BYTES_MAX = 8

/** Of the first record, without its length; null: not all of it is there. */
function spanOf(bytes: Uint8Array): { readonly start: number; readonly end: number } | null {
  let length = 0
  for (let index = 0, factor = 1; index < LENGTH_BYTES_MAX; index++, factor *= 0x80) {
    const byte = bytes[index]
    if (byte === undefined) return null
    length += (byte & 0x7f) * factor
    if (byte >= 0x80) continue
    const end = index + 1 + length
    return end > bytes.byteLength ? null : { start: index + 1, end }
  }
  throw new SnapshotError('a record has no length')
}

function readRecord(bytes: Uint8Array): SnapshotRecord {
  const reader = new ByteReader(bytes)
  const kind = KINDS[reader.byte()]
  switch (kind) {
    case 'head':
      return { kind, head: readHead(reader) }
    case 'documents': {
      const entity = reader.text()
      const count = reader.unsigned()
      return { kind, entity, ids: Array.from({ length: count }, () => reader.hex(HASH_BYTES + 1)) }
    }
    case 'party':
      return { kind, party: reader.rest().toString('utf8') }
    case 'change':
      return { kind, id: reader.raw(HASH_BYTES), record: decodeChange(reader.rest()) }
    case 'seen':
      return { kind, id: reader.raw(HASH_BYTES), until: reader.unsigned() }
    case 'contract':
      return { kind, bytes: reader.rest() }
    case 'tile':
      return { kind, level: reader.unsigned(), hashes: reader.rest() }
    case 'activity':
      return { kind, member: reader.rest() }
    case 'end':
      return { kind, count: reader.unsigned() }
    default:
      throw new SnapshotError('a record is of a kind that this software does not know')
  }
}

function readHead(reader: ByteReader): SnapshotHead {
  if (reader.byte() !== VERSION)
    throw new SnapshotError('it has a form that this software does not know')
  const [genesisHash, historyHash, entryHash, stateRoot] = Array.from({ length: 4 }, () =>
    reader.hex(HASH_BYTES),
  ) as [string, string, string, string]
  const [offset, recordTime, endedCount, activityCount] = Array.from({ length: 4 }, () =>
    reader.unsigned(),
  ) as [number, number, number, number]
  return {
    ...{ genesisHash, historyHash, entryHash, stateRoot },
    ...{ offset, recordTime, endedCount, activityCount },
  }
}
