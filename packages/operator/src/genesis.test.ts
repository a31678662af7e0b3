import { createKeyPair, toHex } from '@quorumscan/base'
import { parseGenesis } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { describeGenesis } from './ceremony/describe-genesis.ts'
import { firstDigestOf, type MemberFile, parseMember, writeMember } from './ceremony/member.ts'
import type { OrderingDriver } from './ceremony/rules.ts'
import { parseSettings, rulesOf } from './ceremony/rules.ts'
import { createGenesis, hashGenesis } from './genesis.ts'

const input = (name: string) => ({
  name,
  createdAtMicros: 1_700_000_000_000_000,
  url: `https://${name}.example`,
  engineAddress: `${name}.example:26656`,
})

const newKeys = () => ({
  scan: createKeyPair(),
  operator: createKeyPair(),
  voting: createKeyPair(),
  engine: createKeyPair(),
})

function superValidator(name: string, change: object = {}, keys: object = {}): MemberFile {
  return parseMember(
    writeMember('super-validator', { ...input(name), ...change }, { ...newKeys(), ...keys }),
  )
}

function synchronizerOf(name = 'synchronizer', keyPair = createKeyPair()): MemberFile {
  const rest = { ...input(name), url: null, engineAddress: null }
  return parseMember(writeMember('synchronizer', rest, { synchronizer: keyPair }))
}

const four = ['sv-1', 'sv-2', 'sv-3', 'sv-10'].map((name) => superValidator(name))
const together = { driver: 'cometbft', overrides: {} } as const
const alone = { driver: 'redis', overrides: {} } as const

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((first, at) =>
    permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]),
  )
}

describe('a genesis', () => {
  it('is the same in whatever order its members are given', () => {
    const hashes = (members: readonly MemberFile[], options: Parameters<typeof createGenesis>[1]) =>
      new Set(permutations(members).map((each) => hashGenesis(createGenesis(each, options))))
    expect(hashes(four, together).size).toBe(1)
    expect(hashes([...four.slice(1), synchronizerOf()], alone).size).toBe(1)
    const { nodes, ordering } = createGenesis(four.toReversed(), together)
    expect(nodes.map(({ name }) => name)).toEqual(['sv-1', 'sv-2', 'sv-3', 'sv-10'])
    expect(ordering).toMatchObject({ validators: nodes.map(({ name }) => ({ name })) })
  })

  it('is the same from member files that were issued again, with the old ones or without', () => {
    const [keys, others] = [newKeys(), four.slice(1)]
    const first = superValidator('sv-1', {}, keys)
    const reissued = { sequence: 1, first: toHex(firstDigestOf(first)) }
    const moved = superValidator('sv-1', { url: 'https://moved.example', reissued }, keys)
    const made = [[first], [moved], [first, moved]].map((files) =>
      hashGenesis(createGenesis([...files, ...others], together)),
    )
    expect(new Set(made).size).toBe(1)
  })

  it('differs if a member, a rule or the ordering differs', () => {
    const [first, ...others] = four
    const other = superValidator('sv-1')
    const moved = superValidator('sv-1', { url: null }, {})
    const synchronizer = synchronizerOf()
    const made = [
      createGenesis(four, together),
      createGenesis([other, ...others], together),
      createGenesis([moved, ...others], together),
      createGenesis(others, together),
      createGenesis(four, { ...together, overrides: { devnet: false } }),
      createGenesis([...four, synchronizer], alone),
      createGenesis([...others, ...(first === undefined ? [] : [first]), synchronizerOf()], alone),
    ]
    expect(new Set(made.map(hashGenesis)).size).toBe(made.length)
  })

  it('has the record time at which its newest member file was made', () => {
    const late = superValidator('sv-4', { createdAtMicros: 1_800_000_000_000_000 })
    expect(createGenesis([late, ...four], together).recordTime).toBe(1_800_000_000_000_000)
  })

  const pair = createKeyPair()
  it.each([
    ['names', [superValidator('sv-1')], 'two member files are of sv-1'],
    [
      'keys of one kind',
      [superValidator('a', {}, { voting: pair }), superValidator('b', {}, { voting: pair })],
      `a and b both have ${pair.publicKey}`,
    ],
    [
      'keys of two kinds',
      [superValidator('a', {}, { scan: pair }), superValidator('b', {}, { engine: pair })],
      `a and b both have ${pair.publicKey}`,
    ],
    [
      'keys of one member',
      [superValidator('a', {}, { scan: pair, operator: pair })],
      `a and a both have ${pair.publicKey}`,
    ],
    [
      'urls',
      [superValidator('a', { url: 'https://sv-1.example' })],
      'sv-1 and a both have https://sv-1.example',
    ],
    [
      'addresses of engines',
      [superValidator('a', { engineAddress: 'sv-2.example:26656' })],
      'sv-2 and a both have sv-2.example:26656',
    ],
  ] as const)('is refused with two equal %s', (_, more, message) => {
    expect(() => createGenesis([...four, ...more], together)).toThrow(message)
  })

  it.each([
    ['redis', [], 'one synchronizer orders, and these are the files of 0'],
    ['redis', [synchronizerOf('one'), synchronizerOf('two')], 'one synchronizer orders'],
    ['cometbft', [synchronizerOf()], 'is a synchronizer: leave its member file out'],
  ] as [OrderingDriver, MemberFile[], string][])(
    'with the ordering %s is refused without the right synchronizers (%#)',
    (driver, more, message) => {
      expect(() => createGenesis([...four, ...more], { driver, overrides: {} })).toThrow(message)
    },
  )

  it('does not change if the file of a validator is given, too', () => {
    const keys = { participant: createKeyPair(), engine: createKeyPair() }
    const validator = parseMember(writeMember('validator', input('v'), keys))
    expect(createGenesis([...four, validator], together)).toEqual(createGenesis(four, together))
  })

  it('can be made again from its members and its own rules', () => {
    const settings = ['names.entryLifetimeMicros=20s', 'ordering.timeouts.proposeMicros=400ms']
    const overrides = parseSettings('cometbft', settings)
    const genesis = createGenesis(four, { driver: 'cometbft', overrides })
    expect(createGenesis(four, { driver: 'cometbft', overrides: rulesOf(genesis) })).toEqual(
      genesis,
    )
    const single = createGenesis([...four, synchronizerOf()], alone)
    expect(rulesOf(single)).not.toHaveProperty('ordering')
  })

  it('has the member evidenceAge only if it differs from the default', () => {
    const made = (...settings: string[]) =>
      createGenesis(four, { driver: 'cometbft', overrides: parseSettings('cometbft', settings) })
    expect(made().ordering).not.toHaveProperty('evidenceAge')
    expect(made('ordering.evidenceAge.micros=2d').ordering).not.toHaveProperty('evidenceAge')
    const shorter = made('ordering.evidenceAge.micros=1h')
    expect(shorter.ordering).toMatchObject({ evidenceAge: { micros: 3.6e9, blocks: 100_000 } })
    for (const genesis of [made(), shorter]) {
      const again = createGenesis(four, { driver: 'cometbft', overrides: rulesOf(genesis) })
      expect(again).toEqual(genesis)
    }
  })

  it('is described in words, with every key that it fixes', () => {
    for (const genesis of [
      createGenesis(four, together),
      createGenesis([...four, synchronizerOf()], alone),
    ]) {
      const text = describeGenesis(parseGenesis(genesis)).join('\n')
      expect(text).toContain(hashGenesis(genesis))
      expect(text).toContain('An answer needs 2 that agree, a decision of operators 3')
      for (const value of JSON.stringify([genesis.nodes, genesis.ordering]).match(
        /[0-9a-f]{40,}/g,
      ) ?? [])
        expect(text).toContain(value)
    }
  })
})

