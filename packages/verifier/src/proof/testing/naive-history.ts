/** The activity tree as RFC 9162 defines it, hashed from all rows. The incremental tree must equal it. */
import type { ActivityRun } from '../activity-run.ts'
import { sha256 } from './naive-tree.ts'

export type NaiveRow = {
  readonly eventId: string
  readonly recordTime: number
  readonly row: string
}

export function naiveRow(eventId: string, recordTime: number, note = ''): NaiveRow {
  return { eventId, recordTime, row: JSON.stringify({ event_id: eventId, note }) }
}

export function leafData({ eventId, recordTime, row }: NaiveRow): Buffer {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(recordTime))
  return Buffer.concat([Buffer.from(eventId), time, sha256(Buffer.from(row))])
}

/** MTH of RFC 9162, 2.1.1. */
export function naiveTreeHash(data: readonly Uint8Array[]): Uint8Array {
  const [first] = data
  if (first === undefined) return sha256(Buffer.alloc(0))
  if (data.length === 1) return sha256(Buffer.concat([Buffer.of(0), first]))
  const k = splitOf(data.length)
  const halves = [data.slice(0, k), data.slice(k)]
  return sha256(Buffer.concat([Buffer.of(1), ...halves.map(naiveTreeHash)]))
}

/** The largest power of two that is less than n. */
function splitOf(n: number): number {
  return 2 ** Math.ceil(Math.log2(n) - 1)
}

export const treeOfRows = (rows: readonly NaiveRow[]) => ({
  size: rows.length,
  root: Buffer.from(naiveTreeHash(rows.map(leafData))).toString('hex'),
})

/** Rows from `first` on, before `end`, with their neighbors. */
export function naiveRun(all: readonly NaiveRow[], first: number, end: number): ActivityRun {
  const [from, to] = [Math.max(0, first - 1), Math.min(all.length, end + 1)]
  const hashes: string[] = []
  const cut = (start: number, count: number) => {
    if (start >= to || start + count <= from) {
      const hash = naiveTreeHash(all.slice(start, start + count).map(leafData))
      hashes.push(Buffer.from(hash).toString('base64'))
    } else if (count > 1) {
      const k = splitOf(count)
      cut(start, k)
      cut(start + k, count - k)
    }
  }
  if (all.length > 0) cut(0, all.length)
  const rows = all.slice(from, to).map(({ eventId, recordTime, row }, index) => ({
    event_id: eventId,
    record_time: recordTime,
    ...(from + index >= first && from + index < end
      ? { row }
      : { row_hash: Buffer.from(sha256(Buffer.from(row))).toString('base64') }),
  }))
  return { first, hashes, rows }
}
