/** What `createValidator` takes, and the names of the token's user. */
import type { Genesis } from '@quorumscan/verifier'
import type { TokenSource } from './http/http.ts'
import type { WebSocketConstructor } from './http/stream.ts'
import type { Names } from './names/names-type.ts'
import type { ReadsOptions } from './names/reads-options.ts'
import type { Clock } from './platform/clock.ts'
import type { Random } from './platform/random.ts'
import type { OwnEntry } from './wallet/own-names.ts'
import type { RegisterInput, RegisterOptions, Registration } from './wallet/registration.ts'
import type { Renewal, RenewOptions } from './wallet/renewal.ts'
import type { AtOffset, CallOptions } from './wallet/wallet.ts'

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

/** Of `createValidator`. `url` and `ledgerUrl` are checked, and have no slash at their ends. */
export type CheckedOptions = ValidatorOptions & {
  readonly ledgerUrl: string
  readonly clock: Clock
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