describe('settings', () => {
  it('are read in the units that people type', () => {
    const settings = ['devnet=false', 'names.entryFeeUsd=2.5', 'coin.tickMicros=10m']
    const more = ['names.descriptionPrefix=a=b ', 'names.openRequestsMax=3']
    expect(parseSettings('redis', [...settings, ...more])).toEqual({
      devnet: false,
      names: { entryFeeUsd: '2.5000000000', descriptionPrefix: 'a=b ', openRequestsMax: 3 },
      coin: { tickMicros: 600_000_000 },
    })
  })

  it.each([
    [['price=1'], 'unknown rule "price". The rules are protocolVersion, devnet, '],
    [['names.entryFee=1'], 'unknown rule "names.entryFee": did you mean names.entryFeeUsd?'],
    [['coin.tickMicro=1m'], 'unknown rule "coin.tickMicro": did you mean coin.tickMicros?'],
    [['devnet.x=1'], 'unknown rule "devnet.x"'],
    [['constructor=1'], 'unknown rule "constructor"'],
    [['names.__proto__=1'], 'unknown rule "names.__proto__"'],
    [['names=1'], 'unknown rule "names"'],
    [['devnet'], '"devnet" has no value: write RULE=VALUE'],
    [['devnet=true', 'devnet=true'], 'devnet is set twice: set each rule once'],
    [['devnet=yes'], 'devnet=yes: the value must be true or false'],
    [['coin.tickMicros=10'], 'coin.tickMicros=10: the value must be a duration such as 90d'],
    [['names.entryFeeUsd=much'], 'names.entryFeeUsd=much: the value must be an amount'],
    [['names.openRequestsMax=1.5'], 'names.openRequestsMax=1.5: the value must be a whole number'],
    [['ordering.timeouts.voteMicros=1s'], 'with `--ordering redis` no engines order'],
    [['ordering.timeouts.vote=1s'], 'unknown rule "ordering.timeouts.vote"'],
    [['nonce=00'], 'unknown rule "nonce"'],
  ])('%j are refused', (settings, message) => {
    expect(() => parseSettings('redis', settings)).toThrow(message)
  })

  it('out of range are refused', () => {
    const overrides = parseSettings('cometbft', ['ordering.timeouts.voteMicros=1h'])
    expect(() => createGenesis(four, { driver: 'cometbft', overrides })).toThrow(
      'ordering.timeouts.voteMicros',
    )
  })

  it('limit the renewal window, and its default, to the lifetime of a name', () => {
    const made = (...settings: string[]) =>
      createGenesis(four, {
        driver: 'cometbft',
        overrides: parseSettings('cometbft', settings),
      }).names.renewalDurationMicros
    expect(made()).toBe(30 * 86_400_000_000)
    expect(made('names.entryLifetimeMicros=20s')).toBe(20_000_000)
    const window = 'names.renewalDurationMicros=21s'
    expect(made('names.entryLifetimeMicros=21s', window)).toBe(21_000_000)
    expect(() => made('names.entryLifetimeMicros=20s', window)).toThrow(
      'names.renewalDurationMicros: the renewal window is longer than the lifetime of a name',
    )
  })

  it.each([
    ['names.entryFeeUsd=0', 'names'],
    ['names.entryLifetimeMicros=100000d', 'names'],
    ['coin.priceUsd=0', 'coin'],
  ])('that a ledger cannot start with are refused: %s', (setting, member) => {
    const overrides = parseSettings('cometbft', [setting])
    expect(() => createGenesis(four, { driver: 'cometbft', overrides })).toThrow(
      `these members and rules do not form a valid network: the genesis document is not valid at ${member}`,
    )
  })
})
