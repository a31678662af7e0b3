/**
 * Each public function and method that takes options refuses a name that it does not have. What takes options follows from the
 * types: a new one does not compile without its row.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import * as fakes from './fakes.ts'
import * as sdk from './index.ts'
import * as naming from './naming/index.ts'
import * as raw from './raw.ts'
import * as react from './react.ts'
import * as receipts from './receipts.ts'
import * as splice from './splice/index.ts'
import type * as testing from './testing.ts'

type AnyFunction = (...input: never) => unknown
type Plain = string | number | boolean | null | undefined | readonly unknown[] | AnyFunction

/** Whether callers pass options, or what to do, in an object. One of functions alone is a part of a program. */
type IsOptions<T> = unknown extends T
  ? false
  : [T] extends [Plain]
    ? false
    : NonNullable<T>[keyof NonNullable<T>] extends AnyFunction
      ? false
      : true

type Indices<
  Input extends readonly unknown[],
  Before extends readonly unknown[] = [],
> = Input extends readonly [infer First, ...infer Rest]
  ?
      | (IsOptions<First> extends true ? `${Before['length']}` : never)
      | Indices<Rest, [...Before, First]>
  : never

/** Each place where the functions of an object, and of the objects in it, take options: `names.resolve 1`. */
type PlacesIn<T, Path extends string = ''> = {
  [Name in keyof T & string]: T[Name] extends (...input: infer Input) => unknown
    ? `${Path}${Name} ${Indices<Required<Input>>}`
    : T[Name] extends Plain | (abstract new (...input: never) => unknown)
      ? never
      : PlacesIn<T[Name], `${Path}${Name}.`>
}[keyof T & string]

/** The arguments of a call at each place, or why it has no options. */
type Rows<T> = Readonly<Record<PlacesIn<T>, readonly unknown[] | string>>

const PARTY = `alice::1220${'a'.repeat(64)}` as sdk.Party
const CONTRACT = sdk.parseContractId(`00${'b'.repeat(64)}`)
const GENESIS = 'c'.repeat(64)
/** Nothing listens there. */
const URL = 'http://127.0.0.1:9'
const names = fakes.fakeNames({ alice: PARTY })
const scan = sdk.createScan({ seeds: [URL], genesis: GENESIS })
const validator = sdk.createValidator({ url: URL })
const fake = fakes.fakeValidator({ party: PARTY, coin: '100' })
const resolver = naming.createResolver({ network: 'localnet', resolvers: [] })
const spliceScan = splice.createSpliceScan({ seeds: [URL] })

const NAMES = {
  'resolve 1': ['alice', {}],
  'reverse 1': [PARTY, {}],
  'metadata 1': [PARTY, {}],
  'registryUrls 1': [PARTY, {}],
  'lookup 1': ['alice', {}],
  'resolveMany 1': [['alice'], {}],
  'reverseMany 1': [[PARTY], {}],
  'search 1': ['al', {}],
  'namesOf 1': [PARTY, {}],
  'isAvailable 1': ['alice', {}],
  'watch 1': ['alice', {}],
} as const

function within<Prefix extends string, Row>(prefix: Prefix, rows: Readonly<Record<string, Row>>) {
  const entries = Object.entries(rows).map(([place, row]) => [`${prefix}.${place}`, row])
  return Object.fromEntries(entries) as never
}

const OFFER = { receiver: PARTY, coin: '1' }

