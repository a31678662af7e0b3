/**
 * A wallet without processes, for the tests of an application: `@quorumscan/sdk/testing/fakes`. The payments, the store and
 * the judgement of failures are those of the real client; only the validator is in memory.
 */
import { membersOf } from '@quorumscan/verifier'
import { createActivities } from './activities/activities.ts'
import { invalidArgument } from './errors.ts'
import { createFakeLedger, Refusal } from './fake-ledger.ts'
import { createFakeNames, type FakeNames, judgeOfFake } from './fake-names.ts'
import { type FakeErrorCode, serverErrorFacts } from './generated/error-facts.ts'
import { LOOKUPS } from './names/methods.ts'
import type { Names } from './names/names-type.ts'
import { READS_CHECKS } from './names/reads-options.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { lazily } from './platform/load-part.ts'
import { assertOptions, isBoolean, isObject, isOneOf, isText } from './platform/options.ts'
import { parseParty } from './platform/parse-party.ts'
import type { Party } from './platform/party.ts'
import { randomId } from './platform/random.ts'
import { shownValue } from './platform/shown-value.ts'
import type { Store } from './platform/store.ts'
import { microsOf } from './platform/times.ts'
import { type ContractId, compareAmounts, parseAmount } from './platform/values.ts'
import type { Validator } from './validator.ts'
import { createLedgerParts } from './validator-ledger.ts'
import {
  ACTIVITIES,
  BALANCE,
  COMMANDS,
  OWN_NAMES,
  PAYMENTS,
  STREAMS,
  WALLET,
} from './validator-methods.ts'
import { createValidatorHttp } from './validator-parts.ts'
import { createOwnPayments } from './validator-payments.ts'
import { createWallet } from './wallet/wallet.ts'

/**
 * What a request meets. `how`: no answer (`lost`, as of a reset connection), none before the time-out (`silence`), the first
 * half of it (`half`), 502 with HTML of an intermediate server (`html`), or an error of the validator, with the status that
 * it has. `when`: `before` the request has an effect; `during`, it takes effect at `deliver()`; `after` it took effect.
 *
 * A synchronizer that is paused is `{ how: 'SUBMISSION_UNKNOWN', when: 'during' }`, and a validator that is killed
 * `{ how: 'lost', when: 'during' }`.
 */
export type FakeFailure = {
  readonly how: 'lost' | 'half' | 'silence' | 'html' | FakeErrorCode
  readonly when: 'before' | 'during' | 'after'
  /** Default `payment`: a request that pays. `other`: one that does not, such as a read. */
  readonly of?: 'payment' | 'other' | 'any'
  /** For all such requests until `fail(null)`. Default: for one. */
  readonly isLasting?: boolean
}

/** An offer of another party to the user. */
type FakeOffer = {
  readonly sender: string
  readonly coin: string
  readonly description?: string
  /** Until when the user can accept, ISO-8601 UTC. Default: in 24 hours. */
  readonly expiresAt?: string
}

/** A client of a validator, and what a test controls. */
export type FakeValidator = Validator & {
  readonly names: FakeNames & Validator['names']
  readonly party: Party
  /** Another party offers coin to the user. @returns The offer. */
  offer(input: FakeOffer): ContractId
  /** The receiver of an offer of the user answers it. @throws {Error} If the offer has ended. */
  answerOffer(id: ContractId, answer: 'accept' | 'reject'): void
  /** The next request that pays fails so. null: requests succeed again. @throws {QuorumscanError} INVALID_ARGUMENT. */
  fail(failure: FakeFailure | null): void
  /** What is under way takes effect. */
  deliver(): Promise<void>
  /** Another client of the user: a tab or page with the same `store`, or a device with its own. */
  another(options?: { readonly store?: Store; readonly clock?: Clock }): Validator
}

const URL_OF_FAKE = 'https://validator.fake'
const DAY_MICROS = 86_400_000_000
const PAYS = /\/(tap|transfers)\b|\/subscription-requests\/[^/]+\/accept$|\/pay$/
const HOW = [
  ...(['lost', 'half', 'silence', 'html'] as const),
  ...(Object.keys(serverErrorFacts) as FakeErrorCode[]),
]

type FakeValidatorOptions = {
  readonly party: string
  readonly coin?: string
  readonly names?: Readonly<Record<string, string>>
  readonly store?: Store
  readonly clock?: Clock
  /** Of one call, in ms. Default 10 000. */
  readonly timeoutMs?: number
}
const FAKE_CHECKS = {
  party: isText,
  coin: isText,
  names: isObject,
  store: READS_CHECKS.store,
  clock: READS_CHECKS.clock,
  timeoutMs: READS_CHECKS.timeoutMs,
} as const
const OFFER_CHECKS = {
  sender: isText,
  coin: isText,
  description: isText,
  expiresAt: isText,
} as const

