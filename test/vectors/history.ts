/** Histories of activities, and runs of their rows. */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashActivity,
  joinSubtrees,
  type ShownRow,
  walkToRun,
} from '@quorumscan/verifier/state-tree'

type Row = { readonly eventId: string; readonly recordTime: number; readonly row: string }
export type Run = { first: number; hashes: readonly string[]; rows: readonly ShownRow[] }

export type History = { readonly rows: readonly Row[]; readonly tree: string }

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const rowHash = ({ row }: Row) => sha256(utf8(row))
const leafHash = (row: Row) => hashActivity({ ...row, rowHash: rowHash(row) }, sha256)
const hashOf = (rows: readonly Row[]) => {
  let tree: Frontier = EMPTY_FRONTIER
  for (const row of rows) tree = append(tree, leafHash(row), sha256)
  return joinSubtrees(tree.peaks, sha256)
}

/** A history with a row at each record time, in µs. `change` replaces members of the honest rows. */
export function historyOf(recordTimes: readonly number[], change: Partial<Row> = {}): History {
  const rows = recordTimes.map((recordTime, index) => {
    const isSecond = recordTimes[index - 1] === recordTime
    const eventId = `${String(recordTime).padStart(16, '0')}:000${isSecond ? 1 : 0}`
    const row = JSON.stringify({ event_id: eventId, description: 'grün "and" {so} on \\ 😀' })
    return { eventId, recordTime, row, ...change }
  })
  return { rows, tree: JSON.stringify({ root: toHex(hashOf(rows)), size: rows.length }) }
}

/** The run from `first` to before `end`. `shown` replaces the rows that an honest node shows. */
export function runOf(
  { rows }: History,
  first: number,
  end: number,
  shown: readonly [from: number, to: number] = [
    Math.max(0, first - 1),
    Math.min(rows.length, end + 1),
  ],
): Run {
  const [from, to] = shown
  const hashes: string[] = []
  if (rows.length > 0)
    walkToRun(
      { first: from, end: to, size: rows.length },
      {
        leaf: () => {},
        outside: (start, count) =>
          void hashes.push(base64(hashOf(rows.slice(start, start + count)))),
        pair: () => {},
      },
    )
  const shownRows = rows.slice(from, to).map((row, index): ShownRow => {
    const place = { event_id: row.eventId, record_time: row.recordTime }
    const isInside = from + index >= first && from + index < end
    return isInside ? { ...place, row: row.row } : { ...place, row_hash: base64(rowHash(row)) }
  })
  return { first, hashes, rows: shownRows }
}
