/** The client of a validator: lookups through its scan proxy, names of the user, wallet, and ledger. */
import type { Genesis } from '@quorumscan/verifier'
import { type Activities, createActivities, createActivityHints } from './activities/activities.ts'
import { parseCheckedGenesis } from './checked-genesis.ts'
import { invalidArgument } from './errors.ts'
import { assertGenesisPin, isGenesisHash } from './genesis-pin.ts'
import { createHttp, type TokenSource } from './http/http.ts'
import type { WebSocketConstructor } from './http/stream.ts'
import { tracedFetch } from './http/traced-fetch.ts'
import { type Commands, createCommands } from './ledger/commands.ts'
import { createUpdates, type Updates } from './ledger/updates.ts'
import type { ReadsOptions } from './names/bounded.ts'
import type { Names } from './names/lookup-types.ts'
import { createNames } from './names/names.ts'
import { openProxyReader } from './names/proxy-reader.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { platformRandom, type Random, systemClock } from './platform/clock.ts'
import { TIMEOUT_MS } from './platform/deadline.ts'
import { platformCrypto } from './platform/platform-crypto.ts'
import * as scanExtras from './scan-extras.ts'
import { listOwnEntries, type OwnEntry } from './wallet/own-names.ts'
import {
  type RegisterInput,
  type RegisterOptions,
  type Registration,
  type RegistrationParts,
  register,
} from './wallet/registration.ts'
import { cancel, type Renewal, type RenewOptions, renew, setAutoRenew } from './wallet/renewal.ts'
import { type AtOffset, type CallOptions, createWallet, type Wallet } from './wallet/wallet.ts'

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
  /** Live names of the user with a subscription. */
  list(options?: CallOptions): Promise<readonly OwnEntry[]>
  /** Requests, pays and waits. It continues an earlier call. Errors have `payment`. */
  register(input: RegisterInput, options?: RegisterOptions): Promise<Registration & AtOffset>
  /** Pays for one more period. It continues an earlier call. Errors have `payment`. */
  renew(name: string, options?: RenewOptions): Promise<Renewal & AtOffset>
  /**
   * Ends the subscription permanently. The name lapses when it expires. To stop only automatic payments, use
   * `setAutoRenew`. A second call changes nothing.
   */
  cancel(name: string, options?: CallOptions): Promise<AtOffset>
  /** Sets whether the wallet pays renewals of the name automatically. */
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

/** Creates a client of a validator. @throws {QuorumscanError} INVALID_ARGUMENT if url or genesis are invalid. */
export function createValidator(options: ValidatorOptions): Validator {
  const { clock = systemClock, timeoutMs = TIMEOUT_MS } = options
  const url = urlOf(options.url)
  const ledgerUrl = urlOf(options.ledgerUrl ?? url.replace(/\/api\/validator$/, ''))
  const random = options.random ?? platformRandom
  // Browsers refuse a `fetch` that is called as a method of another object.
  const plain = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const http = createHttp({
    url,
    ledgerUrl,
    token: options.token ?? null,
    fetch: tracedFetch(plain, options.traceparent),
    clock,
    random,
    timeoutMs,
    onOffset: (offset) => reads.writeFloor.record(offset),
  })
  const { genesis } = options
  if (genesis !== undefined) assertGenesisPin(genesis)
  if (typeof genesis === 'object') parseCheckedGenesis(genesis)
  const trust =
    genesis === undefined ? null : { genesis, crypto: options.crypto ?? platformCrypto() }
  const extras = async () => scanExtras
  const reads = createReads({
    client: options,
    clock,
    verifiedBy: trust === null ? 'proxy' : 'self',
    // The network of a trusted proxy is not verified.
    network: trust === null ? encodeURIComponent(url) : isGenesisHash(genesis) ? genesis : null,
    open: (shared) => openProxyReader({ http, url, clock, shared, trust }),
    extras,
  })
  const lookups = createNames(reads, options)
  const { WebSocket: ofPlatform = null } = globalThis as { WebSocket?: WebSocketConstructor }
  const { WebSocket = ofPlatform } = options
  const live = WebSocket && { hints: createActivityHints({ WebSocket, url, clock }), random }
  const wallet = createWallet(http)
  /** Adds the offset of a result, which clients that share the store include in their reads. */
  const atOffset = async <T>(result: T): Promise<T & AtOffset> => {
    const offset = http.offset()
    await reads.writeFloor.record(offset)
    return { ...result, offset }
  }
  const parts: RegistrationParts = { http, wallet, names: lookups, clock, timeoutMs }
  return {
    names: {
      ...lookups,
      list: (more) => listOwnEntries(http, more),
      register: async (input, more) => atOffset(await register(parts, input, more)),
      renew: async (name, more) => atOffset(await renew(parts, name, more)),
      cancel: (name, more) => cancel(parts, name, more),
      setAutoRenew: (name, isEnabled, more) => setAutoRenew(parts, name, { ...more, isEnabled }),
    },
    wallet,
    writtenOffset: reads.writeFloor.offset,
    activities: createActivities(reads, live),
    updates: createUpdates({ http, clock, random, url: ledgerUrl, WebSocket }),
    commands: createCommands({ http, clock }),
  }
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
