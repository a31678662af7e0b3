/** Vectors of pages of activities: valid documents, and documents that a verifier must refuse. */
import { type CanonicalRequest, requestOfActivities } from '@quorumscan/verifier'
import type { Refused, Rule } from '../support/vector.ts'
import { historyOf, type Run, runOf } from './history.ts'
import {
  activitiesDocument,
  byName,
  documentOf,
  HISTORY,
  leafOf,
  type State,
  state,
  stateOf,
  T,
} from './state.ts'

const query = (size: number, after: string | null, order: 'asc' | 'desc' = 'asc') =>
  requestOfActivities({ page_size: size, begin_after_id: after, sort_order: order })

const IDS = HISTORY.rows.map(({ eventId }) => eventId)
const run = (first: number, end: number) => runOf(HISTORY, first, end)
export const FIRST_PAGE = query(2, null)
export const FIRST_RUN = run(3, 5)

/** Valid documents of a history of seven rows, of which the first three have expired. */
export function* provenRuns(): Generator<
  readonly [name: string, request: CanonicalRequest, run: Run]
> {
  const [oldest, gone, first, second, , last] = [0, 1, 3, 4, 5, 6].map(
    (index) => IDS[index] as string,
  )
  yield ['all activities', query(100, null), run(3, 7)]
  yield ['the first page of activities', FIRST_PAGE, FIRST_RUN]
  yield ['the next page of activities', query(2, second as string), run(5, 7)]
  yield ['a page of activities that is shorter than it may be', query(100, null), run(3, 4)]
  yield ['no activities after the last', query(2, last as string), run(7, 7)]
  yield ['activities after one that has gone', query(1, gone as string), run(3, 4)]
  yield ['the newest activities', query(2, null, 'desc'), run(5, 7)]
  yield ['activities before one', query(9, second as string, 'desc'), run(3, 4)]
  yield ['no activities before the first', query(9, first as string, 'desc'), run(3, 3)]
  yield ['no activities before one that has gone', query(9, gone as string, 'desc'), run(3, 3)]
  yield ['no activities before the oldest', query(9, oldest as string, 'desc'), run(3, 3)]
  yield [
    'activities after an event id that no row has',
    query(1, '0000000000000000:0000'),
    run(3, 4),
  ]
}

/** A state with only this history. */
export const stateOfTree = (tree: string): State =>
  stateOf([leafOf(['a'], tree), leafOf(['m'], '{}')])

export function* refusedActivities(): Generator<Refused> {
  yield* refusedPages()
  yield* refusedRuns()
  yield* refusedRows()
  yield* refusedForms()
  yield* refusedSurrogate()
  yield* refusedTrees()
}

const refused = (
  rule: Rule,
  name: string,
  shown: object,
  request: CanonicalRequest = FIRST_PAGE,
  ofState: State = state,
): Refused => ({ rule, name, request, document: activitiesDocument(shown, { ofState }) })

/** Valid runs that are another page than the requested one. */
function* refusedPages(): Generator<Refused> {
  const [oldest, first, second, third] = [0, 3, 4, 5].map((index) => IDS[index] as string)
  yield refused('page.begin', 'a page of activities that begins later', run(4, 6))
  yield refused(
    'page.visible',
    'a page of activities that begins with one that has gone',
    run(2, 4),
  )
  yield refused('page.size', 'more activities than the page size', run(3, 6))
  yield refused('page.empty', 'no activities where there are some', run(3, 3))
  yield refused('page.begin', 'no activities at the end, without a begin_after_id', run(7, 7))
  yield refused('page.asked', 'activities again', run(3, 5), query(2, first as string))
  yield refused(
    'page.begin',
    'activities that begin after others',
    run(5, 7),
    query(2, first as string),
  )
  const before = (id: string | null) => query(2, id, 'desc')
  yield refused('page.begin', 'older activities than the newest', run(3, 5), before(null))
  yield refused(
    'page.begin',
    'older activities than those before one',
    run(3, 4),
    before(third as string),
  )
  yield refused(
    'page.visible',
    'activities that have gone, backwards',
    run(2, 4),
    before(second as string),
  )
  yield refused(
    'page.asked',
    'the activity that a page backwards comes before',
    run(4, 6),
    before(third as string),
  )
  yield refused(
    'page.size',
    'more activities backwards than the page size',
    run(3, 6),
    before(null),
  )
  yield refused(
    'page.empty',
    'no activities before one that is not the first',
    run(5, 5),
    before(third as string),
  )
  yield refused(
    'page.empty',
    'no activities, at a place among those that have gone',
    run(0, 0),
    before(oldest as string),
  )
  const odd = (row: string) => historyOf([T], { row })
  for (const [rule, name, row] of [
    ['page.row', 'an activity with the event id of another', JSON.stringify({ event_id: first })],
    ['page.row', 'an activity without an event id', '{}'],
    ['page.row', 'an activity that is null', 'null'],
    ['page.row', 'an activity that is a list', '[]'],
    ['value.json', 'an activity that is no JSON', '{event_id}'],
    ['value.json', 'an activity that is not a number', 'NaN'],
  ] as const) {
    const history = odd(row)
    yield refused(rule, name, runOf(history, 0, 1), FIRST_PAGE, stateOfTree(history.tree))
  }
  yield {
    ...refused(
      'walk.offset',
      'a page of activities at an earlier offset than the page before it',
      FIRST_RUN,
    ),
    offset_min: 43,
  }
}

