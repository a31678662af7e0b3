/**
 * One validator, two users and their clients in one process. The wallet, the ledger and the payments of the SDK are the
 * real ones; the log and the stores are in memory, and one clock moves all sides. Faults happen where a client sends, and
 * where the validator submits.
 */
import { isScanError, ScanError, toErrorBody } from '@quorumscan/errors'
import {
  ansEntry,
  collectRenewalCommand,
  dsoRules,
  errorCodeOf,
  expireTransferCommand,
  type Ledger,
  payloadOf,
  subscriptionInitialPayment,
  subscriptionPayment,
  transferInstruction,
} from '@quorumscan/ledger'
import { type Actor, Scenario } from '@quorumscan/ledger/testing'
import type { CompletionRecord, DamlValue, EntryResult, LedgerEvent } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { AutoRenewal, PaymentRecord, PaymentsReached } from '@quorumscan/users'
import { formatInstant, membersOf } from '@quorumscan/verifier'
import type * as walletModule from '@quorumscan/wallet'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { transient } from '../../sdk/src/errors.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { createHttp } from '../../sdk/src/http/http.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { Clock } from '../../sdk/src/platform/clock.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { parseParty } from '../../sdk/src/platform/parse-party.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { createMemoryStore, type Store } from '../../sdk/src/platform/store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { parseContractId } from '../../sdk/src/platform/values.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type * as storeModule from '../../sdk/src/wallet/payment-store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type * as paymentsModule from '../../sdk/src/wallet/payments.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type * as clientModule from '../../sdk/src/wallet/wallet.ts'
import { createWalletReads, type WalletReads } from './wallet-reads.ts'

/** Modules of a run: the real ones, or mutants. */
export type Modules = {
  readonly wallet: Pick<
    typeof walletModule,
    'createPayments' | 'walletHandlers' | 'createPartyQueue'
  >
  readonly client: Pick<typeof clientModule, 'createWallet'>
  readonly payments: Pick<typeof paymentsModule, 'createPayments'>
  readonly store: Pick<typeof storeModule, 'createPaymentStore'>
}

/** What the client receives in place of the answer. */
export type Answer =
  | 'lost'
  | 'half'
  | 'silence'
  | 'never'
  | 'html'
  | {
      readonly status: number
      readonly code: string
      readonly definite: boolean
      readonly retryable?: boolean
    }

/** One fault of the next request. `effect`: whether the validator executes it at once, later or never. */
export type Fault = {
  readonly answer: Answer
  readonly effect: 'none' | 'now' | 'later'
  /** Of all such requests, until `heal`. */
  readonly isLasting?: boolean
  /** Whether it meets a request, such as `POST /v0/register`. Default: those that pay. */
  readonly meets?: (call: string) => boolean
}

/** Whether a request pays. */
export function pays(call: string): boolean {
  return PAYMENTS.test(call)
}

/** Longer than the pauses of clients, and shorter than their deadlines. */
const PAUSE_MS_MAX = 5_000

/** A clock whose pauses end at once, without time of the log, and whose deadlines end by `expire`. */
export function createTestClock(nowMicros: () => number): { clock: Clock; expire(): void } {
  const deadlines = new Set<() => void>()
  let waitedMs = 0
  return {
    clock: {
      nowMicros,
      monotonicMs: () => nowMicros() / 1000 + waitedMs,
      delay(ms, signal) {
        if (ms < PAUSE_MS_MAX) {
          waitedMs += ms
          return Promise.resolve()
        }
        return new Promise((resolve, reject) => {
          deadlines.add(resolve)
          signal?.addEventListener('abort', () => {
            deadlines.delete(resolve)
            reject(signal.reason)
          })
        })
      },
    },
    expire() {
      for (const end of deadlines) end()
    },
  }
}

const MINUTE_MICROS = 60_000_000
export const PERIOD_MICROS = 10 * MINUTE_MICROS
const URL_OF_VALIDATOR = 'https://validator.test'
const SUBMIT_MICROS = 15_000_000

/** carol has no party at first. */
type User = 'alice' | 'bob' | 'carol'
type ScenarioOptions = NonNullable<ConstructorParameters<typeof Scenario>[0]>
type Payments = ReturnType<typeof walletModule.createPayments>
type Body = Readonly<Record<string, unknown>>
type Handler = (request: {
  readonly user: { readonly userId: string }
  readonly body: Body | null
  readonly params: { readonly contract_id: string }
  readonly query: Body
  readonly countRows: (count: number) => void
  readonly signal: AbortSignal
}) => Promise<{ readonly body: unknown }>

