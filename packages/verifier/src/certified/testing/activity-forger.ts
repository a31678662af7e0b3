/**
 * The forger of activities: what a liar, with all rows and all public documents, tries to pass for a page of the
 * history. What it gets through is a flaw, as is an honest document that is refused.
 */
import { encodeCertificate } from '../../certificates/certificate.ts'
import type { ActivityRun, ShownRow } from '../../proof/activity-run.ts'
import { type NaiveRow, naiveRow, naiveRun, treeOfRows } from '../../proof/testing/naive-history.ts'
import { leafOf, sha256, type ValuedLeaf } from '../../proof/testing/naive-tree.ts'
import type { StatePoint } from '../../statements/statements.ts'
import { type ActivitiesAnswer, activityTree } from '../activities.ts'
import { encodeDocument } from '../document.ts'
import type * as certified from '../index.ts'
import type { ActivitiesPage } from '../query.ts'
import { createTestNetwork } from './network.ts'
import { pointOf, proofOf } from './world.ts'

export const network = createTestNetwork(4)
const T = 1000
/** The retention of the network: rows of this age have expired. */
const GONE = T - network.genesis.activityRetentionMicros

const places: readonly (readonly [recordTime: number, index: number])[] = [
  [890, 0],
  [GONE, 0],
  [GONE, 1],
  [GONE + 1, 0],
  [950, 0],
  [950, 1],
  [T, 0],
]
const rows = places.map(([time, index]) =>
  naiveRow(`${String(time).padStart(16, '0')}:000${index}`, time, 'true'),
)

type History = {
  readonly rows: readonly NaiveRow[]
  readonly leaves: readonly ValuedLeaf[]
  readonly point: StatePoint
}

function createHistory(all: readonly NaiveRow[], offset = 42): History {
  const { size, root } = treeOfRows(all)
  const leaves = [
    leafOf(['a'], JSON.stringify({ root, size })),
    leafOf(['c', 'scans'], '{"scans":[]}'),
    leafOf(['m'], '{"members":[]}'),
  ]
  return { rows: all, leaves, point: pointOf(leaves, { offset, recordTime: T }) }
}

export const truth = createHistory(rows)
const empty = createHistory([], 43)
const onlyGone = createHistory(rows.slice(0, 3), 44)
const single = createHistory(rows.slice(-1), 45)
const past = createHistory(rows.slice(0, 5), 41)
/** Signed, as no honest member does: a row stands at the place of another. */
const odd = createHistory(
  rows.map((row, index) => (index === 4 ? { ...row, row: rows[5]?.row ?? '' } : row)),
  46,
)
const histories = [truth, empty, onlyGone, single, past]

export const page = (
  pageSize: number,
  after: string | null = null,
  order: ActivitiesPage['order'] = 'asc',
): ActivitiesPage => ({ pageSize, after, order })

const bounds = [
  null,
  ...rows.map(({ eventId }) => eventId),
  '0000000000000000:0000',
  '0000000000000955:0000',
  '9999999999999999:9999',
]
/** Each with all forgeries before the next one, so that a mistake is soon found. */
const pages = bounds.flatMap((after) =>
  [1, 2, 9].flatMap((pageSize) => [page(pageSize, after, 'asc'), page(pageSize, after, 'desc')]),
)

/** The page as it follows from all rows. */
function truePage(all: readonly NaiveRow[], asked: ActivitiesPage): readonly NaiveRow[] {
  const { pageSize, after, order } = asked
  const shown = all.filter(
    ({ eventId, recordTime }) =>
      recordTime > GONE &&
      (after === null || (order === 'asc' ? eventId > after : eventId < after)),
  )
  return (order === 'asc' ? shown : shown.toReversed()).slice(0, pageSize)
}

