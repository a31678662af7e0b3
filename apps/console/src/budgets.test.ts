import { describe, expect, it } from 'vitest'
import type { Status } from './api.ts'
import { headlinesOf, liarsOf, unknownOf } from './budgets.ts'

type Given = {
  readonly members?: readonly string[]
  readonly liars?: number
}

/** Four nodes in these states; what the headline does not look at is left out. */
function statusOf(states: readonly string[], given: Given = {}): Status {
  const { liars = 0 } = given
  return {
    cluster: { n: 4, f: 1, readThreshold: 2, confirmThreshold: 3, blockThreshold: 3 },
    nodes: states.map((state, index) => ({
      name: `sv-${index + 1}`,
      state,
      faults: index < liars ? [{ spec: { kind: 'lie' } }] : [],
      isCounted: state === 'up' && index >= liars,
    })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: (given.members ?? []).map((state) => ({ state })),
    faults: [],
  } as unknown as Status
}
const up = ['up', 'up', 'up', 'up']

describe('the headline', () => {
  it('says of lookups, registrations and ordering what `status` says', () => {
    expect(headlinesOf(statusOf(['up', 'up', 'paused', 'down']))).toEqual([
      {
        ...{ label: 'Lookups', tone: 'warn', title: 'No more can be lost' },
        ...{ detail: '2 of 4 nodes up, 2 must agree', meter: { have: 2, need: 2, of: 4 } },
      },
      {
        ...{ label: 'Registrations', tone: 'bad', title: 'Quorum lost' },
        ...{ detail: '2 of 4 nodes up, 3 must confirm', meter: { have: 2, need: 3, of: 4 } },
      },
      {
        ...{ label: 'Ordering', tone: 'good', title: 'The log goes on' },
        ...{ detail: 'one synchronizer orders', meter: null },
      },
    ])
  })

  it('is neither good nor bad while nobody tells how things are', () => {
    const unknown = unknownOf(statusOf(up, { members: up }))
    expect(headlinesOf(unknown).map(({ tone, title }) => [tone, title])).toEqual([
      ['idle', 'Unknown'],
      ['idle', 'Unknown'],
      ['idle', 'Unknown'],
    ])
    expect(liarsOf(unknown).text).toBe('Who lies is unknown.')
  })
})

it.each([
  [0, 'good', 'Nobody is known to lie.'],
  [1, 'warn', 'Lying: sv-1; tolerated: 1.'],
  [2, 'bad', 'Lying: sv-1, sv-2; tolerated: 1.'],
])('%d liars are %s', (liars, tone, text) => {
  expect(liarsOf(statusOf(up, { liars }))).toEqual({ tone, text })
})
