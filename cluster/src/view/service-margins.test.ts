import { expect, it } from 'vitest'
import { type MarginInput, marginsOf } from './service-margins.ts'

/** Four nodes in these states. The other parts of the cluster are up by default. */
function statusOf(states: readonly string[], given: Partial<MarginInput> = {}): MarginInput {
  return {
    cluster: { n: 4, readThreshold: 2, confirmThreshold: 3, blockThreshold: 3 },
    nodes: states.map((state) => ({
      state,
      isHealthy: state === 'up',
      isCounted: state === 'up',
    })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: [],
    atNodes: null,
    ...given,
  }
}
const up = ['up', 'up', 'up', 'up']
const membersOf = (states: readonly string[]) => states.map((state) => ({ state }))
const answered = { kind: 'verified' }
const refused = { kind: 'insufficient' }
const down = { state: 'down' }
const catchingUp = { state: 'catching-up' }

type Row = readonly [status: MarginInput, lookups: string, registrations: string, ordering: string]
const STALLED = 'bad: stalled'
const HEALTHY = 'good: healthy'

it.each<Row>([
  [statusOf(up), 'good: failures tolerated: 2', 'good: failures tolerated: 1', HEALTHY],
  [
    statusOf(['up', 'up', 'up', 'down']),
    ...(['good: failures tolerated: 1', 'warn: no further failure tolerated', HEALTHY] as const),
  ],
  [
    statusOf(['up', 'up', 'silent', 'down']),
    ...(['warn: no further failure tolerated', 'bad: quorum lost', HEALTHY] as const),
  ],
  [
    statusOf(['up', 'catching-up', 'down', 'down']),
    ...(['bad: too few nodes', 'bad: quorum lost', HEALTHY] as const),
  ],
  // What the reader got counts for more than the number of nodes that are up.
  [
    statusOf(['up', 'down', 'down', 'down'], { atNodes: answered }),
    ...(['bad: too few nodes, answered only by proofs', 'bad: quorum lost', HEALTHY] as const),
  ],
  [
    statusOf(up, { atNodes: refused }),
    ...(['bad: not answered', 'good: failures tolerated: 1', HEALTHY] as const),
  ],
  // Ordering is stalled, and a reader still has its latest answers, or none.
  [
    statusOf(up, { synchronizer: down, atNodes: answered }),
    ...([
      'warn: soon outdated: ordering is stalled',
      'bad: stopped: ordering is stalled',
      STALLED,
    ] as const),
  ],
  [
    statusOf(up, { synchronizer: down, atNodes: refused }),
    ...(['bad: ordering is stalled', 'bad: stopped: ordering is stalled', STALLED] as const),
  ],
  [
    statusOf(up, { validator: down, atNodes: answered }),
    ...([
      'warn: only at the nodes: the validator is not up',
      'bad: stopped: the validator is not up',
      HEALTHY,
    ] as const),
  ],
  [
    statusOf(up, { validator: catchingUp }),
    ...([
      'good: failures tolerated: 2',
      'bad: stopped: the validator is not ready',
      HEALTHY,
    ] as const),
  ],
  // With members.
  [
    statusOf(up, { members: membersOf(['up', 'up', 'up', 'down']) }),
    ...([
      'good: failures tolerated: 2',
      'good: failures tolerated: 1',
      'warn: no further failure tolerated',
    ] as const),
  ],
  [
    statusOf(up, { members: membersOf(['up', 'up', 'down', 'down']), atNodes: answered }),
    ...([
      'warn: soon outdated: ordering is stalled',
      'bad: stopped: ordering is stalled',
      'bad: quorum lost',
    ] as const),
  ],
  [
    statusOf(up, { members: membersOf(up), synchronizer: down }),
    ...([
      'good: failures tolerated: 2',
      "bad: stopped: the validator's synchronizer is not up",
      'good: failures tolerated: 1',
    ] as const),
  ],
])('%j: lookups %s; registrations %s; ordering %s', (status, ...said) => {
  const { lookups, registrations, ordering } = marginsOf(status)
  expect(
    [lookups, registrations, ordering].map(({ tone, verdict }) => `${tone}: ${verdict}`),
  ).toEqual(said)
})

it('shows how many nodes are needed and up, without liars', () => {
  const nodes = ['up', 'up', 'up', 'down'].map((state, index) => ({
    state,
    isHealthy: state === 'up',
    isCounted: index > 1 && state === 'up',
  }))
  expect(marginsOf(statusOf([], { nodes })).lookups).toEqual({
    works: false,
    tone: 'bad',
    verdict: 'too few nodes',
    detail: '3 of 4 nodes up, 2 faulty, 2 must agree',
    meter: { have: 1, need: 2, of: 4 },
  })
})

it('counts a node that is up and not healthy for nothing', () => {
  const nodes = ['up', 'up', 'up', 'up'].map((state, index) => ({
    state,
    isHealthy: index < 3,
    isCounted: index < 3,
  }))
  const { lookups, registrations } = marginsOf(statusOf([], { nodes }))
  expect([lookups, registrations].map(({ verdict, detail }) => `${verdict} (${detail})`)).toEqual([
    'failures tolerated: 1 (4 of 4 nodes up, 1 faulty, 2 must agree)',
    'no further failure tolerated (4 of 4 nodes up, 1 faulty, 3 must confirm)',
  ])
})
