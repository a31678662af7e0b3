import { describe, expect, it } from 'vitest'
import { failure } from '../errors.ts'
import type { Basis, NameChange } from '../names/lookup-types.ts'
import { systemClock } from '../platform/clock.ts'
import { parseParty } from '../platform/parse-party.ts'
import type { Party } from '../platform/party.ts'
import { instantMs } from '../platform/times.ts'
import { displayParty } from './display.ts'
import type { PartyResolver, ResolverAnswer } from './party-resolver.ts'
import { createResolver } from './resolver.ts'

const ALICE = parseParty(`alice::1220${'a'.repeat(64)}`)
const MALLORY = parseParty(`mallory::1220${'b'.repeat(64)}`)
const NAME = 'alice.unverified.ns'
const down = failure('NETWORK_ERROR', 'down', { retryable: true })

/** What a resolver answers about `NAME`: a party, null (it does not have the name), or an error. */
type Behaviour = Party | null | Error

function resolverOf(
  id: string,
  basis: Basis,
  behaviour: Behaviour,
  facts: Partial<ResolverAnswer> = {},
): PartyResolver & { readonly accepted: string[] } {
  const accepted: string[] = []
  const answer = (party: Party): ResolverAnswer => ({
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
    ['one proof', [proof(ALICE)], 'proven', ALICE, 'proof'],
    ['the first of two that agree', [votes(ALICE), proof(ALICE)], 'proven', ALICE, 'votes'],
    ['the second, where the first is down', [proof(down), votes(ALICE)], 'proven', ALICE, 'votes'],
    [
      'two systems for the same party',
      [proof(ALICE), votes(ALICE, 'ens')],
      'proven',
      ALICE,
      'proof',
    ],
    ['one system of two', [proof(null), votes(ALICE, 'ens')], 'proven', ALICE, 'votes'],
    ['a proof next to another claim', [claim(MALLORY), proof(ALICE)], 'proven', ALICE, 'proof'],
    ['a proof where the claim is down', [claim(down), proof(ALICE)], 'proven', ALICE, 'proof'],
    ['no system', [proof(null), votes(null)], 'proven', null],
    ['only a claim', [claim(ALICE)], 'NAME_CLAIMED', null],
    ['only a claim next to proven absence', [proof(null), claim(ALICE)], 'NAME_CLAIMED', null],
    [
      'conflicting answers of one system',
      [proof(ALICE), votes(MALLORY)],
      'CONSENSUS_DISPUTED',
      null,
    ],
    ['presence and absence in one system', [proof(null), votes(ALICE)], 'CONSENSUS_DISPUTED', null],
    ['two systems, two parties', [proof(ALICE), votes(MALLORY, 'ens')], 'NAME_AMBIGUOUS', null],
    ['a system without an answer', [proof(down), votes(ALICE, 'ens')], down.code, null],
    ['nothing but failures', [proof(down)], down.code, null],
    ['nothing but a claim that is down', [claim(down)], down.code, null],
    ['nothing but claims, one of which is down', [claim(down), claim(null)], down.code, null],
    ['nothing but a claim of absence', [claim(null)], 'NAME_CLAIMED', null],
    ['a claim that is down next to proven absence', [proof(null), claim(down)], 'proven', null],
  ])('%s', async (_, resolvers, kind, party, basis) => {
    const resolution = await resolverOver(...resolvers).resolve(NAME)
    expect(resolution).toMatchObject({ party, ...(basis && { basis }) })
    expect(resolution.kind === 'failed' ? resolution.error.code : resolution.kind).toBe(kind)
  })

  it('does not report the failure of a resolver whose answer would not be used', async () => {
    const resolution = await resolverOver(claim(down), proof(null)).resolve(NAME)
    expect(resolution).toMatchObject({ kind: 'proven', value: null, failures: [] })
  })

  it('asks only the naming system of a qualified name', async () => {
    const resolver = resolverOver(proof(ALICE), votes(MALLORY, 'ens'))
    const { party } = await resolver.resolve(`mainnet:ens:${NAME}`)
    expect(party).toBe(MALLORY)
  })

  it('uses a claim if the caller allows it', async () => {
    const options = { network: 'mainnet', resolvers: [claim(ALICE)], minBasis: 'claimed' } as const
    expect(await createResolver(options).resolve(NAME)).toMatchObject({
      kind: 'proven',
      basis: 'claimed',
      value: { fqpn: `mainnet:dns:${NAME}` },
    })
  })

  it.each([
    [`testnet:cns:${NAME}`, 'a name of testnet'],
    [`mainnet:lei:${NAME}`, 'No resolver has names of lei'],
    ['mainnet:party-id:alice', 'A party is'],
    ['', 'not empty'],
    ['alice.example', '.'],
    ['\u0430lice', 'Cyrillic'],
    [ALICE.slice(0, -1), 'it has 63 digits, not 64'],
    [ALICE.toUpperCase().replace('ALICE', 'alice'), 'upper-case'],
    [ALICE.replace('alice', '\u0430lice'), 'U+0430'],
  ])('refuses %s', async (typed, message) => {
    const resolution = await resolverOver(proof(ALICE)).resolve(typed)
    expect(resolution).toMatchObject({ kind: 'failed', party: null })
    expect('error' in resolution && resolution.error?.message).toContain(message)
  })

  it('a party resolves to itself, and no resolver is asked', async () => {
    const resolver = resolverOver(proof(down))
    for (const typed of [ALICE, ` ${ALICE} `, `mainnet:party-id:${ALICE}`])
      expect(await resolver.resolve(typed)).toMatchObject({
        kind: 'proven',
        party: ALICE,
        value: { resolver: 'party-id', fqpn: `mainnet:party-id:${ALICE}` },
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
    expect(await resolver.resolve(NAME)).toMatchObject({
      error: { code: 'NAME_EXPIRED' },
      party: null,
    })
    expect(await resolver.reverse(ALICE)).toEqual([])
  })

  it('a text that is no party is no answer, and no name of the party that was asked for', async () => {
    const wrong = resolverOf('cns', 'proof', 'alice' as Party)
    const resolver = createResolver({ network: 'mainnet', resolvers: [wrong] })
    const error = { code: 'INVALID_RESPONSE' }
    expect(await resolver.resolve(NAME)).toMatchObject({ kind: 'failed', error, party: null })
    expect(await resolver.reverse(ALICE)).toEqual([])
  })

  it('a name that cannot be qualified is no answer, and hides no other name of the party', async () => {
    const cns = resolverOf('cns', 'proof', ALICE)
    const odd = resolverOf('dns', 'proof', ALICE, { name: 'a b:c ' })
    const resolver = createResolver({ network: 'mainnet', resolvers: [odd, cns] })
    const error = { code: 'INVALID_RESPONSE' }
    expect(await resolver.resolve(`mainnet:dns:${NAME}`)).toMatchObject({ kind: 'failed', error })
    expect(await resolver.reverse(ALICE)).toMatchObject([{ fqpn: `mainnet:cns:${NAME}` }])
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

describe('a display name of a resolver', () => {
  const SYSTEM_NAME = 'acme.example'
  const shown = async (displayName: unknown) => {
    const facts = { name: SYSTEM_NAME, displayName: displayName as string }
    const one = { ...resolverOf('dns', 'claimed', ALICE, facts), accepts: () => true }
    const options = { network: 'mainnet', resolvers: [one], minBasis: 'claimed' } as const
    const resolver = createResolver(options)
    const resolved = await resolver.resolve(SYSTEM_NAME)
    if (resolved.party === null) throw new Error(resolved.kind)
    const { displayName: text } = resolved.value
    const names = await resolver.reverse(ALICE)
    expect(names[0]?.displayName).toBe(text)
    expect(displayParty(names, ALICE).text).toBe(text)
    return text
  }

  it.each([
    'Acme',
    'ACME.example',
    'Acme Ltd.',
    'J. R. Smith & Sons (Zürich)',
    "O'Brien, Müller-Lüdenscheidt",
    'Société Générale',
    'Nguyễn Văn An',
    '株式会社ABC',
    'ジョン・スミス',
    '삼성전자',
    'Сбербанк',
    'Сбербанк Ltd',
    'Ελλάδα',
    'المصرف العربي',
    'בנק לאומי',
    'भारतीय स्टेट बैंक',
    'ธนาคารกรุงเทพ',
    'Acme 2',
  ])('is shown: %s', async (text) => {
    expect(await shown(text)).toBe(text)
  })

  it('is shown in its composed form', async () => {
    expect(await shown('Zoe\u0308 Smith')).toBe('Zoë Smith')
  })

  it.each([
    ['nothing', ''],
    ['white space', '  \t '],
    ['no text', 7],
    ['a no-break space', '\u00a0'],
    ['a braille blank', '\u2800'],
    ['a Hangul filler', '\u3164'],
    ['space at an end', 'Acme '],
    ['an override of the direction', 'Acme \u202edtL'],
    ['an isolate', '\u2067Acme\u2069'],
    ['a direction mark', 'Acme\u200f'],
    ['a zero-width space', 'Ac\u200bme'],
    ['a joiner', 'Ac\u200dme'],
    ['a byte order mark', '\ufeffAcme'],
    ['a soft hyphen', 'Ac\u00adme'],
    ['a variation selector', 'Acme\ufe0f'],
    ['a tag', 'Acme\u{e0041}'],
    ['a control character', 'Acme\u0007'],
    ['an escape sequence', '\u001b[31mAcme'],
    ['a line feed', 'Acme\nLtd'],
    ['a lone surrogate', 'Acme\ud800'],
    ['private use', 'Acme\ue000'],
    ['an emoji', '🚀 Acme'],
    ['a check mark', 'Acme ✓'],
    ['a flood of marks', `A${'\u0301'.repeat(20)}cme`],
    ['a mark alone', '\u0301'],
    ['punctuation alone', '...'],
    ['Cyrillic among Latin', 'Асme'],
    ['Greek among Latin', 'Αcme'],
    ['Cyrillic that looks Latin', 'сосоа'],
    ['full-width letters', 'Ａｃｍｅ'],
    ['mathematical letters', '𝐀𝐜𝐦𝐞'],
    ['phonetic letters', 'pɑypɑl'],
    ['a ligature', 'ﬁnance'],
    ['65 characters', 'a '.repeat(33).trim()],
    ['the name of another party', 'alice.unverified.ns'],
    ['the name of another party in a sentence', 'Alice (alice.unverified.ns)'],
    ['a label of the name service', 'alice'],
    ['a qualified name', 'mainnet:cns:alice.unverified.ns'],
    ['another domain', 'bank.example'],
    ['an address', 'alice@bank.example'],
    ['a party', MALLORY],
  ])('is replaced by the name: %s', async (_, text) => {
    expect(await shown(text)).toBe(SYSTEM_NAME)
  })

  it('of another source is not shown if it is invisible', () => {
    const named = (displayName: string) => [{ party: ALICE, displayName, resolver: 'own' }]
    for (const text of ['', ' ', '\u2800', '\u202eecila', 'a\u200bb', 'a'.repeat(201)])
      expect(displayParty(named(text), ALICE)).toMatchObject({ text: 'alice', source: 'hint' })
    expect(displayParty(named('Alice'), ALICE)).toMatchObject({ text: 'Alice', source: 'name' })
  })

  it('is never a hint that hides the fingerprint', () => {
    const long = `${'a-bank-'.repeat(20)}::1220${'c'.repeat(64)}`
    expect(displayParty([], long).text).toBe('a-bank-a-bank-a-bank-a-bank-a-b…::1220cccc…cccc')
  })
})