/**
 * It has what `payments`, `names` and the hooks use. Calls of `wallet.coins`, `updates` over a WebSocket, `activities` and
 * `commands` fail.
 *
 * @param options.party - Of the user.
 * @param options.coin - What the user has at first. Default: nothing.
 * @param options.names - As of `fakeNames`. A registration changes them.
 * @param options.clock - Moves the time of offers and names. Default: the platform's.
 * @example
 * const wallet = fakeValidator({ party, coin: '100.0' })
 * wallet.fail({ how: 'lost', when: 'after' })
 * const { kind } = await wallet.payments.transfer({ receiver, coin: '1.5' }) // 'unknown'
 * @throws {QuorumscanError} INVALID_PARTY, INVALID_NAME, INVALID_ARGUMENT.
 */
export function fakeValidator(options: FakeValidatorOptions): FakeValidator {
  assertOptions('fakeValidator', options, FAKE_CHECKS)
  const { clock = systemClock, coin = '0' } = options
  const party = parseParty(options.party)
  if (compareAmounts(coin, '0') < 0) throw invalidArgument('`coin` must not be negative.')
  const { names, reads, head, put, ownerOf } = createFakeNames(options.names ?? {}, options)
  const ledger = createFakeLedger({
    party,
    head,
    nowMicros: () => clock.nowMicros(),
    ownerOf,
    onName: ({ name, ...entry }) => put(name, party, entry),
  })
  ledger.give(coin)
  let failure: FakeFailure | null = null
  const underWay: (() => Promise<unknown>)[] = []

  const run = async (call: string, body: Body, query: URLSearchParams): Promise<Response> => {
    ledger.sweep()
    try {
      const answered = await answerOf(ledger, { call, body, query, party })
      return Response.json(answered, { headers: { 'x-ledger-offset': String(ledger.end()) } })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refusal(error)
    }
  }
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const { pathname, searchParams } = new URL(String(input))
    const body: Body = typeof init.body === 'string' ? JSON.parse(init.body) : {}
    const send = () => run(`${init.method} ${pathname}`, body, searchParams)
    const kind = init.method === 'POST' && PAYS.test(pathname) ? 'payment' : 'other'
    const { of = 'payment' } = failure ?? {}
    const met = of === kind || of === 'any' ? failure : null
    if (met === null) return send()
    if (met.isLasting !== true) failure = null
    if (met.when === 'after') await send()
    if (met.when === 'during') underWay.push(send)
    return failed(met, init.signal ?? undefined)
  }

  const client = (more: { readonly store?: Store; readonly clock?: Clock }): Validator => {
    const own = { ...options, clock, ...more }
    const fixed = { url: URL_OF_FAKE, ledgerUrl: URL_OF_FAKE, fetch, WebSocket: null }
    const settings = { ...own, ...fixed, token: 'fake', random: () => 0 }
    const http = createValidatorHttp(settings, reads)
    const wallet = createWallet(http)
    const lookups = { reads, names }
    const parts = createOwnPayments({ ...settings, http, wallet, lookups })
    const { live, ...ofLedger } = createLedgerParts({ ...settings, http })
    const ofReads = { activities: createActivities(reads, live) }
    return {
      ...lazily<Pick<Validator, 'updates'>>(async () => ofLedger, STREAMS, judgeOfFake('ledger')),
      ...lazily<Pick<Validator, 'activities'>>(
        async () => ofReads,
        ACTIVITIES,
        judgeOfFake('reads'),
      ),
      commands: lazily(async () => ofLedger.commands, COMMANDS, judgeOfFake('ledger')),
      wallet: lazily(async () => wallet, { ...WALLET, ...BALANCE }, judgeOfFake('wallet')),
      payments: lazily(async () => parts.payments, PAYMENTS, judgeOfFake('payments')),
      names: {
        ...lazily<Names>(async () => names, LOOKUPS, judgeOfFake('names')),
        ...lazily(async () => parts.names, OWN_NAMES, judgeOfFake('ownNames')),
      },
      writtenOffset: async () => ledger.end(),
    }
  }
  const first = client({})
  return {
    ...first,
    names: { ...names, ...first.names },
    party,
    offer(input) {
      assertOptions('offer', input, OFFER_CHECKS)
      const { sender, coin, description = '', expiresAt } = input
      const executeBefore =
        expiresAt === undefined ? clock.nowMicros() + DAY_MICROS : microsOf(expiresAt)
      const { output } = ledger.offer('', {
        sender: parseParty(sender),
        receiver: party,
        amount: parseAmount(coin),
        executeBefore,
        description,
        trackingId: randomId(),
      })
      return String(membersOf(output)['transfer_instruction_cid']) as ContractId // As the ledger has it.
    },
    answerOffer(id, answer) {
      if (answer !== 'accept' && answer !== 'reject')
        throw invalidArgument(
          `An offer is answered by accept or reject, not ${shownValue(answer)}.`,
        )
      ledger.sweep()
      const { receiver } = membersOf(ledger.contract(id).payload['transfer'])
      ledger.answer(id, answer, String(receiver))
    },
    fail(next) {
      if (next !== null)
        assertOptions<FakeFailure>('fail', next, {
          how: isOneOf(HOW),
          when: isOneOf(['before', 'during', 'after']),
          of: isOneOf(['payment', 'other', 'any']),
          isLasting: isBoolean,
        })
      failure = next
    },
    async deliver() {
      for (const send of underWay.splice(0)) await send()
    },
    another(more = {}) {
      assertOptions('another', more, { store: READS_CHECKS.store, clock: READS_CHECKS.clock })
      return client(more)
    },
  }
}

