import { expect, it } from 'vitest'
import type { Status } from './api.ts'
import { breaksOf, bytes, milliseconds, orderingWords, shorten, toneOfOutcome } from './words.ts'

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

it.each([
  ['verified-absent', 'good'],
  ['trusted', 'good'],
  ['NOT_ENOUGH_NODES', 'warn'],
  ['CONSENSUS_DISPUTED', 'bad'],
  ['unreachable', 'bad'],
])('the outcome %s is %s', (outcome, tone) => {
  expect(toneOfOutcome(outcome)).toBe(tone)
})

it('numbers and identifiers are as short as they can be', () => {
  expect([milliseconds(null), milliseconds(3.06), milliseconds(42.4)]).toEqual([
    '–',
    '3.1 ms',
    '42 ms',
  ])
  expect(shorten('alice::1220abcdef', 10)).toBe('alice:…def')
})

it.each([
  [null, 'unknown'],
  [512, '512 B'],
  [1536, '1.5 KiB'],
  [53_687_091_200, '50 GiB'],
])('%s bytes are %s', (count, words) => {
  expect(bytes(count)).toBe(words)
})