/** Parts of the tree that are not valid runs. */
function* refusedRuns(): Generator<Refused> {
  // The hash of the whole tree, or of all rows but one, is valid for any place.
  for (const place of [0, 3, 7])
    yield refused(
      'run.rows',
      `no activities at place ${place}, without a row`,
      runOf(HISTORY, place, place, [place, place]),
    )
  yield refused('run.rows', 'no activities, without the row before', runOf(HISTORY, 3, 3, [3, 4]))
  yield refused('run.rows', 'no activities, without the row after', runOf(HISTORY, 3, 3, [2, 3]))
  const { rows, hashes } = FIRST_RUN
  const [before, first, second, after] = rows as [object, object, object, object]
  const changed = (rule: Rule, name: string, change: object) =>
    refused(rule, name, { ...FIRST_RUN, ...change })
  const [, gone] = run(2, 2).rows
  yield changed('run.rows', 'a run of activities with a hole', {
    rows: [before, gone, second, after],
  })
  yield changed('run.rows', 'the hash of an activity of the page', {
    rows: [before, first, { ...run(4, 4).rows[1] }, after],
  })
  yield changed('run.rows', 'the JSON of the row before the page, and the hash of its first', {
    rows: [run(2, 5).rows[1], run(4, 4).rows[0], second, after],
  })
  yield changed('run.rows', 'a run of activities without the row before it', {
    rows: rows.slice(1),
  })
  yield changed('run.rows', 'a run of activities without the row after it', {
    rows: rows.slice(0, -1),
  })
  yield changed('run.rows', 'a row next to the page with its JSON', {
    rows: [run(2, 5).rows[1], first, second, after],
  })
  yield changed('run.rows', 'the rows of a run in another order', {
    rows: [first, before, second, after],
  })
  yield refused(
    'run.rows',
    'rows after the end of the tree',
    {
      ...run(3, 7),
      rows: [
        ...run(3, 7).rows,
        { event_id: `${'9'.repeat(16)}:0000`, record_time: 2 ** 52, row: '{}' },
      ],
    },
    query(100, null),
  )
  yield refused(
    'run.rows',
    'no activities at a place after the end of the tree',
    { ...runOf(HISTORY, 8, 8, [7, 7]), rows: run(7, 7).rows },
    query(2, IDS[6] as string),
  )
  yield changed('run.root', 'activities in another order', { rows: [before, second, first, after] })
  yield changed('run.root', 'activities at another place', { first: 4 })
  yield changed('run.root', 'another time of the row before the page', {
    rows: [{ ...before, record_time: 1 }, first, second, after],
  })
  yield changed('run.root', 'another event of a row', {
    rows: [before, { ...first, event_id: IDS[6] }, second, after],
  })
  yield changed('run.root', 'another row', {
    rows: [
      before,
      { ...first, row: rows[2] && 'row' in rows[2] ? rows[2].row : '' },
      second,
      after,
    ],
  })
  yield changed('run.root', 'a hash too few', { hashes: hashes.slice(1) })
  yield changed('run.root', 'a hash too many', { hashes: [...hashes, ...hashes.slice(-1)] })
  const older = { ...HISTORY, rows: HISTORY.rows.slice(0, 6) }
  yield refused('run.root', 'the run of an older tree', runOf(older, 3, 5))
  const none = historyOf([])
  yield refused(
    'run.root',
    'a hash where there is no activity',
    { ...runOf(none, 0, 0), hashes: [`${'A'.repeat(43)}=`] },
    FIRST_PAGE,
    stateOfTree(none.tree),
  )
}