export class World {
  readonly #modules: Modules
  readonly scenario: Scenario
  readonly alice: Actor
  readonly bob: Actor
  readonly carol: Actor
  /** Users with a party. */
  readonly #registered = new Set<User>(['alice', 'bob'])
  /** Requests that a network or a paused synchronizer delivers later. */
  readonly #later: (() => Promise<unknown>)[] = []
  readonly #ofLedger: ReturnType<typeof transactionOf>[] = []
  /** How many entries of the log `#ofLedger` includes. */
  #converted = 0
  #records = new Map<string, PaymentRecord>()
  #reached: PaymentsReached | null = null
  /** Of the validator. */
  #payments: Payments
  #handlers: Readonly<Record<string, Handler>>
  #fault: Fault | null = null
  readonly #time = createTestClock(() => this.nowMicros())
  /** Of clients whose device has the right time. */
  readonly clock = this.#time.clock
  /** Ends all deadlines. */
  readonly expire = this.#time.expire
  /** Requests of all clients, those that pay, and the newest answer. */
  requests = 0
  paymentRequests = 0
  lastAnswer = new Response()
  /** Records of payments that the validator keeps in addition. */
  kept = 0
  /** As at a validator that did not submit the payments. */
  hidesCommandIds = false
  /** The ledger interface answers no search. */
  hidesUpdates = false
  /** Not enough nodes sign a state. */
  hidesState = false
  /** Submissions of the validator are held, and get into the log if they are delivered in time. */
  isPaused = false

  /** @param names - Other rules of names. */
  constructor(modules: Modules, names: NonNullable<ScenarioOptions['names']> = {}) {
    this.#modules = modules
    this.scenario = new Scenario({ deduplicationMicrosMax: PERIOD_MICROS, names })
    this.alice = this.scenario.actor('alice', 'validator')
    this.bob = this.scenario.actor('bob', 'validator')
    this.carol = this.scenario.actor('carol', 'validator')
    for (const actor of [this.alice, this.bob]) this.scenario.tap(actor, '1000.0')
    this.#payments = this.#openPayments()
    this.#handlers = this.#openHandlers()
  }

  nowMicros(): number {
    return this.scenario.ledger.head().recordTime
  }

  advance(micros: number): void {
    this.scenario.ledger.advance(micros)
  }

  fail(fault: Fault): void {
    this.#fault = fault
  }

  /** Ends a fault that lasts. */
  heal(): void {
    this.#fault = null
  }

  /** Whether the platform reports that the device has no network. */
  setOffline(isOffline: boolean): void {
    setNavigator({ onLine: !isOffline, locks: null })
  }

  /** The Web Locks of the platform. */
  setLocks(locks: { request(): Promise<unknown> } | null): void {
    setNavigator({ onLine: true, locks })
  }

