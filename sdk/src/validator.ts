/** Everything of a validator: lookups through its scan proxy, names of one's own, and the wallet. */
import type { Genesis } from '@quorumscan/verifier'
import { type Activities, createActivities, createActivityNews } from './activities/activities.ts'
import { checkedGenesis } from './checked-genesis.ts'
import { invalidArgument } from './errors.ts'
import { assertPin } from './genesis-pin.ts'
import { createHttp } from './http/http.ts'
import type { WebSocketConstructor } from './http/socket.ts'
import type { TokenSource } from './http/token.ts'
import { tracedFetch } from './http/traced-fetch.ts'
import { type Commands, createCommands } from './ledger/commands.ts'
import { createUpdates, type Updates } from './ledger/updates.ts'
import type { ReadsOptions } from './names/bounded.ts'
import type { Names } from './names/lookups.ts'
import { createNames } from './names/names.ts'
import { openProxyReader } from './names/proxy-reader.ts'
import { createReads } from './names/reads.ts'
import type { Writer } from './names/writer.ts'
import { platformRandom, type Random, systemClock } from './platform/clock.ts'
import { TIMEOUT_MS } from './platform/deadline.ts'
import { platformCrypto } from './platform/platform-crypto.ts'
import { scanExtras } from './scan-extras.ts'
import { listOwnEntries, type OwnEntry } from './wallet/own-names.ts'
import { type RegistrationParts, register } from './wallet/registration.ts'
import type { RegisterInput, RegisterOptions, Registration } from './wallet/registration-steps.ts'
import { cancel, type Renewal, type RenewOptions, renew, setAutoRenew } from './wallet/renewal.ts'
import { type AtOffset, type CallOptions, createWallet, type Wallet } from './wallet/wallet.ts'

/** Which validator, as whom, and the defaults of calls. */
export type ValidatorOptions = ReadsOptions & {
  /** Where the validator is mounted, such as `https://validator.example.com/api/validator`. */
  readonly url: string
  /** Where its ledger interface is, for `updates` and `commands`. Default: `url` without `/api/validator`. */
  readonly ledgerUrl?: string
  /**
   * A bearer token, or a function that gets one. The function is asked once, and again when the validator
   * answers 401; calls of one moment share it. Lookups need none.
   */
  readonly token?: TokenSource
  /**
   * The genesis document, or its hash (64 hex digits). With it every proxied answer is checked here by its proof, so
   * that the proxy is not trusted.
   */
  readonly genesis?: Genesis | string
  /**
   * For `updates`, and for `activities` that follow. Default: the platform's, where it has one (browsers, Node 22); null: by pages over HTTP.
   * Pass one in Node 20, such as that of `ws` or undici.
   */
  readonly WebSocket?: WebSocketConstructor | null
  /** For jitter. */
  readonly random?: Random
}

/** Lookups, and the names of the token's user. */
export interface OwnNames extends Names {
  /** The live names of the user that have a subscription. */
  list(options?: CallOptions): Promise<readonly OwnEntry[]>
  /** Requests, pays and waits; goes on from what is there. Errors have `payment`. */
  register(input: RegisterInput, options?: RegisterOptions): Promise<Registration & AtOffset>
  /** Pays for another period, once; goes on from what is there. Errors have `payment`. */
  renew(name: string, options?: RenewOptions): Promise<Renewal & AtOffset>
  /**
   * Stops paying, for good: it cannot be undone, and the name lapses when it expires. To stop only the automatic
   * payments, use `setAutoRenew`. A second call changes nothing.
   */
  cancel(name: string, options?: CallOptions): Promise<AtOffset>
  /** Whether the wallet pays renewals of the name by itself. */
  setAutoRenew(name: string, isEnabled: boolean, options?: CallOptions): Promise<AtOffset>
}

/** All that a validator does for the token's user. It holds nothing open: there is nothing to close. */
export interface Validator extends Writer {
  readonly names: OwnNames
  /** Coin, taps, transfers, subscriptions. */
  readonly wallet: Wallet
  /** Coin activities in order of the ledger, through the scan proxy; over a WebSocket while they follow. */
  readonly activities: Activities
  /** The updates of the ledger that the user may see. */
  readonly updates: Updates
  /** Commands to the ledger, each with at most one effect. */
  readonly commands: Commands
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if the url is none, or the genesis is not valid. */
export function createValidator(options: ValidatorOptions): Validator {
  const { clock = systemClock, timeoutMs = TIMEOUT_MS } = options
  const url = urlOf(options.url)
  const ledgerUrl = urlOf(options.ledgerUrl ?? url.replace(/\/api\/validator$/, ''))
  const random = options.random ?? platformRandom
  const http = createHttp({
    url,
    ledgerUrl,
    token: options.token ?? null,
    // Called as a function of its own: browsers refuse a `fetch` that is a method of something else.
    fetch: tracedFetch(
      options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      options.traceparent,
    ),
    clock,
    random,
    timeoutMs,
    onShown: (offset) => reads.written.note(offset),
  })
  const { genesis: pin } = options
  if (pin !== undefined) assertPin(pin)
  if (typeof pin === 'object') checkedGenesis(pin)
  const trust =
    pin === undefined ? null : { genesis: pin, crypto: options.crypto ?? platformCrypto() }
  const extras = async () => scanExtras
  const reads = createReads({
    client: options,
    clock,
    verifiedBy: trust === null ? 'proxy' : 'self',
    // A proxy that is trusted has no network that it could be held to.
    network: trust === null ? encodeURIComponent(url) : typeof pin === 'string' ? pin : null,
    open: (kept) => openProxyReader({ http, url, clock, kept, trust }),
    extras,
  })
  const lookups = createNames(reads, options)
  // Looked up when it is used: nothing is asked of the platform at import.
  const WebSocket =
    options.WebSocket === undefined
      ? ((globalThis as { WebSocket?: WebSocketConstructor }).WebSocket ?? null)
      : options.WebSocket
  const wallet = createWallet(http)
  /** With where the ledger shows it, which reads of clients that share the store are behind no more. */
  const atOffset = async <T>(result: T): Promise<T & AtOffset> => {
    const offset = http.offset()
    await reads.written.note(offset)
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
    writtenOffset: reads.written.offset,
    activities: createActivities(
      reads,
      WebSocket === null
        ? undefined
        : { news: createActivityNews({ WebSocket, url, clock }), random },
    ),
    updates: createUpdates({ http, clock, random, url: ledgerUrl, WebSocket }),
    commands: createCommands({ http, clock }),
  }
}

/** Without trailing slash. */
function urlOf(text: string): string {
  const url = String(text).replace(/\/+$/, '')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw invalidArgument(
      `The url of a validator is http or https, such as https://validator.example.com: not ${url}.`,
    )
  return url
}
