/** Rules of payments that no story of one fault shows: each with the mistakes that break it. */
import { formatInstant, PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import type { Mutation } from '@quorumscan/verifier/testing'
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
const DAY_MICROS = 86_400_000_000
/** For all steps of a renewal. */
const WAIT_MS = 6_000
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

const offerOf = (world: World) => ({ receiver: world.bob.party, coin: '7' })
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

const row = (id: string): StoredPayment => ({
  id,
  kind: 'tap',
  party: 'alice',
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
  const list = (await stores[0]?.list('alice')) ?? []
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
        ...expect(kindOf(own) === 'NETWORK_ERROR', `own id offline: ${kindOf(own)}`),
        ...expect(kindOf(name) === 'NETWORK_ERROR', `name offline: ${kindOf(name)}`),
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
]