  /** Delivers what is under way. */
  async deliver(): Promise<void> {
    this.isPaused = false
    for (const send of this.#later.splice(0)) await send()
  }

  /** The process is killed and starts again. `isRestored`: from a backup before the payment. */
  restart(isRestored: boolean): void {
    if (isRestored) {
      this.#records = new Map()
      this.#reached = null
    }
    this.#payments = this.#openPayments()
    this.#handlers = this.#openHandlers()
  }

  /** Offsets of the user's accepted submissions whose command ids begin with the text. */
  effects(userId: string, prefix: string): number[] {
    return this.scenario.ledger.results().flatMap((result, index) => {
      if (result.kind !== 'accepted') return []
      const { completion } = result
      const isOne = completion.userId === userId && completion.commandId.startsWith(prefix)
      return isOne ? [index + 1] : []
    })
  }

  /** Offsets at which coin of a user's name was collected. */
  collected(choice: string): number[] {
    return this.scenario.ledger.results().flatMap((result, index) => {
      if (result.kind !== 'accepted') return []
      const { events } = result.update
      const isOne = events.some((event) => event.kind === 'exercised' && event.choice === choice)
      return isOne ? [index + 1] : []
    })
  }

  /** Alice owns a name whose next period can be paid. @returns When it expires. */
  ownName(name: string): string {
    this.scenario.register(this.alice, name)
    this.advance(61 * 24 * 60 * MINUTE_MICROS)
    const [entry] = this.scenario.ledger.all(ansEntry)
    return formatInstant(entry?.payload.expiresAt ?? 0)
  }

  /** The wallet of a user. */
  wallet(user: User) {
    return this.#modules.client.createWallet(this.#http(user, this.clock))
  }

  /** A client of a user: a page, a tab or a device. */
  client(options: {
    readonly user: User
    readonly store?: Store
    readonly skewMicros?: number
  }): paymentsModule.Payments {
    const { user, store = createMemoryStore(), skewMicros = 0 } = options
    const clock: Clock = { ...this.clock, nowMicros: () => this.nowMicros() + skewMicros }
    const http = this.#http(user, clock)
    return this.#modules.payments.createPayments({
      http,
      wallet: this.#modules.client.createWallet(http),
      names: {
        lookup: async (name) => this.#lookup(name) as never,
        acceptChange: async () => {},
      },
      clock,
      timeoutMs: 10_000,
      store: this.#modules.store.createPaymentStore(store, async () => 'payments', clock),
      url: URL_OF_VALIDATOR,
    })
  }

  #http(user: User, clock: Clock) {
    return createHttp({
      url: URL_OF_VALIDATOR,
      ledgerUrl: URL_OF_VALIDATOR,
      token: user,
      fetchOf: async () => (input, init) => this.#fetch(user, String(input), init ?? {}),
      clock,
      random: () => 0.5,
      timeoutMs: 10_000,
    })
  }

  /** An open offer of bob to alice. */
  async offer(): Promise<ReturnType<typeof parseContractId>> {
    const made = await this.client({ user: 'bob' }).transfer({
      receiver: parseParty(this.alice.party),
      coin: '5',
      expiresAt: formatInstant(this.nowMicros() + 10 * 24 * 60 * MINUTE_MICROS),
    })
    if (made.kind !== 'done') throw made.error
    const { output } = made.result
    return parseContractId('transferInstructionCid' in output ? output.transferInstructionCid : '')
  }

  /** The newest state that enough nodes signed. */
  #lookup(name: string) {
    if (this.hidesState) {
      const error = transient('NOT_ENOUGH_NODES', 'No state has enough signatures.')
      return { kind: 'failed', error, facts: null }
    }
    const { ledger } = this.scenario
    const { offset, recordTime } = ledger.head()
    const proven = { offset, recordTime: formatInstant(recordTime) }
    const found = ledger
      .all(ansEntry)
      .find(({ payload }) => payload.name === name && payload.expiresAt > recordTime)
    if (found === undefined) return { kind: 'proven', value: null, ...proven }
    const { user, url, description, expiresAt } = found.payload
    const { contractId } = found
    const entry = { name, party: user, url, description, contractId }
    return {
      kind: 'proven',
      value: { ...entry, expiresAt: formatInstant(expiresAt) },
      ...proven,
    }
  }

  /**
   * What automation does: super-validators collect the coin of names and renewals, and the validator ends expired offers and
   * deletes records that it need not keep.
   */
  async #automate(): Promise<void> {
    const { scenario } = this
    const [sv] = scenario.svs
    await this.#payments.forgetExpired()
    if (this.isPaused || sv === undefined) return
    for (const actor of [this.alice, this.bob])
      for (const offer of scenario.ledger.byKey(`offers:${actor.party}`)) {
        const { executeBefore } = payloadOf(transferInstruction, offer).transfer
        if (executeBefore > this.nowMicros()) continue
        const { contractId: instruction } = offer
        scenario.do(actor, expireTransferCommand({ instruction, actor: actor.party }))
      }
    for (const { contractId } of scenario.ledger.all(subscriptionInitialPayment))
      scenario.resolve(contractId)
    const rules = scenario.the(dsoRules)
    for (const { contractId: payment } of scenario.ledger.all(subscriptionPayment))
      scenario.do(sv, collectRenewalCommand({ dsoRules: rules, sv: sv.party, payment }))
  }

  async #fetch(user: string, url: string, init: RequestInit): Promise<Response> {
    this.requests++
    this.lastAnswer = await this.#respond(user, url, init)
    return this.lastAnswer
  }

  async #respond(user: string, url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(url)
    const body: Body | null = typeof init.body === 'string' ? JSON.parse(init.body) : null
    const query = Object.fromEntries(
      [...searchParams].map(([name, text]) => [name, name === 'page_size' ? Number(text) : text]),
    )
    const call = `${init.method} ${pathname}`
    const run = () => this.#answer(user, call, { body, query })
    await this.#automate()
    if (pays(call)) this.paymentRequests++
    const { meets = pays } = this.#fault ?? {}
    const fault = meets(call) ? this.#fault : null
    if (fault === null) return run()
    if (fault.isLasting !== true) this.#fault = null
    if (fault.effect === 'now') await run()
    if (fault.effect === 'later') this.#later.push(run)
    return this.#faulty(fault.answer)
  }

  #faulty(answer: Answer): Promise<Response> | Response {
    if (answer === 'lost') throw new TypeError('fetch failed')
    if (answer === 'half') return new Response('{"output":{"transfer_inst')
    if (answer === 'never') return new Promise(() => {})
    if (answer === 'html') return new Response('<h1>Bad Gateway</h1>', { status: 502 })
    if (answer === 'silence') {
      setImmediate(this.expire)
      return new Promise(() => {})
    }
    const { status, code, definite, retryable = false } = answer
    const error = { error: code, code, definite, retryable, request_id: 'r', details: null }
    return Response.json(error, { status })
  }

  async #answer(
    user: string,
    call: string,
    { body, query }: { readonly body: Body | null; readonly query: Body },
  ): Promise<Response> {
    const found = ROUTES.find(([pattern]) => pattern.test(call))
    if (found === undefined) return this.#readLedger(call, body)
    const [pattern, operation] = found
    const [, contractId = ''] = pattern.exec(call) ?? []
    try {
      const handler = this.#handlers[operation] as Handler
      const { signal } = new AbortController()
      const params = { contract_id: decodeURIComponent(contractId) }
      const countRows = () => {}
      const answered = await handler({
        user: { userId: user },
        body,
        params,
        query,
        countRows,
        signal,
      })
      return answered.body === null
        ? new Response(null, { status: 200 })
        : Response.json(answered.body)
    } catch (error) {
      if (!isScanError(error) && (error as Error).name !== 'ScanError') throw error
      const { spec } = error as ScanError
      return Response.json(toErrorBody(error as ScanError, 'r'), { status: spec.httpStatus })
    }
  }

  /** What the SDK reads of the ledger interface. */
  #readLedger(call: string, body: Body | null): Response {
    const { ledger } = this.scenario
    const { offset: end } = ledger.head()
    if (call === 'GET /v2/state/ledger-end') return Response.json({ offset: end })
    const transactions = this.#transactions()
    if (call === 'POST /v2/updates') {
      if (this.hidesUpdates) return new Response('', { status: 502 })
      const { beginExclusive, endInclusive } = membersOf(body)
      const range = transactions.filter(
        ({ offset }) => offset > Number(beginExclusive) && offset <= Number(endInclusive),
      )
      return Response.json(
        range.slice(0, 200).map((value) => ({
          update: {
            Transaction: { value: this.hidesCommandIds ? { ...value, commandId: '' } : value },
          },
        })),
      )
    }
    const { contractId } = membersOf(body)
    const archiving = transactions.find(({ events }) =>
      events.some(
        (event) => 'ExercisedEvent' in event && isEndOf(event.ExercisedEvent, String(contractId)),
      ),
    )
    const created = transactions
      .flatMap(({ events }) => events)
      .flatMap((event) => ('CreatedEvent' in event ? [event.CreatedEvent] : []))
      .find((event) => event.contractId === contractId)
    const archivedEvent = { ...created, offset: archiving?.offset, implementedInterfaces: [] }
    return Response.json({
      created: { createdEvent: created, synchronizerId: 's' },
      archived: archiving === undefined ? null : { archivedEvent, synchronizerId: 's' },
    })
  }

  #transactions() {
    const { ledger } = this.scenario
    const results = ledger.results()
    for (let index = this.#converted; index < results.length; index++) {
      const [result, entry] = [results[index], ledger.entries()[index]]
      if (result?.kind === 'accepted' && entry !== undefined)
        this.#ofLedger.push(transactionOf(result, entry.offset, entry.recordTime))
    }
    this.#converted = results.length
    return this.#ofLedger
  }

  #openPayments(): Payments {
    const { ledger } = this.scenario
    const { publicKey: participant } = this.alice.keyPair
    const completions = (): CompletionRecord[] =>
      ledger.results().flatMap((result, index) => {
        const entry = ledger.entries()[index]
        if (entry === undefined || result.kind !== 'accepted') return []
        const { completion, update } = result
        const outcome = { kind: 'accepted', updateId: update.updateId } as const
        const { offset, recordTime } = entry
        return [{ offset, recordTime, entryHash: '', completion, outcome }]
      })
    return this.#modules.wallet.createPayments({
      participant,
      store: {
        find: async (id) => this.#records.get(id) ?? null,
        count: async () => this.#records.size + this.kept,
        reached: async () => this.#reached,
        record: async (records, reached) => {
          for (const record of records)
            if (!this.#records.has(record.changeId)) this.#records.set(record.changeId, record)
          this.#reached = reached
        },
        forget: async (recordTime) => {
          for (const [id, { keptUntil }] of this.#records)
            if (keptUntil < recordTime) this.#records.delete(id)
        },
      },
      history: {
        head: () => ledger.head(),
        completions: async ({ after, upTo, limit }) =>
          completions()
            .filter(({ offset }) => offset > after && offset <= upTo)
            .slice(0, limit),
        prunedOffset: async () => 0,
        resultAt: async (offset) => {
          const result = ledger.results()[offset - 1]
          const first = result?.kind === 'accepted' ? result.update.events[0] : undefined
          return first?.kind === 'exercised' ? membersOf(first.result) : null
        },
        hasParties: async () => true,
      },
    })
  }

  /** The validator's wallet. */
  #openHandlers(): Readonly<Record<string, Handler>> {
    const { ledger } = this.scenario
    const { wallet } = this.#modules
    const renewals = new Map<string, AutoRenewal>()
    const reads = createWalletReads(ledger)
    const port: Ledger & Pick<Replica, 'contractsByKeys'> & WalletReads = {
      ...reads,
      async contractsByKeys(keys, { limit = Number.MAX_SAFE_INTEGER } = {}) {
        const lists = await Promise.all(keys.map((key) => reads.listContracts([key], { limit })))
        return { ...ledger.head(), contracts: lists.map(({ contracts }) => contracts) }
      },
      head: () => ledger.head(),
      contracts: async (ids) => ids.map((id) => ledger.contract(id)),
      contractsByKey: async (key, { limit = Number.MAX_SAFE_INTEGER } = {}) =>
        (await reads.listContracts([key], { limit })).contracts,
      totals: async (keys) => ledger.totals(keys),
      isPartyAllocated: async (party) => ledger.isPartyAllocated(party),
      dueItems: async () => [],
      dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
      onApplied: () => () => {},
    }
    const parts = {
      ledger: port,
      payments: this.#payments,
      registration: {
        register: async (userId: User) => {
          this.#registered.add(userId)
          return this[userId].party
        },
      },
      queue: wallet.createPartyQueue(),
      autoRenewals: {
        find: async (references: readonly string[]) =>
          references.map((reference) => renewals.get(reference) ?? null),
        set: async (reference: string, renewal: AutoRenewal | null) => {
          if (renewal === null) renewals.delete(reference)
          else renewals.set(reference, renewal)
        },
      },
      mayAct: async () => true,
      submitter: {
        dryRun: async () => null,
        submit: async (input: Parameters<Scenario['ledger']['submit']>[0]) => this.#submit(input),
      },
      now: () => this.nowMicros(),
      assertLive: () => {},
      users: {
        get: async (userId: User) => {
          const { party } = this[userId]
          const primaryParty = this.#registered.has(userId) ? party : null
          const user = { id: userId, primaryParty, isDeactivated: false }
          return { user, rights: [{ kind: 'CanActAs', party }] }
        },
      },
      genesis: { synchronizerId: '' },
    }
    // It has what the routes of ROUTES use.
    return wallet.walletHandlers(parts as never) as never
  }

  /** As the validator submits: with a `notAfter`, and the longest deduplication. */
  async #submit(input: Omit<Parameters<Scenario['ledger']['submit']>[0], 'keyPair'>) {
    const { ledger } = this.scenario
    const { keyPair } = this.alice
    const notAfter = this.nowMicros() + SUBMIT_MICROS
    const deduplication = { kind: 'duration', micros: PERIOD_MICROS } as const
    const bytes = ledger.sign({ ...input, keyPair, deduplication, notAfter })
    if (this.isPaused) {
      this.#later.push(async () => ledger.append(bytes))
      throw new ScanError('SUBMISSION_UNKNOWN', 'the outcome was not seen in time')
    }
    const { result } = ledger.append(bytes)
    if (result.kind === 'accepted') return result.update
    if (result.kind !== 'rejected') throw new ScanError('SUBMISSION_EXPIRED', result.kind)
    throw new ScanError(errorCodeOf(result.code), result.message)
  }
}

