import { marginsOf } from 'quorumscan/view'
import { describe, expect, it } from 'vitest'
import type { Status } from './api.ts'
import { headlinesOf, liarsOf, unknownOf } from './headlines.ts'

type Given = {
  readonly members?: readonly string[]
  readonly liars?: number
}

/** Four nodes in these states; members that the headline does not use are left out. */
function statusOf(states: readonly string[], given: Given = {}): Status {
  const { liars = 0 } = given
  return {
    cluster: { n: 4, f: 1, readThreshold: 2, confirmThreshold: 3, blockThreshold: 3 },
    nodes: states.map((state, index) => ({
      name: `sv-${index + 1}`,
      state,
      faults: index < liars ? [{ spec: { kind: 'lie' } }] : [],
      isHealthy: state === 'up',
      isCounted: state === 'up' && index >= liars,
    })),
    validator: { state: 'up' },
    synchronizer: { state: 'up' },
    members: (given.members ?? []).map((state) => ({ state })),
    faults: [],
    atNodes: null,
  } as unknown as Status
}
const up = ['up', 'up', 'up', 'up']

describe('the headline', () => {
  it('shows for lookups, registrations and ordering what `status` shows', () => {
    const status = statusOf(['up', 'up', 'paused', 'down'])
    const headlines = headlinesOf(status)
    expect(headlines.map(({ label, tone }) => [label, tone])).toEqual([
      ['Lookups', 'warn'],
      ['Registrations', 'bad'],
      ['Ordering', 'good'],
    ])
    const margins = Object.values(marginsOf(status))
    for (const [index, { verdict, detail, meter }] of margins.entries())
      expect(headlines[index]).toMatchObject({
        verdict: verdict.replace(/^./, (letter) => letter.toUpperCase()),
        detail,
        meter,
      })
  })

  it('is neither good nor bad while the control plane does not answer', () => {
    const unknown = unknownOf(statusOf(up, { members: up }))
    expect(headlinesOf(unknown).map(({ tone, verdict }) => [tone, verdict])).toEqual([
      ['idle', 'Unknown'],
      ['idle', 'Unknown'],
      ['idle', 'Unknown'],
    ])
    expect(liarsOf(unknown).text).toBe('Lying nodes: unknown.')
  })
})

it.each([
  [0, 'good', 'No node is set to lie.'],
  [1, 'warn', 'Lying: sv-1. Tolerated: 1.'],
  [2, 'bad', 'Lying: sv-1, sv-2. Tolerated: 1.'],
])('%d liars are %s', (liars, tone, text) => {
  expect(liarsOf(statusOf(up, { liars }))).toEqual({ tone, text })
})