type Body = Readonly<Record<string, unknown>>
type Ledger = ReturnType<typeof createFakeLedger>
type Call = {
  readonly call: string
  readonly body: Body
  readonly query: URLSearchParams
  readonly party: string
}

const WALLET_PATH = '/v0/wallet'
const CONTRACT_CALL =
  /^(\w+) .*\/(transfers|subscription-requests|subscriptions)\/([^/]+)(?:\/([\w-]+))?$/

/** @throws {Refusal} */
function answerOf(ledger: Ledger, asked: Call): unknown {
  const { call, body, query, party } = asked
  switch (call) {
    case `GET ${WALLET_PATH}/user-status`: {
      const flags = { user_onboarded: true, user_wallet_installed: true }
      return { party_id: party, ...flags, has_featured_app_right: false }
    }
    case 'POST /v0/register':
      return { party_id: party }
    case `GET ${WALLET_PATH}/balance`:
      return ledger.balance()
    case `POST ${WALLET_PATH}/tap`:
      return ledger.tap(String(body['amount']), String(body['command_id']))
    case `POST ${WALLET_PATH}/transactions`:
      return ledger.history(Number(body['page_size']), body['begin_after_id'])
    case `GET ${WALLET_PATH}/token-standard/transfers`:
      return ledger.transfers({ sender: query.get('sender'), order: query.get('order') })
    case `POST ${WALLET_PATH}/token-standard/transfers`:
      return ledger.transfer(body)
    case `GET ${WALLET_PATH}/subscription-requests`:
      return ledger.requests()
    case `GET ${WALLET_PATH}/subscription-initial-payments`:
      return { initial_payments: [] }
    case `GET ${WALLET_PATH}/subscriptions`:
      return ledger.subscriptions()
    case 'POST /v0/entry/create':
      return ledger.request(body)
    case 'GET /v0/entry/all':
      return ledger.entries()
    case 'GET /v2/state/ledger-end':
      return { offset: ledger.end() }
    case 'POST /v2/updates':
      return ledger.updates(Number(body['beginExclusive']), Number(body['endInclusive']))
    case 'POST /v2/events/events-by-contract-id':
      return ledger.contractEvents(String(body['contractId']))
    default:
      return answerAbout(ledger, asked)
  }
}

/** Requests about one contract. @throws {Refusal} */
function answerAbout(ledger: Ledger, { call, body, party }: Call): unknown {
  const [, method, kind, escaped = '', action = ''] = CONTRACT_CALL.exec(call) ?? []
  const id = decodeURIComponent(escaped)
  switch (`${method} ${kind} ${action}`) {
    case 'POST transfers accept':
    case 'POST transfers reject':
    case 'POST transfers withdraw':
      return ledger.answer(id, action as 'accept' | 'reject' | 'withdraw', party)
    case 'GET subscription-requests ':
      return ledger.contract(id)
    case 'DELETE subscription-requests ':
      return ledger.cancel(id)
    case 'POST subscription-requests accept':
      return ledger.accept(id, body)
    case 'POST subscription-requests reject':
      return ledger.reject(id)
    case 'POST subscriptions pay':
      return ledger.renew(id)
    case 'PUT subscriptions auto-renew':
      return ledger.setAutoRenew(id, body['enabled'] === true)
    default:
      throw new Refusal('ROUTE_NOT_FOUND', `A fake validator has no ${call}.`)
  }
}

function refusal({ code, message, details }: Refusal): Response {
  const { status, ...facts } = serverErrorFacts[code]
  const error = { error: message, code, ...facts, request_id: 'fake', details }
  return Response.json(error, { status })
}

function failed(
  { how }: FakeFailure,
  signal: AbortSignal | undefined,
): Promise<Response> | Response {
  switch (how) {
    case 'lost':
      throw new TypeError('fetch failed')
    case 'half':
      return new Response('{"output":{"transfer_inst')
    case 'html':
      return new Response('<h1>Bad Gateway</h1>', { status: 502 })
    case 'silence':
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    default:
      return refusal(new Refusal(how, 'The test made this request fail.'))
  }
}
