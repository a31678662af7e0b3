/** Rules of payments that no story of one fault shows: each with the mistakes that break it. */
import { formatInstant, memberOf, membersOf, PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import type { Mutation } from '@quorumscan/verifier/testing'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { parseParty } from '../../sdk/src/platform/parse-party.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { createMemoryStore, type Store } from '../../sdk/src/platform/store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { PaymentProgress } from '../../sdk/src/wallet/payment-result.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { StoredPayment } from '../../sdk/src/wallet/payment-store.ts'
import { type Modules, World } from './world.ts'

const PAYMENTS = 'sdk/src/wallet/payments.ts'
const STORE = 'sdk/src/wallet/payment-store.ts'
const SEARCH = 'sdk/src/wallet/payment-search.ts'
const WALLET = 'packages/wallet/src/wallet/payments.ts'
const TRANSFERS = 'packages/wallet/src/wallet/transfers.ts'
const COINS = 'packages/wallet/src/wallet/coins.ts'
const CLIENT = 'sdk/src/wallet/wallet.ts'
const HOUR_MICROS = 3_600_000_000
const DAY_MICROS = 24 * HOUR_MICROS
/** For all steps of a renewal. */
const WAIT_MS = 6_000
/** What a call reads before it looks into the store: the party, and the subscriptions or the end of the ledger. */
const READS_MAX = 2
/** Turns of the event loop after which a call that waits for nothing has ended. */
const TURNS = 500

export type Rule = {
  readonly rule: string
  /** @param tab - The store's module, loaded again as by another tab. @returns What does not hold. */
  readonly check: (modules: Modules, tab: Modules['store']) => Promise<string[]>
  readonly mistakes: readonly Mutation[]
}

/** The end of a call that needs no time; `hangs`: it waits for something that does not come. */
async function endOf<T>(call: Promise<T>): Promise<T | 'hangs' | Error> {
  let end: T | Error | undefined
  call.then(
    (value) => {
      end = value
    },
    (error: Error) => {
      end = error
    },
  )
  for (let turn = 0; turn < TURNS && end === undefined; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  return end ?? 'hangs'
}

const expect = (isSo: boolean, otherwise: string): string[] => (isSo ? [] : [otherwise])
const kindOf = (end: unknown): string => {
  if (end instanceof Error) return String('code' in end ? end.code : end.message)
  return typeof end === 'object' && end !== null && 'kind' in end ? String(end.kind) : String(end)
}

const offerOf = (world: World) => ({ receiver: parseParty(world.bob.party), coin: '7' })
const ofAlice = (world: World) => world.effects('alice', 'transfer-').length

/** A store that another one, such as that of another tab, may change between reading and writing. */
function slowStore(values: Map<string, string>, listeners: ((key: string) => void)[]): Store {
  const own: ((key: string) => void)[] = []
  return {
    get: async (key) => values.get(key) ?? null,
    async set(key, value) {
      values.set(key, value)
      for (const listener of listeners) if (!own.includes(listener)) listener(key)
    },
    onChange(listener) {
      own.push(listener)
      listeners.push(listener)
    },
  }
}

const ALICE = parseParty(`alice::1220${'a'.repeat(64)}`)
const row = (id: string): StoredPayment => ({
  id,
  kind: 'tap',
  party: ALICE,
  path: '/tap',
  body: {},
  startedAt: '',
  lastEffect: null,
  searchAfter: 0,
  sends: 0,
})

/** Two tabs store a payment at the same time. @returns What the store has at the end. */
async function storedByTabs(
  modules: Modules,
  tab: Modules['store'],
  open: () => Store,
): Promise<string> {
  const { clock } = new World(modules)
  const key = async () => 'payments'
  const stores = [modules.store, tab].map((of) => of.createPaymentStore(open(), key, clock))
  await endOf(Promise.all(stores.map((store, index) => store.beforeSend(row(`payment-${index}`)))))
  // Events of other tabs arrive later.
  await endOf(new Promise(() => {}))
  const list = (await stores[0]?.list(ALICE)) ?? []
  return list
    .map(({ id }) => id)
    .sort()
    .join()
}

/** What both tabs have stored. */
const BOTH = 'payment-0,payment-1'

export const RULES: readonly Rule[] = [
  {
    rule: 'offline a payment fails at once, and is not sent later by itself',
    async check(modules) {
      const world = new World(modules)
      const client = world.client({ user: 'alice' })
      await client.unfinished()
      const before = world.requests
      world.setOffline(true)
      const transfer = await endOf(client.transfer(offerOf(world)))
      const own = await endOf(client.transfer({ ...offerOf(world), trackingId: 'own' }))
      const name = await endOf(client.register({ name: 'a.unverified.ns' }))
      const wasSent = world.requests !== before
      world.setOffline(false)
      await world.deliver()
      return [
        ...expect(!wasSent, 'sent while offline'),
        ...expect(kindOf(transfer) === 'refused', `offline: ${kindOf(transfer)}`),
        ...expect(kindOf(own) === 'OFFLINE', `own id offline: ${kindOf(own)}`),
        ...expect(kindOf(name) === 'OFFLINE', `name offline: ${kindOf(name)}`),
        ...expect(ofAlice(world) === 0, 'paid after the device was offline'),
      ]
    },
    mistakes: [
      {
        mistake: 'a device that is offline sends',
        file: 'sdk/src/platform/online.ts',
        text: 'if (!deviceState().isOffline || LOCAL_URL.test(url)) return null',
        by: 'if (url) return null',
      },
    ],
  },
  {
    rule: 'each wait can be cancelled',
    async check(modules) {
      const world = new World(modules)
      const client = world.client({ user: 'alice' })
      const controller = new AbortController()
      world.fail({ answer: 'never', effect: 'now' })
      const sent = client.transfer(offerOf(world), { signal: controller.signal })
      await endOf(sent)
      controller.abort(new Error('cancelled'))
      const end = await endOf(sent)
      const [left] = await client.unfinished()
      const settled = left === undefined ? 'nothing is left' : kindOf(await left.settle())

      const waiting = new AbortController()
      const hung = createMemoryStore()
      const of = world.client({
        user: 'alice',
        store: { ...hung, get: () => new Promise<never>(() => {}) },
      })
      const stored = of.transfer(offerOf(world), { signal: waiting.signal })
      await endOf(stored)
      waiting.abort(new Error('cancelled'))
      const ended = kindOf(await endOf(stored))
      // Until then the store's lock is held.
      world.expire()
      await endOf(stored)
      return [
        ...expect(kindOf(end) === 'unknown', `a request: ${kindOf(end)}`),
        ...expect(settled === 'done', `and then ${settled}`),
        ...expect(ended === 'cancelled', `the store: ${ended}`),
        ...expect(ofAlice(world) === 1, `paid ${ofAlice(world)} times`),
      ]
    },
    mistakes: [
      {
        mistake: 'the request ignores the signal',
        file: PAYMENTS,
        text: "const request = { method: 'POST', path, body: body ?? undefined, signal, timeoutMs } as const",
        by: "const request = { method: 'POST', path, body: body ?? undefined, timeoutMs }",
      },
      {
        mistake: 'the wait for the store ignores the signal',
        file: STORE,
        text: "what: 'The store', signal }",
        by: "what: 'The store' }",
      },
    ],
  },
  {
    rule: 'a payment waits for its store for a limited time, and sends nothing without it',
    async check(modules) {
      const world = new World(modules)
      let isHung = true
      const store = createMemoryStore()
      const client = world.client({
        user: 'alice',
        store: { ...store, get: (key) => (isHung ? new Promise(() => {}) : store.get(key)) },
      })
      const paying = client.transfer(offerOf(world))
      await endOf(paying)
      world.expire()
      const end = await endOf(paying)
      isHung = false
      const again = kindOf(await endOf(client.transfer(offerOf(world))))
      world.setLocks({ request: () => new Promise(() => {}) })
      const locked = client.transfer(offerOf(world))
      await endOf(locked)
      world.expire()
      const ofLock = kindOf(await endOf(locked))
      world.expire()
      world.setLocks(null)
      return [
        ...expect(kindOf(end) === 'STORE_UNAVAILABLE', `a store that hangs: ${kindOf(end)}`),
        ...expect(again === 'done', `after it answers again: ${again}`),
        ...expect(ofLock === 'STORE_UNAVAILABLE', `a lock of another tab: ${ofLock}`),
        ...expect(ofAlice(world) === 1, `paid ${ofAlice(world)} times`),
      ]
    },
    mistakes: [
      {
        mistake: 'the store is waited for without end',
        file: STORE,
        text: 'return await withDeadline(options, run)',
        by: 'return await run(options)',
      },
      {
        mistake: 'a store that hangs keeps its lock',
        file: STORE,
        text: 'const locked = () => inTime(clock, PAYMENT_STORE_MS, apply())',
        by: 'const locked = () => apply(inTime)',
      },
    ],
  },
  {
    rule: 'two tabs without Web Locks lose no payment',
    async check(modules, tab) {
      const shared = createMemoryStore()
      const values = new Map<string, string>()
      const listeners: ((key: string) => void)[] = []
      const ofPage = await storedByTabs(modules, tab, () => shared)
      const ofSlow = await storedByTabs(modules, tab, () => slowStore(values, listeners))
      return [
        ...expect(ofPage === BOTH, `a synchronous store has ${ofPage}`),
        ...expect(ofSlow === BOTH, `another store has ${ofSlow}`),
      ]
    },
    mistakes: [
      {
        mistake: 'a pause between reading and writing',
        file: STORE,
        text: 'const text = read instanceof Promise ? await read : read',
        by: 'const text = await read',
      },
      {
        mistake: 'what another tab overwrote is not stored again',
        file: STORE,
        text: 'const lost = [...own.values()].filter(',
        by: 'const lost = [].filter(',
      },
    ],
  },
  {
    rule: 'an unreadable stored payment hides no other one, and no new one is sent next to it',
    async check(modules) {
      const world = new World(modules)
      const store = createMemoryStore()
      const client = world.client({ user: 'alice', store })
      world.fail({ answer: 'lost', effect: 'none' })
      await client.transfer(offerOf(world))
      const rows: unknown[] = JSON.parse(String(await store.get('payments')))
      await store.set('payments', JSON.stringify([{ newer: true }, ...rows]))
      const before = world.paymentRequests
      const refused = kindOf(await endOf(client.transfer(offerOf(world))))
      const wasSent = world.paymentRequests > before
      const listed = await endOf(client.unfinished())
      const [left] = Array.isArray(listed) ? listed : []
      const end = left === undefined ? 'nothing is left' : kindOf(await endOf(left.settle()))
      const rest = String(await store.get('payments'))
      return [
        ...expect(refused === 'INVALID_ARGUMENT' && !wasSent, `a new one: ${refused}`),
        ...expect(end === 'done', `the readable one: ${end}`),
        ...expect(rest === '[{"newer":true}]', `the store has ${rest}`),
      ]
    },
    mistakes: [
      {
        mistake: 'an unreadable payment hides all others',
        file: STORE,
        text: 'if (Array.isArray(rows)) {',
        by: 'if (Array.isArray(rows) && rows.every(isStoredPayment)) {',
      },
      {
        mistake: 'an unreadable payment is dropped',
        file: STORE,
        text: 'JSON.stringify([...stored.odd, ...list])',
        by: 'JSON.stringify([...list])',
      },
      {
        mistake: 'a new payment is sent next to an unreadable one',
        file: STORE,
        text: 'if (known === undefined && problem !== null) throw problem',
        by: '',
      },
    ],
  },
  {
    rule: 'next to an unreadable stored payment no payment is known to be unpaid',
    async check(modules) {
      const world = new World(modules)
      const owned = 'a.unverified.ns'
      const after = world.ownName(owned)
      const offer = await world.offer()
      const store = createMemoryStore()
      const client = world.client({ user: 'alice', store })
      await store.set('payments', '[{"newer":true}]')
      const before = world.paymentRequests
      const calls = {
        renew: () => client.renew(owned, { after, timeoutMs: WAIT_MS }),
        register: () => client.register({ name: 'b.unverified.ns' }, { timeoutMs: WAIT_MS }),
        transfer: () => client.transfer(offerOf(world)),
        'own id': () => client.transfer({ ...offerOf(world), trackingId: 'own' }),
        accept: () => client.acceptTransfer(offer),
        tap: () => client.tap({ usd: '1' }),
      }
      const found: string[] = []
      for (const [name, call] of Object.entries(calls)) {
        const first = world.requests
        const end: unknown = await endOf<unknown>(call())
        const { code, payment, definite } = membersOf(end)
        const isSo = code === 'INVALID_ARGUMENT' && payment === 'unknown' && definite === false
        found.push(...expect(isSo, `${name}: ${kindOf(end)} ${payment} ${definite}`))
        const count = world.requests - first
        found.push(...expect(count <= READS_MAX, `${name}: ${count} requests`))
      }
      return [...found, ...expect(world.paymentRequests === before, 'sent')]
    },
    mistakes: [
      {
        mistake: 'its error is definite',
        file: STORE,
        text: "return withPayment(failure('INVALID_ARGUMENT', message), 'unknown')",
        by: "return withPayment(failure('INVALID_ARGUMENT', message), 'not-paid')",
      },
      {
        mistake: 'a payment of a name is looked for among the readable ones alone',
        file: STORE,
        text: 'if (found === undefined && odd.length > 0) throw unreadable(key)',
        by: '',
      },
    ],
  },
  {
    rule: 'a payment that a newer version stored again may have been sent more often',
    async check(modules) {
      const world = new World(modules)
      const store = createMemoryStore()
      const own = modules.store.createPaymentStore(store, async () => 'payments', world.clock)
      const sent = await own.beforeSend(row('payment'))
      await store.set('payments', '[{"newer":true}]')
      const ofNewer = await own.removeUnlessSent(sent)
      await store.set('payments', '[]')
      const settled = await own.removeUnlessSent(sent)
      return [
        ...expect(ofNewer === 'sent', `of a newer version: ${ofNewer}`),
        ...expect(settled === 'missing', `settled by another tab: ${settled}`),
      ]
    },
    mistakes: [
      {
        mistake: 'it is settled',
        file: STORE,
        text: "if (known === undefined && problem !== null) return { list, result: 'sent' as const }",
        by: '',
      },
    ],
  },
  {
    rule: 'a store that fails says nothing of a payment that an earlier call may have sent',
    async check(modules) {
      const world = new World(modules)
      const offer = await world.offer()
      const failing: Store = {
        get: async () => {
          throw new Error('broken')
        },
        set: async () => {},
      }
      const client = world.client({ user: 'alice', store: failing })
      const stateOf = async (call: Promise<unknown>): Promise<string> => {
        const { code, payment, definite } = membersOf(await endOf(call))
        return `${code} ${payment} ${definite}`
      }
      const isNew = await stateOf(client.transfer(offerOf(world)))
      const own = await stateOf(client.transfer({ ...offerOf(world), trackingId: 'own' }))
      const accept = await stateOf(client.acceptTransfer(offer))
      return [
        ...expect(isNew === 'STORE_UNAVAILABLE not-paid true', `a new id: ${isNew}`),
        ...expect(own === 'STORE_UNAVAILABLE unknown false', `an own id: ${own}`),
        ...expect(accept === 'STORE_UNAVAILABLE unknown false', `an answer: ${accept}`),
      ]
    },
    mistakes: [
      {
        mistake: 'its error is definite',
        file: PAYMENTS,
        text: "throw withPayment(error, isNew ? 'not-paid' : 'unknown')",
        by: "throw withPayment(error, 'not-paid')",
      },
    ],
  },
  {
    rule: 'processes with one store change it one after the other',
    async check(modules, tab) {
      const values = new Map<string, string>()
      let last: Promise<unknown> = Promise.resolve()
      const open = (): Store => ({
        ...slowStore(values, []),
        exclusively(run) {
          const running = last.then(run)
          last = running.catch(() => {})
          return running
        },
      })
      const stored = await storedByTabs(modules, tab, open)
      return expect(stored === BOTH, `the store has ${stored}`)
    },
    mistakes: [
      {
        mistake: 'the lock of the store is not used',
        file: STORE,
        text: 'store.exclusively?.(locked) ?? locked()',
        by: 'locked()',
      },
    ],
  },
  {
    rule: 'a user has a limited number of payments whose records are kept',
    async check(modules) {
      const world = new World(modules)
      world.kept = 10_000
      const end = await world.client({ user: 'alice' }).transfer(offerOf(world))
      const code = end.kind === 'done' ? 'done' : end.error.code
      return [
        ...expect(code === 'LIMIT_EXCEEDED', `above the limit: ${code}`),
        ...expect(ofAlice(world) === 0, 'paid above the limit'),
      ]
    },
    mistakes: [
      {
        mistake: 'the records of a user are not counted',
        file: WALLET,
        text: 'if ((await store.count(payment.user.userId)) >= PAYMENTS_PER_USER_MAX)',
        by: 'if (payment === null)',
      },
    ],
  },
  {
    rule: 'a transfer ends at most 30 days ahead, which is checked before it is sent',
    async check(modules) {
      const world = new World(modules)
      const late = world.nowMicros() + PAYMENT_EXPIRY_MICROS_MAX + DAY_MICROS
      const client = world.client({ user: 'alice' })
      const offer = { ...offerOf(world), expiresAt: formatInstant(late) }
      const end = await endOf(client.transfer(offer))
      const wasSent = world.requests > 0
      // A client with a clock that is a month ahead sends it.
      const ahead = world.client({ user: 'alice', skewMicros: PAYMENT_EXPIRY_MICROS_MAX })
      const other = kindOf(await endOf(ahead.transfer(offer)))
      return [
        ...expect(kindOf(end) === 'INVALID_ARGUMENT' && !wasSent, `sent: ${kindOf(end)}`),
        ...expect(other === 'refused', `the validator: ${other}`),
        ...expect(ofAlice(world) === 0, 'paid'),
      ]
    },
    mistakes: [
      {
        mistake: 'the client does not check the expiry',
        file: PAYMENTS,
        text: 'if (expiresAt > now + PAYMENT_EXPIRY_MICROS_MAX)',
        by: 'if (expiresAt < 0)',
      },
      {
        mistake: 'the validator does not check the expiry',
        file: TRANSFERS,
        text: 'if (executeBefore > now + PAYMENT_EXPIRY_MICROS_MAX)',
        by: 'if (executeBefore < 0)',
      },
    ],
  },
  {
    rule: 'a repeat with other content pays nothing, and has a code of its own',
    async check(modules) {
      const world = new World(modules)
      const expiresAt = formatInstant(world.nowMicros() + DAY_MICROS)
      const offer = { ...offerOf(world), expiresAt, trackingId: 'own' }
      await world.client({ user: 'alice' }).transfer(offer)
      const other = await world.client({ user: 'alice' }).transfer({ ...offer, coin: '8' })
      const code = other.kind === 'refused' ? other.error.code : other.kind
      return [
        ...expect(code === 'PAYMENT_DIFFERS', `other content: ${code}`),
        ...expect(ofAlice(world) === 1, `paid ${ofAlice(world)} times`),
      ]
    },
    mistakes: [
      {
        mistake: 'the content is not compared',
        file: WALLET,
        text: 'if (record.content === content)',
        by: 'if (record.content !== null)',
      },
    ],
  },
  {
    rule: 'a repeated tap has the first result',
    async check(modules) {
      const world = new World(modules)
      const tap = { usd: '1', commandId: 'tap' }
      const [first, second] = [
        await world.client({ user: 'alice' }).tap(tap),
        await world.client({ user: 'alice' }).tap(tap),
      ]
      const { status } = world.lastAnswer
      const isSame =
        first.kind === 'done' && second.kind === 'done' && first.updateId === second.updateId
      return [
        ...expect(isSame, `first ${first.kind}, then ${second.kind}`),
        ...expect(status === 200, `the answer has status ${status}`),
      ]
    },
    mistakes: [
      {
        mistake: 'a repeated tap is a duplicate',
        file: COINS,
        text: 'if (first != null) return first as TapOutcome',
        by: '',
      },
    ],
  },
  {
    rule: 'another validator shows a payment by its sender and tracking id',
    async check(modules) {
      const world = new World(modules)
      const store = createMemoryStore()
      world.fail({ answer: 'lost', effect: 'now' })
      await world.client({ user: 'alice', store }).transfer(offerOf(world))
      world.hidesCommandIds = true
      const [left] = await world.client({ user: 'alice', store }).unfinished()
      const end =
        left === undefined ? 'nothing is left' : kindOf(await left.settle({ send: false }))
      return expect(end === 'done', `at another validator: ${end}`)
    },
    mistakes: [
      {
        mistake: 'only command ids are searched',
        file: SEARCH,
        text: "payment.kind === 'transfer' &&",
        by: 'payment.kind === null &&',
      },
    ],
  },
  {
    rule: 'while the search is incomplete the result is unknown',
    async check(modules) {
      const world = new World(modules)
      const store = createMemoryStore()
      world.fail({ answer: 'lost', effect: 'now' })
      await world.client({ user: 'alice', store }).transfer(offerOf(world))
      world.advance(2 * DAY_MICROS)
      world.hidesUpdates = true
      const [left] = await world.client({ user: 'alice', store }).unfinished()
      const end =
        left === undefined ? 'nothing is left' : kindOf(await left.settle({ send: false }))
      return expect(end === 'unknown', `without the updates: ${end}`)
    },
    mistakes: [
      {
        mistake: 'a search that fails has found nothing',
        file: SEARCH,
        text: "if (code === 'PARTICIPANT_PRUNED_DATA_ACCESSED') return { kind: 'pruned' }",
        by: "return { kind: 'none', end: Number.MAX_SAFE_INTEGER }",
      },
    ],
  },
  {
    rule: 'a payment reports its steps, also one that an earlier call completed',
    async check(modules) {
      const world = new World(modules)
      const store = createMemoryStore()
      const steps: string[] = []
      const onProgress = ({ step, isResumed }: PaymentProgress) => {
        steps.push(isResumed ? `${step} before` : step)
      }
      world.fail({ answer: 'lost', effect: 'now' })
      await world.client({ user: 'alice', store }).transfer(offerOf(world), { onProgress })
      const first = steps.splice(0).join()
      const [left] = await world.client({ user: 'alice', store }).unfinished()
      await left?.settle({ onProgress })
      const second = steps.splice(0).join()
      await world.client({ user: 'alice' }).transfer(offerOf(world), { onProgress })
      return [
        ...expect(first === 'stored,sent', `without an answer: ${first}`),
        ...expect(second === 'stored before,sent before,done before', `settled: ${second}`),
        ...expect(steps.join() === 'stored,sent,done', `with an answer: ${steps.join()}`),
      ]
    },
    mistakes: [
      {
        mistake: 'the end is not reported',
        file: PAYMENTS,
        text: "if (result.kind === 'done') onProgress({ step: 'done', isResumed })",
        by: '',
      },
    ],
  },
  {
    rule: 'a renewal that arrives in the next window pays for no further period',
    async check(modules) {
      const world = new World(modules)
      const name = 'a.unverified.ns'
      const after = world.ownName(name)
      const client = world.client({ user: 'alice' })
      world.fail({ answer: 'lost', effect: 'later' })
      const first = await client.renew(name, { after, timeoutMs: WAIT_MS })
      const end = first.kind === 'unknown' ? await first.settle({ timeoutMs: WAIT_MS }) : first
      world.advance(90 * DAY_MICROS)
      await world.deliver()
      await client.unfinished()
      const paid = world.collected('SubscriptionPayment_Collect').length
      return [
        ...expect(end.kind === 'done', `the repeat: ${end.kind}`),
        ...expect(paid === 1, `paid ${paid} times`),
      ]
    },
    mistakes: [
      {
        mistake: 'the request names the subscription alone',
        file: 'sdk/src/wallet/renewal.ts',
        text: 'await wallet.paySubscription(stateCid, call())',
        by: 'await wallet.paySubscription(before.subscription.contractId, call())',
      },
    ],
  },
  {
    rule: 'a record is kept until the expiry and a day, and a repeat has its first result',
    async check(modules) {
      const world = new World(modules)
      const expiresAt = formatInstant(world.nowMicros() + HOUR_MICROS)
      const offer = { ...offerOf(world), expiresAt, trackingId: 'own' }
      const first = await world.client({ user: 'alice' }).transfer(offer)
      world.advance(24 * HOUR_MICROS)
      const again = await world.client({ user: 'alice' }).transfer(offer)
      const isSame =
        first.kind === 'done' &&
        again.kind === 'done' &&
        first.updateId === again.updateId &&
        first.offset === again.offset &&
        JSON.stringify(first.result.output) === JSON.stringify(again.result.output)
      return expect(isSame, `first ${first.kind}, then ${again.kind}`)
    },
    mistakes: [
      {
        mistake: 'the record is deleted at the expiry',
        file: WALLET,
        text: 'const KEPT_AFTER_EXPIRY_MICROS = 86_400_000_000',
        by: 'const KEPT_AFTER_EXPIRY_MICROS = 0',
      },
      {
        mistake: 'the refusal does not have the first result',
        file: WALLET,
        text: '      result,\n    }\n    if (record.content',
        by: '    }\n    if (record.content',
      },
      {
        mistake: 'the first result in a refusal is not used',
        file: PAYMENTS,
        text: "if (error.code === 'DUPLICATE_COMMAND' && first != null) return done(payment, first, signal)",
        by: '',
      },
    ],
  },
  {
    rule: 'a state that is not proven settles nothing, and a name is not paid without one',
    async check(modules) {
      const world = new World(modules)
      const client = world.client({ user: 'alice' })
      world.fail({ answer: 'lost', effect: 'none' })
      const sent = await client.transfer(offerOf(world))
      world.advance(2 * DAY_MICROS)
      world.hidesState = true
      const settled = async () =>
        sent.kind === 'unknown' ? kindOf(await sent.settle({ send: false })) : sent.kind
      const hidden = await settled()
      const before = world.paymentRequests
      await endOf(client.register({ name: 'a.unverified.ns' }, { timeoutMs: WAIT_MS }))
      const wasPaid = world.paymentRequests > before
      world.hidesState = false
      const shown = await settled()
      return [
        ...expect(hidden === 'unknown', `without a state: ${hidden}`),
        ...expect(!wasPaid, 'paid for a name that may be taken'),
        ...expect(shown === 'refused', `with a state: ${shown}`),
      ]
    },
    mistakes: [
      {
        mistake: 'the clock of the device is a proof',
        file: PAYMENTS,
        text: 'return facts === null || recordTime === undefined ? null : { recordTime, offset: facts.offset }',
        by: 'return { recordTime: recordTime ?? clock.nowMicros(), offset: facts?.offset ?? 0 }',
      },
      {
        mistake: 'a name whose state is not proven is free',
        file: 'sdk/src/wallet/own-names.ts',
        text: 'throw outcome.error',
        by: 'return null',
      },
    ],
  },
  {
    rule: 'a name is not known to be unpaid before the first read of it',
    async check(modules) {
      const world = new World(modules)
      const client = world.client({ user: 'alice' })
      world.fail({ answer: 'lost', effect: 'none', isLasting: true, meets: () => true })
      const calls = [
        client.register({ name: 'a.unverified.ns' }),
        client.renew('a.unverified.ns'),
        client.transfer({ ...offerOf(world), trackingId: 'own' }),
      ]
      const ends = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)))
      return ends.flatMap((end) => {
        const { payment, definite } = membersOf(end)
        return expect(payment === 'unknown' && definite === false, `${payment}, ${definite}`)
      })
    },
    mistakes: [
      {
        mistake: 'an error stays definite whose payment is unknown',
        file: 'sdk/src/wallet/payment-state.ts',
        text: "const definite = error.definite && payment !== 'unknown'",
        by: 'const { definite } = error',
      },
      {
        mistake: 'a registration begins as unpaid',
        file: 'sdk/src/wallet/registration.ts',
        text: "onPayment('unknown') // An earlier call may have paid.",
        by: '',
      },
      {
        mistake: 'a renewal begins as unpaid',
        file: 'sdk/src/wallet/renewal.ts',
        text: 'isUnknown = true // An earlier call may have paid.',
        by: '',
      },
    ],
  },
  {
    rule: 'a user without a party gets one with the first payment, and with a name',
    async check(modules) {
      const ofRegister = (call: string) => call === 'POST /v0/register'
      const paying = new World(modules)
      paying.fail({ answer: 'lost', effect: 'now', meets: ofRegister })
      const tap = kindOf(await endOf(paying.client({ user: 'carol' }).tap({ usd: '1' })))
      const party = await paying.wallet('carol').party()
      const naming = new World(modules)
      // It has no coin.
      const name = await endOf(
        naming.client({ user: 'carol' }).register({ name: 'a.unverified.ns' }),
      )
      const code = memberOf(name, 'error', 'code')
      return [
        ...expect(tap === 'done', `a tap: ${tap}`),
        ...expect(party === paying.carol.party, `the party is ${party}`),
        ...expect(code === 'INSUFFICIENT_FUNDS', `a name: ${kindOf(name)} ${code}`),
      ]
    },
    mistakes: [
      {
        mistake: 'a payment makes no party',
        file: PAYMENTS,
        text: 'const party = (await partyOf(options)) || (await wallet.party(options))',
        by: 'const party = await partyOf(options)',
      },
      {
        mistake: 'a registration makes no party',
        file: 'sdk/src/wallet/ensure-party.ts',
        text: "return partyId === '' ? await wallet.party(call()) : partyId",
        by: 'return partyId',
      },
      {
        mistake: 'the request of a party is not repeated',
        file: CLIENT,
        text: 'const asked = { ...options, isSafe: true }',
        by: 'const asked = { ...options }',
      },
    ],
  },
  {
    rule: 'offers of a sender are those to the user, whatever else the sender offers',
    async check(modules) {
      const world = new World(modules)
      const bob = world.client({ user: 'bob' })
      for (const coin of ['1', '3', '2'])
        await bob.transfer({ receiver: parseParty(world.alice.party), coin })
      await bob.transfer({ receiver: parseParty(world.carol.party), coin: '9' })
      await world.client({ user: 'alice' }).transfer(offerOf(world))
      const list = async (...asked: Parameters<ReturnType<World['wallet']>['transfers']>) => {
        const offers = await world.wallet('alice').transfers(...asked)
        return offers.map(({ payload }) => Number(memberOf(payload['transfer'], 'amount'))).join()
      }
      const sender = world.bob.party
      const [all, ofBob] = [await list(), await list({ sender })]
      const [largest, two] = [await list({ sender, order: 'amount' }), await list({ limit: 2 })]
      return [
        ...expect(all === '7,2,3,1', `all: ${all}`),
        ...expect(ofBob === '2,3,1', `of bob: ${ofBob}`),
        ...expect(largest === '3,2,1', `the largest of bob: ${largest}`),
        ...expect(two === '7,2', `the newest two: ${two}`),
      ]
    },
    mistakes: [
      {
        mistake: 'the user sees offers to others',
        file: TRANSFERS,
        text: 'return offers.filter((offer) => sender === party || offer.observers.includes(party))',
        by: 'return offers.filter(() => party)',
      },
      {
        mistake: 'offers of a sender have no order',
        file: TRANSFERS,
        text: 'contracts.toSorted((a, b) => Number(amountOf(b) - amountOf(a)))',
        by: 'contracts.filter(amountOf)',
      },
      {
        mistake: 'the sender is not asked for',
        file: CLIENT,
        text: 'query: { ...query, sender } }',
        by: 'query }',
      },
    ],
  },
]
