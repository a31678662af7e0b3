import { describe, expect, it } from 'vitest'
import { failure } from '../errors.ts'
import type { Basis, NameChange } from '../names/lookup-types.ts'
import { instantMs, systemClock } from '../platform/clock.ts'
import { displayParty } from './display.ts'
import type { PartyResolver, ResolverAnswer } from './party-resolver.ts'
import { createResolver } from './resolver.ts'

const ALICE = `alice::1220${'a'.repeat(64)}`
const MALLORY = `mallory::1220${'b'.repeat(64)}`
const NAME = 'alice.unverified.ns'
const down = failure('NETWORK_ERROR', 'down', { retryable: true })

/** What a resolver answers about `NAME`: a party, null (it does not have the name), or an error. */
type Behaviour = string | null | Error

function resolverOf(
  id: string,
  basis: Basis,
  behaviour: Behaviour,
  facts: Partial<ResolverAnswer> = {},
): PartyResolver & { readonly accepted: string[] } {
  const accepted: string[] = []
  const answer = (party: string): ResolverAnswer => ({
    name: NAME,
    party,
    displayName: NAME,
    validUntil: null,
    changed: null,
    receipt: null,
    ...facts,
  })
  return {
    id,
    basis,
    accepted,
    accepts: (name) => name.endsWith('.ns'),
    async resolve() {
      if (behaviour instanceof Error) throw behaviour
      return { basis, found: behaviour === null ? null : answer(behaviour) }
    },
    async reverse(party) {
      if (behaviour instanceof Error) throw behaviour
      return behaviour === party ? [{ ...answer(party), basis }] : []
    },
    async acceptChange(name, party) {
      accepted.push(`${name} ${party}`)
    },
  }
}

const proof = (behaviour: Behaviour, id = 'cns') => resolverOf(id, 'proof', behaviour)
const votes = (behaviour: Behaviour, id = 'cns') => resolverOf(id, 'votes', behaviour)
const claim = (behaviour: Behaviour, id = 'dns') => resolverOf(id, 'claimed', behaviour)
const resolverOver = (...resolvers: PartyResolver[]) =>
  createResolver({ network: 'mainnet', resolvers })