/** The run that an honest node shows of a page, or of its first rows. */
export function honestRun(
  all: readonly NaiveRow[],
  asked: ActivitiesPage,
  countMax = Number.POSITIVE_INFINITY,
): ActivityRun {
  const shown = truePage(all, asked).slice(0, countMax)
  const numbers = shown.map((row) => all.indexOf(row)).sort((a, b) => a - b)
  const [first] = numbers
  if (first !== undefined) return naiveRun(all, first, (numbers.at(-1) as number) + 1)
  const firstKept = all.findIndex(({ recordTime }) => recordTime > GONE)
  const place = asked.order === 'asc' || firstKept < 0 ? all.length : firstKept
  return naiveRun(all, place, place)
}

/** What a function returns for a key, made once: the forgeries are the same for each broken reader. */
function once<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key) ?? make(key)
    known.set(key, value)
    return value
  }
}

const certificateOf = once(({ point }: History) =>
  encodeCertificate(network.certificateOf(point, [1, 2])),
)
const stateOf = once(({ leaves }: History) => proofOf(leaves, { ranges: [activityTree()] }, T))

export function documentOf(history: History, run: ActivityRun, state = stateOf(history)): string {
  return encodeDocument(certificateOf(history), JSON.stringify({ run, state }))
}

type Reader = Pick<typeof certified, 'createCertifiedVerifier' | 'activitiesQuery'>
type Forgery = readonly [way: string, document: string]

/** Flaws of a reader, as sentences, one after the other as they are found. */
export async function* findFlaws(reader: Reader): AsyncGenerator<string> {
  const verifier = reader.createCertifiedVerifier(network)
  /** What the reader takes a document for; null: for nothing. */
  const judge = async (document: string, asked: ActivitiesPage) => {
    try {
      return await verifier.verify(document, reader.activitiesQuery(asked, network), 'weak')
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidProof') return null
      return error as Error
    }
  }
  const idsOf = (answer: ActivitiesAnswer) => JSON.stringify(answer.activities)
  const flawOf = async ([way, document]: Forgery, asked: ActivitiesPage) => {
    const taken = await judge(document, asked)
    if (taken === null) return null
    const about = `${way} about ${JSON.stringify(asked)}`
    if (taken instanceof Error) return `breaks at ${about}: ${taken}`
    const history = histories.find(({ point }) => point.offset === taken.offset)
    const { length } = taken.answer.activities
    const shown = truePage(history?.rows ?? [], asked)
    const isTrue =
      history !== undefined &&
      (length > 0 || shown.length === 0) &&
      idsOf(taken.answer) === expected(shown.slice(0, length))
    if (!isTrue) return `believes ${about}`
    if (document !== documentOf(history, honestRun(history.rows, asked, length)))
      return `takes ${about}, which is another spelling`
    return null
  }
  for (const asked of pages) {
    for (const { document, answer } of truths(asked)) {
      const taken = await judge(document, asked)
      if (taken === null || taken instanceof Error || idsOf(taken.answer) !== answer)
        yield `refuses the truth about ${JSON.stringify(asked)}`
    }
    for (const forgery of forgeries(asked)) {
      const flaw = await flawOf(forgery, asked)
      if (flaw !== null) yield flaw
    }
  }
}

const expected = (shown: readonly NaiveRow[]) =>
  JSON.stringify(shown.map(({ row }) => JSON.parse(row)))

/** What honest nodes show of a page, also less than requested. */
const truths = once((asked: ActivitiesPage) =>
  histories.flatMap((history) =>
    [1, 3, 100].map((countMax) => ({
      answer: expected(truePage(history.rows, asked).slice(0, countMax)),
      document: documentOf(history, honestRun(history.rows, asked, countMax)),
    })),
  ),
)

function* forgeries(asked: ActivitiesPage): Generator<Forgery> {
  yield* otherRuns(null)
  for (const history of [truth, empty, single])
    yield* changedRuns(history)(JSON.stringify(honestRun(history.rows, asked)))
}

/** True runs and their neighbors. */
const otherRuns = once((_: null) => [...makeOtherRuns()])
/** By the text of a run, which several pages have in common. */
const changedRuns = once((history: History) =>
  once((run: string) => [...makeChangedRuns(history, JSON.parse(run))]),
)