const VALIDATOR: Rows<sdk.Validator> = {
  ...(within('names', NAMES) as Rows<{ names: sdk.Names }>),
  'names.list 0': [{}],
  'names.register 0': [{ name: 'erin' }],
  'names.register 1': [{ name: 'erin' }, {}],
  'names.renew 1': ['erin', {}],
  'names.cancel 1': ['erin', {}],
  'names.setAutoRenew 2': ['erin', true, {}],
  'wallet.party 0': [{}],
  'wallet.status 0': [{}],
  'wallet.balance 0': [{}],
  'wallet.coins 0': [{}],
  'wallet.tap 0': [{ usd: '1' }],
  'wallet.transactions 0': [{}],
  'wallet.subscriptionRequests 0': [{}],
  'wallet.subscriptionRequest 1': [CONTRACT, {}],
  'wallet.acceptSubscriptionRequest 1': [CONTRACT, {}],
  'wallet.rejectSubscriptionRequest 1': [CONTRACT, {}],
  'wallet.initialPayments 0': [{}],
  'wallet.subscriptions 0': [{}],
  'wallet.cancelSubscription 1': [CONTRACT, {}],
  'wallet.setAutoRenew 2': [CONTRACT, true, {}],
  'wallet.paySubscription 1': [CONTRACT, {}],
  'wallet.transfers 0': [{}],
  'payments.transfer 0': [OFFER],
  'payments.transfer 1': [OFFER, {}],
  'payments.acceptTransfer 1': [CONTRACT, {}],
  'payments.rejectTransfer 1': [CONTRACT, {}],
  'payments.withdrawTransfer 1': [CONTRACT, {}],
  'payments.tap 0': [{ usd: '1' }],
  'payments.tap 1': [{ usd: '1' }, {}],
  'payments.register 0': [{ name: 'erin' }],
  'payments.register 1': [{ name: 'erin' }, {}],
  'payments.renew 1': ['erin', {}],
  'payments.unfinished 0': [{}],
  'activities 0': [{}],
  'updates 0': [{ parties: [PARTY] }],
  'commands.submit 0': [{ actAs: [PARTY], commands: [], submissionId: 's' }],
  'commands.submit 1': [{ actAs: [PARTY], commands: [] }, {}],
}

const SCAN: Rows<sdk.Scan> = {
  ...(within('names', NAMES) as Rows<{ names: sdk.Names }>),
  'activities 0': [{}],
}

const RESOLVER: Rows<naming.Resolver> = {
  'resolve 1': ['alice', {}],
  'watch 1': ['alice', {}],
  'reverse 1': [PARTY, {}],
}

const SPLICE: Rows<splice.SpliceScan> = {
  'names.resolve 1': ['alice.unverified.ns', {}],
  'names.reverse 1': [PARTY, {}],
  'names.metadata 1': [PARTY, {}],
  'names.registryUrls 1': [PARTY, {}],
  'names.lookup 1': ['alice.unverified.ns', {}],
  'names.lookupParty 1': [PARTY, {}],
  'names.resolveMany 1': [['alice.unverified.ns'], {}],
  'names.search 1': ['al', {}],
  'dso 0': [{}],
  'scans 0': [{}],
  'ansRules 0': [{}],
  'rounds 0': [{}],
  'closedRounds 0': [{}],
  'holdings 0': [{ migrationId: 0, recordTime: '2026-01-01T00:00:00.000000Z', ownerPartyIds: [] }],
  'holdings 1': [
    { migrationId: 0, recordTime: '2026-01-01T00:00:00.000000Z', ownerPartyIds: [] },
    {},
  ],
  'activities 0': [{ order: 'desc' }],
}

const FAKE_NAMES: Rows<fakes.FakeNames> = {
  ...NAMES,
  'setMetadata 1': 'metadata by key: any key is one',
}

const FAKE_VALIDATOR: Rows<fakes.FakeValidator> = {
  ...(VALIDATOR as Rows<Omit<fakes.FakeValidator, keyof object>>),
  'names.setMetadata 1': 'metadata by key: any key is one',
  'offer 0': [{ sender: PARTY, coin: '1' }],
  'fail 0': [{ how: 'lost', when: 'before' }],
  'another 0': [{}],
}

const FUNCTIONS: Rows<typeof sdk> = {
  'createScan 0': [{ seeds: [URL], genesis: GENESIS }],
  'createValidator 0': [{ url: URL }],
  'nameQuery 2': [names, 'alice', {}],
  'reverseQuery 2': [names, PARTY, {}],
  'searchQuery 2': [names, 'al', {}],
  'balanceQuery 1': [fake.wallet, {}],
  'transactionsQuery 1': [fake.wallet, {}],
  'offersQuery 1': [fake.wallet, {}],
}

