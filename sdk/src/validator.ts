/** The client of a validator: lookups through its scan proxy, names of the user, wallet, and ledger. */
import type { Genesis } from '@quorumscan/verifier'
import type { Activities } from './activities/activities.ts'
import { cryptoUnavailable, invalidArgument } from './errors.ts'
import { assertGenesisPin, isGenesisHash } from './genesis-pin.ts'
import type { TokenSource } from './http/http.ts'
import type { WebSocketConstructor } from './http/stream.ts'
import type { Commands } from './ledger/commands.ts'
import type { Updates } from './ledger/updates.ts'
import type { ReadsOptions } from './names/bounded.ts'
import type { Names } from './names/lookup-types.ts'
import { createNames } from './names/names.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { type Random, systemClock } from './platform/clock.ts'
import { lazily, loadPart } from './platform/load-part.ts'
import type { ValidatorParts } from './validator-parts.ts'
import type { OwnEntry } from './wallet/own-names.ts'
import type { RegisterInput, RegisterOptions, Registration } from './wallet/registration.ts'
import type { Renewal, RenewOptions } from './wallet/renewal.ts'
import type { AtOffset, CallOptions, Wallet } from './wallet/wallet.ts'

/** Options of `createValidator`: address, token, and defaults of calls. */
export type ValidatorOptions = ReadsOptions & {
  /** Base URL of the validator, such as `https://validator.example.com/api/validator`. */
  readonly url: string
  /** Base URL of its ledger interface, for `updates` and `commands`. Default: `url` without `/api/validator`. */
  readonly ledgerUrl?: string
  /**
   * A bearer token, or a function that returns one. The function is called once, and again when the validator answers
   * 401. Concurrent calls share the token. Lookups need none.
   */
  readonly token?: TokenSource
  /**
   * The genesis document, or its hash (64 hex digits). With it, the client verifies the proof of each answer of the scan
   * proxy, and does not trust the proxy.
   */
  readonly genesis?: Genesis | string
  /**
   * For `updates`, and for `activities` that follow. Default: the platform's, if it has one (browsers, Node 22). null:
   * pages over HTTP. In Node 20 pass one, such as that of `ws` or undici.
   */
  readonly WebSocket?: WebSocketConstructor | null
  /** For jitter. */
  readonly random?: Random
}

/** Lookups, and names of the token's user. */
export interface OwnNames extends Names {
  /** Live names of the user. Those that run out have `renews: false`. Throws as `namesOf` as well. */
  list(options?: CallOptions): Promise<readonly OwnEntry[]>
  /**
   * Requests, pays and waits. It continues an earlier call. Errors have `payment`.
   *
   * @example const { party, entry } = await validator.names.register({ name: 'erin', autoRenew: true })
   */
  register(input: RegisterInput, options?: RegisterOptions): Promise<Registration & AtOffset>
  /**
   * Pays for one more period. It continues an earlier call. Errors have `payment`.
   *
   * @example const { paidUntil } = await validator.names.renew('erin', { after: entry.expiresAt })
   */
  renew(name: string, options?: RenewOptions): Promise<Renewal & AtOffset>
  /**
   * Ends the subscription permanently, which cannot be undone: the name lapses when it expires. To stop only automatic
   * payments, use `setAutoRenew`. A second call changes nothing.
   */
  cancel(name: string, options?: CallOptions): Promise<AtOffset>
  /** Sets whether the wallet pays renewals of the name automatically. @example await validator.names.setAutoRenew('erin', false) */
  setAutoRenew(name: string, isEnabled: boolean, options?: CallOptions): Promise<AtOffset>
}

/** A client of a validator, for the token's user. It keeps no connection open, so there is no `close`. */
export interface Validator extends Writer {
  readonly names: OwnNames
  /** Coin, taps, transfers, subscriptions. */
  readonly wallet: Wallet
  /** Coin activities in ledger order, through the scan proxy. */
  readonly activities: Activities
  /** Ledger updates that the user may see. */
  readonly updates: Updates
  /** Ledger commands, each with at most one effect. */
  readonly commands: Commands
}

/**
 * Creates a client of a validator. It sends nothing, and loads most of its code, with the first call.
 *
 * The first lookup checks a genesis document, and throws INVALID_ARGUMENT if it is invalid.
 *
 * @example const validator = createValidator({ url: 'https://validator.example.com/api/validator', token: getToken })
 * @throws {QuorumscanError} INVALID_ARGUMENT if url or genesis hash are invalid, CRYPTO_UNAVAILABLE.
 */
export function createValidator(options: ValidatorOptions): Validator {
  const { clock = systemClock, genesis } = options
  const url = urlOf(options.url)
  const ledgerUrl = urlOf(options.ledgerUrl ?? url.replace(/\/api\/validator$/, ''))
  if (genesis !== undefined) {
    assertGenesisPin(genesis)
    if (options.crypto === undefined && !globalThis.crypto?.subtle) throw cryptoUnavailable()
  }
  const own = { ...options, url, ledgerUrl, clock }
  let made: ValidatorParts | undefined
  const parts = async () => {
    const { createValidatorParts } = await loadPart(() => import('./validator-parts.ts'))
    made ??= createValidatorParts(own, { reads, lookups })
    return made
  }
  const reads = createReads({
    client: options,
    clock,
    basis: genesis === undefined ? 'proxy' : 'proof',
    // The network of a trusted proxy is not verified.
    network:
      genesis === undefined ? encodeURIComponent(url) : isGenesisHash(genesis) ? genesis : null,
    open: async (shared) => (await parts()).openReader(shared),
    extras: () => loadPart(() => import('./scan-extras.ts')),
  })
  const lookups = createNames(reads, options)
  return {
    names: {
      ...lookups,
      ...lazily(async () => (await parts()).names, OWN_NAMES),
    },
    wallet: lazily(async () => (await parts()).wallet, WALLET),
    writtenOffset: reads.writeFloor.offset,
    ...lazily<Pick<Validator, 'activities' | 'updates'>>(parts, STREAMS),
    commands: lazily(async () => (await parts()).commands, COMMANDS),
  }
}

const OWN_NAMES = { list: false, register: false, renew: false, cancel: false, setAutoRenew: false }
const STREAMS = { activities: true, updates: true }
const COMMANDS = { submit: false }
const WALLET = {
  register: false,
  status: false,
  balance: false,
  coins: false,
  tap: false,
  transactions: true,
  subscriptionRequests: false,
  subscriptionRequest: false,
  acceptSubscriptionRequest: false,
  rejectSubscriptionRequest: false,
  initialPayments: false,
  subscriptions: false,
  cancelSubscription: false,
  setAutoRenew: false,
  paySubscription: false,
  createTransfer: false,
  transfers: false,
  acceptTransfer: false,
  rejectTransfer: false,
  withdrawTransfer: false,
}

/** Without trailing slash. */
function urlOf(text: string): string {
  const url = String(text).replace(/\/+$/, '')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    const message = `The url of a validator must be http or https, such as https://validator.example.com: not ${url}.`
    throw invalidArgument(message)
  }
  return url
}
