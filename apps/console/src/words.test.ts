import { describe, expect, it } from 'vitest'
import type { LiveEvent, Status } from './api.ts'
import { faultBands, niceMax } from './chart.ts'
import {
  breaksOf,
  headlineOf,
  milliseconds,
  orderingWords,
  shorten,
  stagesOf,
  toneOfOutcome,
} from './words.ts'

/** Four nodes in these states; what the page does not look at is left out. */
function statusOf(states: readonly string[], validator = 'up', liars = 0): Status {
  const node = (state: string, index: number) => ({
    name: `sv-${index + 1}`,
    state,
    faults: [],
    isCounted: state === 'up' && index >= liars,
  })
  return {
    cluster: { n: 4, f: 1, readThreshold: 2, confirmThreshold: 3 },
    nodes: states.map(node),
    validator: { state: validator },
    synchronizer: { state: 'up' },
    members: [],
    faults: [],
  } as unknown as Status
}

describe('the headline', () => {
  it.each([
    [['up', 'up', 'up', 'up'], 'good', 'Can lose 2 more'],
    [['up', 'up', 'up', 'down'], 'good', 'Can lose 1 more'],
    [['up', 'up', 'paused', 'down'], 'warn', 'Answering, cannot lose any more'],
    [['up', 'catching-up', 'down', 'down'], 'bad', 'Quorum lost: lookups refuse'],
  ])('of %j is %s: %s', (states, tone, title) => {
    expect(headlineOf(statusOf(states))).toMatchObject({ tone, title })
  })

  it('says what is needed and what is there', () => {
    const { detail } = headlineOf(statusOf(['up', 'up', 'up', 'down']))
    expect(detail).toBe('n = 4, f = 1, need 2: 3 up')
  })

  it('does not count on the votes of liars', () => {
    expect(headlineOf(statusOf(['up', 'up', 'up', 'down'], 'up', 2))).toEqual({
      tone: 'bad',
      title: 'Quorum lost: lookups refuse',
      detail: 'n = 4, f = 1, need 2: 3 up, 2 not to be counted on',
    })
  })

  it('does not promise lookups by quorum without a validator', () => {
    expect(headlineOf(statusOf(['up', 'up', 'up', 'up'], 'down')).tone).toBe('warn')
  })
})

it('registrations and the log stand still where too few members are there to order', () => {
  const member = (state: string) => ({ state })
  const status = { ...statusOf(['up', 'up', 'up', 'up']), synchronizer: { state: 'up' } }
  const toneOf = (states: readonly string[]) =>
    stagesOf({ ...status, members: states.map(member) } as unknown as Status).find(
      ({ label }) => label === 'Log',
    )?.tone
  expect(toneOf(['up', 'up', 'up', 'down'])).toBe('good')
  expect(toneOf(['up', 'up', 'down', 'down'])).toBe('bad')
})

it('says how a member orders, and what is unusual about it', () => {
  const ordering = { height: 12, round: 0, connected: ['sv-1', 'sv-3'], absent: [] }
  const member = (report: unknown) => ({ ordering: report }) as unknown as Status['members'][number]
  expect(orderingWords(member(ordering), false)).toBe('block 12, 2 engines connected')
  expect(orderingWords(member({ ...ordering, round: 1 }), true)).toBe(
    'block 12, round 1, 2 engines connected, misses votes',
  )
  expect(orderingWords(member(null), false)).toBe('says nothing')
})

it('breaks the engine of a member alone, and its links', () => {
  const idsOf = (isMember: boolean) =>
    breaksOf('sv-2', isMember).flatMap((group) => group.faults.map(({ id }) => id))
  expect(idsOf(true).filter((id) => !idsOf(false).includes(id))).toEqual(['engines', 'cometbft'])
})

it('what can be broken has an id of its own', () => {
  const faults = breaksOf('sv-2', true).flatMap((group) => group.faults)
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length)
  expect(faults.map(({ fault }) => fault.node)).toEqual(faults.map(() => 'sv-2'))
})

it('registrations stand still before lookups do', () => {
  const [registrations] = stagesOf(statusOf(['up', 'up', 'down', 'down']))
  expect(registrations).toMatchObject({
    tone: 'bad',
    text: 'stand still: 2 of 3 that must confirm',
  })
})

it.each([
  ['verified-absent', 'good'],
  ['trusted', 'good'],
  ['NOT_ENOUGH_NODES', 'warn'],
  ['CONSENSUS_DISPUTED', 'bad'],
  ['unreachable', 'bad'],
])('the outcome %s is %s', (outcome, tone) => {
  expect(toneOfOutcome(outcome)).toBe(tone)
})

it('a fault is shaded from its beginning to its end, or until now', () => {
  const event = (second: number, kind: LiveEvent['kind'], sentence: string): LiveEvent => ({
    at: `2026-01-01T00:00:0${second}.000000Z`,
    kind,
    node: 'sv-2',
    sentence,
  })
  const bands = faultBands(
    [event(1, 'fault', 'sv-2 killed'), event(4, 'healed', 'sv-2 no longer killed')],
    [
      {
        id: 'fault-2',
        spec: { kind: 'lie', node: 'sv-3', lie: 'deny' },
        words: 'lies: deny',
        startedAt: '2026-01-01T00:00:05.000000Z',
        endsAt: null,
      },
    ],
  )
  expect(
    bands.map(({ label, fromMs, toMs }) => [label, toMs === null ? null : toMs - fromMs]),
  ).toEqual([
    ['sv-2 killed', 3000],
    ['sv-3 lies: deny', null],
  ])
})

it.each([
  [0, 1],
  [7, 10],
  [12, 20],
  [201, 500],
])('the scale for %d ends at %d', (value, want) => {
  expect(niceMax(value)).toBe(want)
})

it('numbers and identifiers are as short as they can be', () => {
  expect([milliseconds(null), milliseconds(3.06), milliseconds(42.4)]).toEqual([
    '–',
    '3.1 ms',
    '42 ms',
  ])
  expect(shorten('alice::1220abcdef', 10)).toBe('alice:…def')
})