/** Requests that pay. */
const PAYMENTS = /^POST .*(\/(tap|transfers)\b|\/subscription-requests\/[^/]+\/accept$|\/pay$)/

const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^POST \/v0\/register$/, 'registerUser'],
  [/^GET \/v0\/wallet\/user-status$/, 'getUserStatus'],
  [/^GET \/v0\/wallet\/balance$/, 'getBalance'],
  [/^POST \/v0\/wallet\/transactions$/, 'listTransactions'],
  [/^GET \/v0\/wallet\/token-standard\/transfers$/, 'listTransfers'],
  [/^POST \/v0\/entry\/create$/, 'createEntry'],
  [/^GET \/v0\/entry\/all$/, 'listOwnEntries'],
  [/^GET \/v0\/wallet\/subscription-requests$/, 'listSubscriptionRequests'],
  [/^POST \/v0\/wallet\/subscription-requests\/([^/]+)\/accept$/, 'acceptSubscriptionRequest'],
  [/^POST \/v0\/wallet\/subscription-requests\/([^/]+)\/reject$/, 'rejectSubscriptionRequest'],
  [/^GET \/v0\/wallet\/subscription-initial-payments$/, 'listInitialPayments'],
  [/^GET \/v0\/wallet\/subscriptions$/, 'listSubscriptions'],
  [/^POST \/v0\/wallet\/subscriptions\/([^/]+)\/pay$/, 'paySubscription'],
  [/^POST \/v0\/wallet\/tap$/, 'tap'],
  [/^POST \/v0\/wallet\/token-standard\/transfers$/, 'createTransfer'],
  [/^POST \/v0\/wallet\/token-standard\/transfers\/([^/]+)\/accept$/, 'acceptTransfer'],
  [/^POST \/v0\/wallet\/token-standard\/transfers\/([^/]+)\/withdraw$/, 'withdrawTransfer'],
  [/^POST \/v0\/wallet\/token-standard\/transfers\/([^/]+)\/reject$/, 'rejectTransfer'],
]