const OF_NAMING: Rows<typeof naming> = {
  'createResolver 0': [{ network: 'localnet', resolvers: [] }],
  'httpResolver 0': [{ id: 'dns', url: URL }],
  'scanNames 0': 'a client, of which the names are used',
  'scanNames 1': [scan, { id: 'cns' }],
  'formatFqpn 0': 'the parts of a name, as `parseFqpn` returns them',
}

const OF_RAW: Rows<typeof raw> = {
  'createScanClient 0': [{ baseUrl: URL }],
  'createValidatorClient 0': [{ baseUrl: URL }],
  'createLedgerClient 0': [{ baseUrl: URL }],
}

const OF_RECEIPTS: Rows<typeof receipts> = {
  'verifyReceipt 1': [{}, { genesis: GENESIS, name: 'alice' }],
}

const OF_FAKES: Rows<typeof fakes> = {
  'fakeNames 0': 'parties by name: any key is a name',
  'fakeNames 1': [{}, {}],
  'fakeValidator 0': [{ party: PARTY }],
}

const OF_SPLICE: Rows<typeof splice> = { 'createSpliceScan 0': [{ seeds: [URL] }] }

const HOOKS: Rows<typeof react> = {
  'NamesProvider 0': 'properties of an element, which React passes',
  'useName 1': ['alice', { names }],
  'useSearch 1': ['al', { names }],
  'useReverse 1': [PARTY, { names }],
  'useParty 1': ['alice', { resolver }],
  'usePartyName 1': [PARTY, { resolver }],
  'useTransfer 0': [{ payments: fake.payments }],
  'useRegister 0': [{ names: fake.names }],
  'useRenew 0': [{ names: fake.names }],
  'useBalance 0': [{ wallet: fake.wallet }],
  'useTransactions 0': [{ wallet: fake.wallet }],
  'useOffers 0': [{ wallet: fake.wallet }],
}

/** `testing.test.ts` tries those of a cluster, and `options.test.ts` those of its start. */
const OF_CLUSTER: Rows<testing.TestCluster> = {
  'scan 0': 'of createScan',
  'validator 1': 'of createValidator',
  'waitFor 1': 'in testing.test.ts',
  'down 0': 'in testing.test.ts',
}

type Call = readonly [place: string, run: (more: object) => unknown]

/** A call at each place, with more members in its object. */
function callsOf(subject: object, rows: Readonly<Record<string, readonly unknown[] | string>>) {
  return Object.entries(rows).flatMap(([place, row]): Call[] => {
    if (typeof row === 'string') return []
    const [path = '', index = ''] = place.split(' ')
    const steps = path.split('.')
    const run = (more: object) => {
      let owner: unknown = subject
      for (const step of steps.slice(0, -1)) owner = (owner as Record<string, unknown>)[step]
      const method = (owner as Record<string, (...input: unknown[]) => unknown>)[steps.at(-1) ?? '']
      const input = row.map((value, at) =>
        at === Number(index) ? { ...(value as object), ...more } : value,
      )
      return method?.call(owner, ...input)
    }
    return [[place, run]]
  })
}

/** What a call ends in: its error, or its first value. */
async function endOf(run: () => unknown): Promise<unknown> {
  try {
    const made = await run()
    if (typeof made === 'object' && made !== null && Symbol.asyncIterator in made)
      return await (made as AsyncIterableIterator<unknown>).next()
    return made
  } catch (error) {
    return error
  }
}

const UNKNOWN = expect.objectContaining({
  code: 'INVALID_ARGUMENT',
  definite: true,
  message: expect.stringContaining('`unheardOf`'),
})