function* refusedRows(): Generator<Refused> {
  const [before, first, second, after] = FIRST_RUN.rows as [object, object, object, object]
  const withBefore = (name: string, change: object, rule: Rule = 'run.row') =>
    refused(rule, name, { ...FIRST_RUN, rows: [{ ...before, ...change }, first, second, after] })
  const withFirst = (name: string, change: object, rule: Rule = 'run.row') =>
    refused(rule, name, { ...FIRST_RUN, rows: [before, { ...first, ...change }, second, after] })
  for (const [what, time] of [
    ['that is a text', '1'],
    ['below zero', -1],
    ['of 2^53', 2 ** 53],
    ['that is a boolean', true],
    ['with a fraction', 0.5],
  ] as const)
    yield withFirst(`a row with a record time ${what}`, { record_time: time })
  yield withFirst('a row with an event id that is a number', { event_id: 1 })
  yield withBefore('a row with an event id in a list', { event_id: [IDS[2]] })
  yield withFirst('a row that is no text', { row: 1 })
  yield withBefore('a row hash that is no text', { row_hash: 1 }, 'run.row')
  yield withBefore(
    'a row hash of 31 bytes',
    { row_hash: Buffer.alloc(31).toString('base64') },
    'proof.hash',
  )
  yield withBefore('a row hash without padding', { row_hash: 'A'.repeat(43) }, 'proof.hash')
  // The members are in the order of RFC 8785, so that only the additional member is invalid.
  yield withFirst('a row with a member more', { row_more: 1 })
  yield withFirst('a row with its hash', { row_hash: `${'A'.repeat(43)}=` })
  const place = { event_id: IDS[2], record_time: 1 }
  yield refused('run.row', 'a row with neither JSON nor hash', {
    ...FIRST_RUN,
    rows: [place, first, second, after],
  })
  for (const [what, item] of [
    ['null', null],
    ['a text', 'row'],
    ['a list', []],
  ] as const)
    yield refused('run.row', `a row that is ${what}`, {
      ...FIRST_RUN,
      rows: [item, first, second, after],
    })
  for (const eventId of [
    '000000000000001:00000',
    `${'0'.repeat(16)}:000`,
    `${'0'.repeat(16)}-0000`,
    `${'0'.repeat(16)}:000a`,
    ` ${'0'.repeat(15)}:0000`,
    `${'0'.repeat(16)}:0000\n`,
  ]) {
    const row = JSON.stringify({ event_id: eventId })
    const history = historyOf([T], { eventId, row })
    const name = `a row with the event id ${JSON.stringify(eventId)}`
    yield refused('run.row', name, runOf(history, 0, 1), FIRST_PAGE, stateOfTree(history.tree))
  }
}

