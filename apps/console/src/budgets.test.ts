import { describe, expect, it } from 'vitest'
import type { Status } from './api.ts'
import { budgetsOf, liarsOf, unknownOf } from './budgets.ts'

type Given = {
  readonly validator?: string
  readonly synchronizer?: string
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
    validator: { state: given.validator ?? 'up' },
    synchronizer: { state: given.synchronizer ?? 'up' },
    members: (given.members ?? []).map((state) => ({ state })),
    faults: [],
  } as unknown as Status
}
const up = ['up', 'up', 'up', 'up']
const titlesOf = (status: Status) => budgetsOf(status).map(({ title }) => title)

describe('the headline', () => {
  it.each([
    [up, 'Can lose 2 more', 'Can lose 1 more'],
    [['up', 'up', 'up', 'down'], 'Can lose 1 more', 'Cannot lose any more'],
    [['up', 'up', 'paused', 'down'], 'Cannot lose any more', 'Registrations stand still'],
    [
      ['up', 'catching-up', 'down', 'down'],
      'Quorum lost: lookups refuse',
      'Registrations stand still',
    ],
  ])('of %j is, of lookups and registrations: %s; %s', (states, lookups, registrations) => {
    expect(titlesOf(statusOf(states))).toEqual([lookups, registrations, 'The log goes on'])
  })

  it('has a budget of its own for members that order together', () => {
    const ordering = (members: readonly string[]) => titlesOf(statusOf(up, { members }))
    expect(ordering(up)[2]).toBe('Can lose 1 more')
    expect(ordering(['up', 'up', 'up', 'down'])[2]).toBe('Cannot lose any more')
    expect(ordering(['up', 'up', 'down', 'down'])).toEqual([
      'Soon too old: the log stands still',
      'None: the log stands still',
      'The log stands still',
    ])
  })

  it('says what is needed and what is there, liars not counted', () => {
    const [lookups] = budgetsOf(statusOf(['up', 'up', 'up', 'down'], { liars: 2 }))
    expect(lookups).toMatchObject({
      tone: 'bad',
      title: 'Quorum lost: lookups refuse',
      detail: '3 of 4 up, 2 not to be counted on, 2 must agree',
    })
  })

  it('promises nothing by quorum, and nothing new, without a validator', () => {
    const tones = budgetsOf(statusOf(up, { validator: 'down' })).map(({ tone }) => tone)
    expect(tones).toEqual(['warn', 'bad', 'good'])
  })

  it('is neither good nor bad while nobody tells how things are', () => {
    const unknown = unknownOf(statusOf(up, { members: up }))
    expect(budgetsOf(unknown).map(({ tone, title }) => [tone, title])).toEqual([
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