function* makeOtherRuns(): Generator<Forgery> {
  for (const history of histories)
    for (let first = 0; first <= history.rows.length; first++)
      for (let end = first; end <= history.rows.length; end++)
        yield ['another run', documentOf(history, naiveRun(history.rows, first, end))]
  const run = honestRun(rows, page(3))
  yield ['an older history', documentOf(truth, honestRun(past.rows, page(100, null, 'desc')))]
  yield ['an older tree', documentOf(truth, run, stateOf(past))]
  yield ['no tree', documentOf(truth, run, [])]
  for (const size of [4, 6, 8]) {
    const value = JSON.stringify({ ...treeOfRows(rows), size })
    const leaves = truth.leaves.with(0, leafOf(['a'], value))
    yield ['a tree of another size', documentOf(truth, run, stateOf({ ...truth, leaves }))]
  }
  for (const [first, end] of [
    [3, 7],
    [4, 5],
  ] as const)
    yield ['a row at the place of another', documentOf(odd, naiveRun(odd.rows, first, end))]
}

function* makeChangedRuns(history: History, run: ActivityRun): Generator<Forgery> {
  const { first, rows: shown, hashes } = run
  const changed = (way: string, change: Partial<ActivityRun>): Forgery => [
    way,
    documentOf(history, { ...run, ...change }),
  ]
  for (const other of [first - 1, first + 1, history.rows.length, 2 ** 53])
    yield changed('another place', { first: other })
  for (const [index, row] of shown.entries()) {
    const put = (...items: ShownRow[]) => ({ rows: shown.toSpliced(index, 1, ...items) })
    const place = { event_id: row.event_id, record_time: row.record_time }
    const text = 'row' in row ? row.row : textOf(row)
    const row_hash = Buffer.from(sha256(Buffer.from(text))).toString('base64')
    yield changed('a row left out', put())
    yield changed('a row twice', put(row, row))
    yield changed('a row hidden', put({ ...place, row_hash }))
    yield changed('a neighbor as a row', put({ ...place, row: text }))
    yield changed('another row', put({ ...place, row: text.replace('true', 'false') }))
    yield changed('a row with its hash', put({ ...place, row: text, row_hash } as ShownRow))
    for (const time of [GONE, GONE - 1, GONE + 1, T])
      yield changed('another time', put({ ...row, record_time: time }))
    for (const { eventId } of rows)
      yield changed('another event', put({ ...row, event_id: eventId }))
    const swapped = shown.toSpliced(index, 2, ...shown.slice(index, index + 2).reverse())
    yield changed('rows in another order', { rows: swapped })
    const leaf = Buffer.from(sha256(Buffer.concat([Buffer.of(0), Buffer.from(text)])))
    yield changed('a hash for a row', { ...put(), hashes: [...hashes, leaf.toString('base64')] })
  }
  const made = rows.map(({ eventId }) => naiveRow(eventId, T, 'made up'))
  for (const { eventId: event_id, recordTime: record_time, row } of [...made, ...rows]) {
    const one = { event_id, record_time, row }
    yield changed('a row more', { rows: [...shown, one] })
    yield changed('a row more before', { rows: [one, ...shown] })
    yield changed('a row more at the end', {
      rows: [...shown.slice(0, -1), one, ...shown.slice(-1)],
    })
  }
  for (const index of hashes.keys()) {
    yield changed('a hash left out', { hashes: hashes.toSpliced(index, 1) })
    yield changed('another hash', { hashes: hashes.with(index, hashes[0] as string) })
  }
  yield changed('a hash more', {
    hashes: [...hashes, ...hashes.slice(-1), 'A'.repeat(43).concat('=')],
  })
  yield changed('no rows', { rows: [] })
}

function textOf({ event_id }: ShownRow): string {
  return rows.find(({ eventId }) => eventId === event_id)?.row ?? ''
}