describe('resolving', () => {
  it.each<[string, PartyResolver[], kind: string, party: string | null, basis?: Basis]>([
    ['one proof', [proof(ALICE)], 'found', ALICE, 'proof'],
    ['the first of two that agree', [votes(ALICE), proof(ALICE)], 'found', ALICE, 'votes'],
    ['the second, where the first is down', [proof(down), votes(ALICE)], 'found', ALICE, 'votes'],
    [
      'two systems for the same party',
      [proof(ALICE), votes(ALICE, 'ens')],
      'found',
      ALICE,
      'proof',
    ],
    ['one system of two', [proof(null), votes(ALICE, 'ens')], 'found', ALICE, 'votes'],
    ['a proof next to another claim', [claim(MALLORY), proof(ALICE)], 'found', ALICE, 'proof'],
    ['a proof where the claim is down', [claim(down), proof(ALICE)], 'found', ALICE, 'proof'],
    ['no system', [proof(null), votes(null)], 'absent', null],
    ['only a claim', [claim(ALICE)], 'claimed', null],
    ['only a claim next to proven absence', [proof(null), claim(ALICE)], 'claimed', null],
    ['conflicting answers of one system', [proof(ALICE), votes(MALLORY)], 'disputed', null],
    ['presence and absence in one system', [proof(null), votes(ALICE)], 'disputed', null],
    ['two systems, two parties', [proof(ALICE), votes(MALLORY, 'ens')], 'ambiguous', null],
    ['a system without an answer', [proof(down), votes(ALICE, 'ens')], 'failed', null],
    ['nothing but failures', [proof(down)], 'failed', null],
  ])('%s', async (_, resolvers, kind, party, basis) => {
    const resolution = await resolverOver(...resolvers).resolve(NAME)
    expect(resolution).toMatchObject({ kind, party, ...(basis && { basis }) })
  })

  it('does not report the failure of a resolver whose answer would not be used', async () => {
    const resolution = await resolverOver(claim(down), proof(null)).resolve(NAME)
    expect(resolution).toMatchObject({ kind: 'absent', error: null, failures: [] })
  })

  it('asks only the naming system of a qualified name', async () => {
    const resolver = resolverOver(proof(ALICE), votes(MALLORY, 'ens'))
    const { party } = await resolver.resolve(`mainnet:ens:${NAME}`)
    expect(party).toBe(MALLORY)
  })

  it('uses a claim if the caller allows it', async () => {
    const options = { network: 'mainnet', resolvers: [claim(ALICE)], minBasis: 'claimed' } as const
    expect(await createResolver(options).resolve(NAME)).toMatchObject({
      ...{ kind: 'found', basis: 'claimed', fqpn: `mainnet:dns:${NAME}` },
    })
  })

  it.each([
    [`testnet:cns:${NAME}`, 'a name of testnet'],
    [`mainnet:lei:${NAME}`, 'No resolver has names of lei'],
    ['mainnet:party-id:alice', 'A party is'],
    ['', 'not empty'],
    ['alice.example', 'No resolver has names'],
  ])('refuses %s', async (typed, message) => {
    const resolution = await resolverOver(proof(ALICE)).resolve(typed)
    expect(resolution).toMatchObject({ kind: 'invalid', party: null })
    expect('error' in resolution && resolution.error?.message).toContain(message)
  })

  it('a party resolves to itself, and no resolver is asked', async () => {
    const resolver = resolverOver(proof(down))
    for (const typed of [ALICE, ` ${ALICE} `, `mainnet:party-id:${ALICE}`])
      expect(await resolver.resolve(typed)).toMatchObject({
        ...{ kind: 'found', party: ALICE, resolver: 'party-id', fqpn: `mainnet:party-id:${ALICE}` },
      })
  })

  it('an entry that has ended by the clock of the device is expired', async () => {
    const clock = {
      ...systemClock,
      nowMicros: () => instantMs('2026-11-02T00:00:00.000000Z') * 1000,
    }
    const facts = { validUntil: '2026-11-01T00:00:00.000000Z' }
    const resolvers = [resolverOf('cns', 'proof', ALICE, facts)]
    const resolver = createResolver({ network: 'mainnet', resolvers, clock })
    expect(await resolver.resolve(NAME)).toMatchObject({ kind: 'expired', party: null })
    expect(await resolver.reverse(ALICE)).toEqual([])
  })

  it('a change of owner is not used before it is accepted, and then stored', async () => {
    const changed: NameChange = {
      name: NAME,
      previousParty: ALICE,
      previousSeenAt: '2026-10-01T00:00:00.000000Z',
      party: MALLORY,
      seenAt: '2026-11-01T00:00:00.000000Z',
    }
    const cns = resolverOf('cns', 'proof', MALLORY, { changed })
    const resolver = resolverOver(cns)
    expect(await resolver.resolve(NAME)).toMatchObject({ kind: 'changed', party: null })
    const refused = await resolver.resolve(NAME, { acceptChange: () => false })
    expect([refused.kind, cns.accepted]).toEqual(['changed', []])
    const accepted = await resolver.resolve(NAME, { acceptChange: async () => true })
    expect([accepted.party, cns.accepted]).toEqual([MALLORY, [`${NAME} ${MALLORY}`]])
  })

  it('rejects with the reason of the signal only', async () => {
    const signal = AbortSignal.abort(new Error('closed'))
    await expect(resolverOver(proof(ALICE)).resolve(NAME, { signal })).rejects.toThrow('closed')
  })
})

describe('names of a party', () => {
  it('are those that are checked, each once, in the order of the resolvers', async () => {
    const resolver = resolverOver(votes(ALICE, 'ens'), proof(ALICE), votes(ALICE), claim(ALICE))
    const names = await resolver.reverse(ALICE)
    expect(names.map(({ fqpn, basis }) => [fqpn, basis])).toEqual([
      [`mainnet:ens:${NAME}`, 'votes'],
      [`mainnet:cns:${NAME}`, 'proof'],
    ])
  })

  it('a failure is thrown only where no name was found', async () => {
    expect(await resolverOver(proof(down), votes(ALICE)).reverse(ALICE)).toHaveLength(1)
    await expect(resolverOver(proof(down), votes(null)).reverse(ALICE)).rejects.toBe(down)
    expect(await resolverOver(proof(null)).reverse(ALICE)).toEqual([])
  })

  it('are shown before the hint, and the hint before the identifier', async () => {
    const names = await resolverOver(proof(ALICE)).reverse(ALICE)
    expect(displayParty(names, ALICE)).toEqual({ text: NAME, icon: 'cns', source: 'name' })
    expect(displayParty(names, MALLORY)).toEqual({ text: 'mallory', icon: null, source: 'hint' })
    const nameless = `1220aabbccddeeff00112233::1220${'c'.repeat(64)}`
    expect(displayParty([], nameless)).toMatchObject({ icon: null, source: 'short' })
  })
})
