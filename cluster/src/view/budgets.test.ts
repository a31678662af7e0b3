import { expect, it } from 'vitest'
import { budgetsOf, type Judged } from './budgets.ts'

/** Four nodes in these states, of a cluster whose other parts are up unless they are given. */
function statusOf(states: readonly string[], given: Partial<Judged> = {}): Judged {
  return {
    cluster: { n: 4, readThreshold: 2, confirmThreshold: 3, blockThreshold: 3 },
    nodes: states.map((state) => ({ state })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: [],
    ...given,
  }
}
const up = ['up', 'up', 'up', 'up']
const membersOf = (states: readonly string[]) => states.map((state) => ({ state }))
const answered = { kind: 'verified' }
const refused = { kind: 'insufficient' }
const down = { state: 'down' }
const catchingUp = { state: 'catching-up' }

type Row = readonly [status: Judged, lookups: string, registrations: string, ordering: string]
const STANDS = 'bad: the log stands still'
const GOES_ON = 'good: the log goes on'

it.each<Row>([
  [statusOf(up), 'good: 2 more can be lost', 'good: 1 more can be lost', GOES_ON],
  [
    statusOf(['up', 'up', 'up', 'down']),
    ...(['good: 1 more can be lost', 'warn: no more can be lost', GOES_ON] as const),
  ],
  [
    statusOf(['up', 'up', 'silent', 'down']),
    ...(['warn: no more can be lost', 'bad: quorum lost', GOES_ON] as const),
  ],
  [
    statusOf(['up', 'catching-up', 'down', 'down']),
    ...(['bad: quorum lost', 'bad: quorum lost', GOES_ON] as const),
  ],
  // What the reader got counts for more than what is up.
  [
    statusOf(['up', 'down', 'down', 'down'], { atNodes: answered }),
    ...(['bad: quorum lost, answered by proofs alone', 'bad: quorum lost', GOES_ON] as const),
  ],
  [
    statusOf(up, { atNodes: refused }),
    ...(['bad: not answered all the same', 'good: 1 more can be lost', GOES_ON] as const),
  ],
  // A log that stands still, and a reader that still has its last answers, or none.
  [
    statusOf(up, { synchronizer: down, atNodes: answered }),
    ...([
      'warn: soon too old: the log stands still',
      'bad: none: the log stands still',
      STANDS,
    ] as const),
  ],
  [
    statusOf(up, { synchronizer: down, atNodes: refused }),
    ...([STANDS, 'bad: none: the log stands still', STANDS] as const),
  ],
  [
    statusOf(up, { validator: down, atNodes: answered }),
    ...([
      'warn: by the nodes alone: the validator is not up',
      'bad: none: the validator is not up',
      GOES_ON,
    ] as const),
  ],
  [
    statusOf(up, { validator: catchingUp }),
    ...(['good: 2 more can be lost', 'bad: none: the validator is not ready', GOES_ON] as const),
  ],
  // Where all order together.
  [
    statusOf(up, { members: membersOf(['up', 'up', 'up', 'down']) }),
    ...([
      'good: 2 more can be lost',
      'good: 1 more can be lost',
      'warn: no more can be lost',
    ] as const),
  ],
  [
    statusOf(up, { members: membersOf(['up', 'up', 'down', 'down']), atNodes: answered }),
    ...([
      'warn: soon too old: the log stands still',
      'bad: none: the log stands still',
      'bad: quorum lost',
    ] as const),
  ],
  [
    statusOf(up, { members: membersOf(up), synchronizer: down }),
    ...([
      'good: 2 more can be lost',
      'bad: none: the synchronizer beside the validator is not up',
      'good: 1 more can be lost',
    ] as const),
  ],
])('%j: lookups %s; registrations %s; ordering %s', (status, ...said) => {
  const { lookups, registrations, ordering } = budgetsOf(status)
  expect(
    [lookups, registrations, ordering].map(({ tone, verdict }) => `${tone}: ${verdict}`),
  ).toEqual(said)
})

it('says what is needed and what is there, liars not counted', () => {
  const nodes = ['up', 'up', 'up', 'down'].map((state, index) => ({
    state,
    isCounted: index > 1 && state === 'up',
  }))
  expect(budgetsOf(statusOf([], { nodes })).lookups).toEqual({
    ...{ works: false, tone: 'bad', verdict: 'quorum lost' },
    detail: '3 of 4 nodes up, 2 not to be counted on, 2 must agree',
    meter: { have: 1, need: 2, of: 4 },
  })
})
