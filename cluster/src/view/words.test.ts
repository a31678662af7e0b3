import { expect, it } from 'vitest'
import {
  bytes,
  duration,
  engineSummary,
  milliseconds,
  seconds,
  shorten,
  toneOfOutcome,
} from './words.ts'

it('summarizes the engine state and anomalies', () => {
  const ordering = { height: 12, round: 0, connected: ['sv-1', 'sv-3'], absent: [] }
  expect(engineSummary({ ordering }, false)).toBe('block 12, 2 engines connected')
  expect(engineSummary({ ordering: { ...ordering, round: 1 } }, true)).toBe(
    'block 12, round 1, 2 engines connected, block vote missing',
  )
  expect(engineSummary({ ordering: null }, false)).toBe('no report')
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

it('numbers and identifiers are shortened', () => {
  expect([null, 3.06, 42.4].map(milliseconds)).toEqual(['–', '3.1 ms', '42 ms'])
  expect([20_000, 3410].map(seconds)).toEqual(['20 s', '3.4 s'])
  expect([null, 999, 1000].map(duration)).toEqual(['–', '999 ms', '1 s'])
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
