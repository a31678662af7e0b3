/** Watching what was typed, by the rule of freshness of names. */
import { formatInstant } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { transient } from '../errors.ts'
import { watchName } from '../names/watch-name.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { parseParty } from '../platform/parse-party.ts'
import type { Party } from '../platform/party.ts'
import type { PartyResolver, ResolverAnswer } from './party-resolver.ts'
import { createResolver } from './resolver.ts'

const NAME = 'a.unverified.ns'
const START_MICROS = 1_700_000_000_000_000
const PARTY = parseParty(`alice::1220${'a'.repeat(64)}`)
const OTHER = parseParty(`other::1220${'b'.repeat(64)}`)

/** A clock that advances by each delay. */
function createClock(): Clock {
  let micros = START_MICROS
  return {
    nowMicros: () => micros,
    monotonicMs: () => micros / 1000,
    async delay(ms, signal) {
      await systemClock.delay(1, signal)
      micros += ms * 1000
    },
  }
}

const RECORD_TIME = formatInstant(START_MICROS - 20_000_000)
const answer = (party: Party, more: Partial<ResolverAnswer> = {}): ResolverAnswer => ({
  name: NAME,
  party,
  displayName: NAME,
  validUntil: null,
  recordTime: RECORD_TIME,
  changed: null,
  receipt: null,
  ...more,
})
type Answering = PartyResolver['resolve']
const resolverOf = (clock: Clock, basis: 'proof' | 'claimed', ...answers: readonly Answering[]) =>
  createResolver({
    network: 'localnet',
    // No call ends by its timeout, which would move the clock.
    timeoutMs: 1e9,
    clock: { ...clock, delay: (_, signal) => systemClock.delay(1e9, signal) },
    resolvers: answers.map((resolve, index) => ({
      id: index === 0 ? 'cns' : 'dns',
      basis,
      accepts: () => true,
      resolve,
      reverse: async () => [],
    })),
  })
const answering =
  (found: ResolverAnswer | null, basis: 'proof' | 'claimed' = 'proof'): Answering =>
  async () => ({ basis, found, recordTime: RECORD_TIME })

/** What a watch has shown until its value is too old, and when that was. */
async function untilStale(clock: Clock, watch: AsyncIterable<{ readonly kind: string }>) {
  const kinds: string[] = []
  for await (const { kind } of watch) {
    kinds.push(kind)
    if (kind === 'stale') break
  }
  return { kinds, afterMs: (clock.nowMicros() - START_MICROS) / 1000 }
}

it('while ordering stands still a typed name is stale as soon as a watched one', async () => {
  const clock = createClock()
  const watching = resolverOf(clock, 'proof', answering(answer(PARTY)))
  // The waits of the watch move the clock, those of its calls do not.
  const { watchResolution } = await import('./watch-resolution.ts')
  const resolve = () => watching.resolve(NAME)
  const party = await untilStale(clock, watchResolution({ clock, resolve }))
  const ofNames = createClock()
  const lookup = async () =>
    ({
      kind: 'proven',
      basis: 'proof',
      recordTime: RECORD_TIME,
      value: { expiresAt: null },
    }) as never
  const name = await untilStale(
    ofNames,
    watchName(NAME, { clock: ofNames, channel: async () => 'none', lookup }),
  )
  expect(party).toEqual({ kinds: ['proven', 'stale'], afterMs: 40_001 })
  expect(name).toEqual(party)
})

const first = async (basis: 'proof' | 'claimed', ...answers: readonly Answering[]) => {
  for await (const shown of resolverOf(createClock(), basis, ...answers).watch(NAME)) return shown
  return undefined
}
const change = {
  name: NAME,
  previousParty: OTHER,
  previousSeenAt: RECORD_TIME,
  party: PARTY,
  seenAt: RECORD_TIME,
}

it.each<[string, readonly Answering[], object]>([
  [
    'found',
    [answering(answer(PARTY))],
    { kind: 'proven', value: { party: PARTY }, basis: 'proof' },
  ],
  ['absent', [answering(null)], { kind: 'proven', value: null, recordTime: RECORD_TIME }],
  [
    'changed',
    [answering(answer(PARTY, { changed: change }))],
    { kind: 'changed', value: { party: PARTY }, previous: change },
  ],
  ['expired', [answering(answer(PARTY, { isExpired: true }))], { error: { code: 'NAME_EXPIRED' } }],
  ['claimed', [answering(answer(PARTY), 'claimed')], { error: { code: 'NAME_CLAIMED' } }],
  [
    'ambiguous',
    [answering(answer(PARTY)), answering(answer(OTHER))],
    { error: { code: 'NAME_AMBIGUOUS' } },
  ],
  [
    'a dispute of the nodes',
    [() => Promise.reject(transient('CONSENSUS_DISPUTED', 'no'))],
    { error: { code: 'CONSENSUS_DISPUTED' } },
  ],
  [
    'no answer',
    [() => Promise.reject(transient('NETWORK_ERROR', 'no'))],
    { error: { code: 'NETWORK_ERROR' } },
  ],
])('%s is shown in the vocabulary of names', async (title, answers, expected) => {
  expect(await first(title === 'claimed' ? 'claimed' : 'proof', ...answers)).toMatchObject(expected)
})

it('ends with the error of a text that can be no name', async () => {
  const watching = resolverOf(createClock(), 'proof', answering(null)).watch(
    'mainnet:cns:a.unverified.ns',
  )
  await expect(watching.next()).rejects.toMatchObject({ code: 'INVALID_NAME' })
})