describe.each<[string, readonly Call[]]>([
  ['a scan', callsOf(scan, SCAN)],
  ['a validator', callsOf(validator, VALIDATOR)],
  ['a resolver', callsOf(resolver, RESOLVER)],
  ['a scan of Splice', callsOf(spliceScan, SPLICE)],
  ['fake names', callsOf(names, FAKE_NAMES)],
  ['a fake validator', callsOf(fake, FAKE_VALIDATOR)],
  ['the SDK', callsOf(sdk, FUNCTIONS)],
  ['/naming', callsOf(naming, OF_NAMING)],
  ['/raw', callsOf(raw, OF_RAW)],
  ['/receipts', callsOf(receipts, OF_RECEIPTS)],
  ['/splice', callsOf(splice, OF_SPLICE)],
  ['/testing/fakes', callsOf(fakes, OF_FAKES)],
  ['/react', callsOf(react, HOOKS).map(rendered)],
])('%s', (_, calls) => {
  it.each(calls)('%s refuses an option that it does not have', async (_place, run) => {
    expect(await endOf(() => run({ unheardOf: 1 }))).toEqual(UNKNOWN)
  })
})

/** A call of a hook, within a page. */
function rendered([place, run]: Call): Call {
  const client = new QueryClient()
  const inPage = (more: object) =>
    renderToString(h(QueryClientProvider, { client }, h(Page, { use: () => run(more) })))
  return [place, inPage]
}

function Page({ use }: { readonly use: () => unknown }) {
  return h('p', null, typeof use())
}

it('a call of a cluster has a row', () => expect(Object.keys(OF_CLUSTER)).toHaveLength(4))

it.each<[string, (wallet: fakes.FakeValidator) => Promise<sdk.PaymentResult<unknown>>]>([
  ['a transfer', ({ payments }) => payments.transfer(OFFER)],
  ['a registration', ({ payments }) => payments.register({ name: 'erin' }, { timeoutMs: 100 })],
])('what settles %s refuses an option that it does not have, and sends nothing', async (_, pay) => {
  const wallet = fakes.fakeValidator({ party: PARTY, coin: '100' })
  wallet.fail({ how: 'lost', when: 'before', isLasting: true })
  const result = await pay(wallet)
  if (result.kind !== 'unknown') throw new Error(`it is ${result.kind}`)
  wallet.fail(null)
  const misspelt = { sends: false } as sdk.SettleOptions
  for (const settle of [result.settle, (await wallet.payments.unfinished())[0]?.settle])
    await expect(settle?.(misspelt)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(await wallet.payments.unfinished()).toHaveLength(1)
})

describe('within options', () => {
  const checkpoint = { store: sdk.createMemoryStore(), key: 'k', keys: 'k' }
  const query = { stale: 1 }
  const page = (use: () => unknown) => rendered(['', use])[1]
  it.each<[string, (more: object) => unknown]>([
    ['a checkpoint', () => validator.updates({ parties: [PARTY], checkpoint }).next()],
    ['a checkpoint of activities', () => scan.activities({ checkpoint }).next()],
    ['a query of a watch', page(() => react.useName('alice', { names, query } as never))],
    ['a query of a read', page(() => react.useReverse(PARTY, { names, query } as never))],
    ['a query of a name', page(() => react.usePartyName(PARTY, { names, query } as never))],
  ])('%s has no other member', async (_, run) => {
    expect(await endOf(() => run({}))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

it.each<[string, () => unknown]>([
  ['a text in place of options', () => names.resolve('alice', 'strong' as never)],
  ['a text in place of the first options', () => validator.wallet.party('now' as never)],
  ['null', () => scan.names.lookup('alice', null as never)],
  ['an index, as `map` passes it', () => scan.names.resolve('alice', 1 as never)],
])('%s is refused', async (_, run) => {
  expect(await endOf(run)).toMatchObject({ code: 'INVALID_ARGUMENT' })
})

it.each([
  { clock: { nowMicros: () => 0 } },
  { store: { get: () => null } },
  { crypto: { sha256: 1 } },
])('parts of a program lack no function: %j', (more) => {
  const options = { seeds: [URL], genesis: GENESIS, ...more }
  expect(() => sdk.createScan(options as never)).toThrow('must have the functions')
})
