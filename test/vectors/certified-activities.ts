/** Vectors of pages of activities: those that prove something, and those to refuse. */

import { sha256, toHex, utf8 } from '@quorumscan/base'
import { type CanonicalRequest, requestOfActivities } from '@quorumscan/consensus'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashActivity,
  joinSubtrees,
  type ShownRow,
  walkToRun,
} from '@quorumscan/consensus/state-tree'

type Row = { readonly eventId: string; readonly recordTime: number; readonly row: string }
type Run = { first: number; hashes: readonly string[]; rows: readonly ShownRow[] }

export type History = { readonly rows: readonly Row[]; readonly tree: string }

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const rowHash = ({ row }: Row) => sha256(utf8(row))
const leafHash = (row: Row) => hashActivity({ ...row, rowHash: rowHash(row) }, sha256)
const hashOf = (rows: readonly Row[]) => {
  let tree: Frontier = EMPTY_FRONTIER
  for (const row of rows) tree = append(tree, leafHash(row), sha256)
  return joinSubtrees(tree.peaks, sha256)
}

/** Rows so many µs before the state or after the moment at which they go. */
export function historyOf(recordTimes: readonly number[]): History {
  const rows = recordTimes.map((recordTime, index) => {
    const isSecond = recordTimes[index - 1] === recordTime
    const eventId = `${String(recordTime).padStart(16, '0')}:000${isSecond ? 1 : 0}`
    const row = JSON.stringify({ event_id: eventId, description: 'grün "and" {so} on \\ 😀' })
    return { eventId, recordTime, row }
  })
  return { rows, tree: JSON.stringify({ root: toHex(hashOf(rows)), size: rows.length }) }
}

/** The run from `first` on, before `end`; `shown`: the rows that it shows, other than an honest node would. */
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
        beside: (start, count) =>
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

const ask = (size: number, after: string | null, order: 'asc' | 'desc' = 'asc') =>
  requestOfActivities({ page_size: size, begin_after_id: after, sort_order: order })

type Named = readonly [name: string, request: CanonicalRequest, run: Run]

/** Of a history of which the first three rows of seven have gone. */
export function* provenRuns(history: History): Generator<Named> {
  const ids = history.rows.map(({ eventId }) => eventId)
  const run = (first: number, end: number) => runOf(history, first, end)
  const [gone, first, second, , last] = [1, 3, 4, 5, 6].map((index) => ids[index] as string)
  yield ['all activities', ask(100, null), run(3, 7)]
  yield ['the first page of activities', ask(2, null), run(3, 5)]
  yield ['the next page of activities', ask(2, second as string), run(5, 7)]
  yield ['a page of activities that is shorter than it may be', ask(100, null), run(3, 4)]
  yield ['no activities behind the last', ask(2, last as string), run(7, 7)]
  yield ['activities behind one that has gone', ask(1, gone as string), run(3, 4)]
  yield ['the newest activities', ask(2, null, 'desc'), run(5, 7)]
  yield ['activities before one', ask(9, second as string, 'desc'), run(3, 4)]
  yield ['no activities before the first', ask(9, first as string, 'desc'), run(3, 3)]
  yield ['no activities before one that has gone', ask(9, gone as string, 'desc'), run(3, 3)]
}

/** For the first page of two. */
export function* refusedRuns(history: History): Generator<Named> {
  const ids = history.rows.map(({ eventId }) => eventId)
  const request = ask(2, null)
  const run = (first: number, end: number) => runOf(history, first, end)
  const honest = run(3, 5)
  const rows = honest.rows
  const named = (name: string, change: Partial<Run>): Named => [
    name,
    request,
    { ...honest, ...change },
  ]
  yield ['a page of activities that begins later', request, run(4, 6)]
  yield ['a page of activities that begins with one that has gone', request, run(2, 4)]
  yield ['more activities than were asked for', request, run(3, 6)]
  yield ['no activities where there are some', request, run(3, 3)]
  yield ['no activities at an end that is none', request, run(7, 7)]
  // The hash of the whole tree, or of all of it but one row, fits any place.
  for (const place of [0, 3, 7])
    yield [
      `no activities at place ${place}, without a row`,
      request,
      runOf(history, place, place, [place, place]),
    ]
  yield ['no activities, without the row before', request, runOf(history, 3, 3, [3, 4])]
  yield ['no activities, without the row behind', request, runOf(history, 3, 3, [2, 3])]
  yield ['activities again', ask(2, ids[3] as string), run(3, 5)]
  yield ['older activities than the newest', ask(2, null, 'desc'), run(3, 5)]
  yield [
    'activities from the one that they are to be before',
    ask(2, ids[5] as string, 'desc'),
    run(4, 6),
  ]
  yield [
    'no activities before one that is not the first',
    ask(2, ids[5] as string, 'desc'),
    run(5, 5),
  ]
  yield named('a run of activities with a hole', {
    rows: rows.map((row, index) => (index === 1 ? (run(2, 2).rows[1] as ShownRow) : row)),
  })
  yield named('activities in another order', {
    rows: [0, 2, 1, 3].map((at) => rows[at] as ShownRow),
  })
  yield named('activities at another place', { first: 4 })
  yield named('a run of activities without the row before it', { rows: rows.slice(1) })
  yield named('a run of activities without the row behind it', { rows: rows.slice(0, -1) })
  yield named('a row beside the page with its JSON', {
    rows: [run(2, 5).rows[1] as ShownRow, ...rows.slice(1)],
  })
  yield named('another time of the row before the page', {
    rows: [{ ...(rows[0] as ShownRow), record_time: 1 }, ...rows.slice(1)],
  })
  yield named('another event of a row', {
    rows: rows.with(1, { ...(rows[1] as ShownRow), event_id: ids[6] as string }),
  })
  yield named('another row', {
    rows: rows.with(1, { ...(rows[2] as ShownRow), event_id: ids[3] as string }),
  })
  yield named('a hash too few', { hashes: honest.hashes.slice(1) })
  yield named('a hash too many', { hashes: [...honest.hashes, ...honest.hashes.slice(-1)] })
  yield named(
    'the run of an older tree',
    runOf({ ...history, rows: history.rows.slice(0, 6) }, 3, 5),
  )
  yield [
    'rows behind the end of the tree',
    ask(100, null),
    {
      ...run(3, 7),
      rows: [
        ...run(3, 7).rows,
        { event_id: `${'9'.repeat(16)}:0000`, record_time: 2 ** 52, row: '{}' },
      ],
    },
  ]
}