function* refusedForms(): Generator<Refused> {
  for (const [what, change] of [
    ['a place below zero', { first: -1 }],
    ['a place that is a text', { first: '3' }],
    ['a place that is a boolean', { first: true }],
    ['a place with a fraction', { first: 3.5 }],
    ['hashes that are no list', { hashes: {} }],
    ['rows that are no list', { rows: {} }],
  ] as const)
    yield refused('run.form', `a run with ${what}`, { ...FIRST_RUN, ...change })
  for (const [what, hash] of [
    ['is no text', 1],
    ['has 31 bytes', Buffer.alloc(31).toString('base64')],
    ['has no padding', 'A'.repeat(43)],
  ] as const)
    yield refused('proof.hash', `a run with a hash that ${what}`, {
      ...FIRST_RUN,
      hashes: [hash, ...FIRST_RUN.hashes.slice(1)],
    })
  const honest = activitiesDocument(FIRST_RUN)
  const proof = (list: string) => honest.replace(/"state":.*$/, `"state":${list}}}`)
  const document = (
    rule: Rule,
    name: string,
    text: string,
    request: CanonicalRequest = FIRST_PAGE,
  ) => ({
    rule,
    name,
    request,
    document: text,
  })
  const { first, ...withoutFirst } = FIRST_RUN
  yield refused('run.form', 'a run without its place', withoutFirst)
  yield document(
    'run.form',
    'a run with a member more',
    honest.replace('"rows":', '"more":1,"rows":'),
  )
  yield document(
    'run.form',
    'a run that is null',
    honest.replace(/"run":{.*},"state"/, '"run":null,"state"'),
  )
  yield document(
    'run.form',
    'a proof of activities with a member more',
    honest.replace('"state":', '"sort":1,"state":'),
  )
  yield document(
    'run.form',
    'a proof of activities without a state',
    honest.replace(/,"state":.*$/, '}}'),
  )
  yield document(
    'spelling',
    'members of a run in another order',
    honest.replace(/"run":{("first":\d),("hashes":\[.*?\])/, '"run":{$2,$1'),
  )
  yield document(
    'spelling',
    'members of a row in another order',
    honest.replace(/("event_id":"[^"]+"),("record_time":\d+)/, '$2,$1'),
  )
  yield document('spelling', 'a place with an exponent', honest.replace('"first":3', '"first":3e0'))
  yield document(
    'spelling',
    'the row of a run in another spelling',
    honest.replace('grün', 'gr\\u00fcn'),
  )
  yield document(
    'proof.list',
    'a proof of activities for a name',
    honest,
    byName('alice.unverified.ns'),
  )
  yield document(
    'run.form',
    'a proof of a name for activities',
    documentOf(state, state.prove(byName('alice.unverified.ns'))),
  )
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  yield document('json', 'a proof of activities that is nested 20 000 levels deep', proof(deep))
  yield document('proof.short', 'activities without a proof of their tree', proof('[]'))
  yield document('proof.list', 'activities with a proof of their tree that is no list', proof('{}'))
}

/** Bytes that a lenient decoder reads as U+FFFD, in a row that contains that character. */
function* refusedSurrogate(): Generator<Refused> {
  const [eventId] = IDS
  const history = historyOf([T], {
    row: JSON.stringify({ event_id: eventId, description: '\ufffd' }),
  })
  const ofState = stateOfTree(history.tree)
  const document = activitiesDocument(runOf(history, 0, 1), { ofState })
  yield {
    rule: 'spelling',
    name: 'a row with half of a surrogate pair',
    request: FIRST_PAGE,
    document: document.replace('\ufffd', '\\ud83d'),
  }
}

/** States with another value than size and root of the activity tree. */
function* refusedTrees(): Generator<Refused> {
  const other = stateOf([leafOf(['a'], historyOf([T]).tree)])
  yield {
    rule: 'proof.root',
    name: 'activities of another state',
    request: FIRST_PAGE,
    document: activitiesDocument(FIRST_RUN, { ofState: { ...other, point: state.point } }),
  }
  const of = (rule: Rule, name: string, ofState: State) =>
    refused(rule, name, FIRST_RUN, FIRST_PAGE, ofState)
  yield of('activities.tree', 'activities of the empty state', stateOf([]))
  yield of('activities.tree', 'activities of a state without any', stateOf([leafOf(['m'], '{}')]))
  yield of(
    'activities.tree',
    'activities of a tree that has expired',
    stateOf([leafOf(['a'], HISTORY.tree, T)]),
  )
  const { root, size } = JSON.parse(HISTORY.tree) as { root: string; size: number }
  for (const [what, tree] of [
    ['is null', null],
    ['is a list', []],
    ['has a size that is a text', { root, size: `${size}` }],
    ['has a size that is a boolean', { root, size: true }],
    ['has a size below zero', { root, size: -1 }],
    ['has a root in capitals', { root: root.toUpperCase(), size }],
    ['has a root that is too short', { root: root.slice(2), size }],
    ['has no root', { size }],
  ] as const)
    yield of(
      'activities.tree',
      `a tree of activities that ${what}`,
      stateOfTree(JSON.stringify(tree)),
    )
  yield of('value.json', 'a tree of activities that is no JSON', stateOfTree('{size:7}'))
}

/** Documents of a history without activities, and of one with only expired activities. */
export function withoutActivities() {
  const none = historyOf([])
  const gone = historyOf([1, 2, 3])
  return {
    none: { run: runOf(none, 0, 0), ofState: stateOfTree(none.tree), request: FIRST_PAGE },
    gone: { run: runOf(gone, 3, 3), ofState: stateOfTree(gone.tree), request: FIRST_PAGE },
    goneBackwards: {
      run: runOf(gone, 3, 3),
      ofState: stateOfTree(gone.tree),
      request: query(2, null, 'desc'),
    },
  }
}