/** To be restored by the test. */
function setNavigator(value: object): void {
  Object.defineProperty(globalThis, 'navigator', { value, configurable: true, writable: true })
}

function isEndOf(event: { contractId: string; consuming: boolean }, contractId: string): boolean {
  return event.consuming && event.contractId === contractId
}

/** A transaction in the form of the ledger interface, with what the SDK checks and reads. */
function transactionOf(
  { completion, update }: Extract<EntryResult, { kind: 'accepted' }>,
  offset: number,
  recordTime: number,
) {
  return {
    updateId: update.updateId,
    commandId: completion.commandId,
    workflowId: '',
    effectiveAt: formatInstant(recordTime),
    offset,
    synchronizerId: 's',
    traceContext: null,
    recordTime: formatInstant(recordTime),
    events: update.events.map((event) => eventOf(event, offset)),
    externalTransactionHash: null,
    paidTrafficCost: null,
  }
}

function eventOf(event: LedgerEvent, offset: number) {
  const { nodeId, contractId } = event
  const shared = {
    offset,
    nodeId,
    contractId,
    templateId: 't',
    packageName: 'q',
    witnessParties: [],
    signatories: [],
    observers: [],
    acsDelta: true,
  }
  if (event.kind === 'created')
    return {
      CreatedEvent: {
        ...shared,
        contractKey: null,
        contractKeyHash: '',
        createdEventBlob: '',
        interfaceViews: [],
        createdAt: '',
        representativePackageId: '',
        createArgument: jsonOf(event.payload),
      },
    }
  const { choice, consuming, lastDescendantNodeId } = event
  return {
    ExercisedEvent: {
      ...shared,
      interfaceId: null,
      choice,
      choiceArgument: {},
      actingParties: [],
      consuming,
      lastDescendantNodeId,
      exerciseResult: jsonOf(event.result),
      implementedInterfaces: [],
    },
  }
}

function jsonOf(value: DamlValue): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)),
  )
}
