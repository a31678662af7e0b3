/** The newest acceptance of each change: its record by its id, and its id by when it may go. */
import { ByteReader, ByteWriter, utf8 } from '@quorumscan/base'
import type { ChangeRecord } from '@quorumscan/ledger'
import type { CommandSink } from './commands.ts'
import { KEYS } from './keys.ts'

export function putChange(commands: CommandSink, id: Uint8Array, record: ChangeRecord): void {
  commands.add('HSET', KEYS.changes, id, encodeChange(record))
  commands.add('ZADD', KEYS.changesUntil, record.until, id)
}

export function encodeChange(record: ChangeRecord): Uint8Array {
  const writer = new ByteWriter()
  writer.unsigned(record.offset)
  writer.unsigned(record.recordTime)
  writer.unsigned(record.until)
  writer.raw(utf8(record.submissionId))
  return writer.finish()
}

export function decodeChange(bytes: Uint8Array): ChangeRecord {
  const reader = new ByteReader(bytes)
  return {
    offset: reader.unsigned(),
    recordTime: reader.unsigned(),
    until: reader.unsigned(),
    submissionId: reader.rest().toString('utf8'),
  }
}
