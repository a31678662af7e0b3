/** The words of a registration: what is asked for, what is told on the way, what it ends in. No code. */
import type { NameEntry } from '../names/lookups.ts'
import type { ContractId } from '../platform/contract-id.ts'

/**
 * What to register. An earlier request for the name that nobody paid yet is gone on with if it asks for the same;
 * else it is rejected, and asked anew. Where another url or description is paid for, the error is
 * REGISTRATION_DIFFERS.
 */
export type RegisterInput = {
  /** As people type it: `alice` is `alice.unverified.ns`. */
  readonly name: string
  /** Empty, or http or https, at most 255 characters. Default empty; of a name that is paid for, whatever it is. */
  readonly url?: string
  /** At most 140 UTF-16 units. Default as for `url`. */
  readonly description?: string
  /** Whether the wallet pays renewals by itself. Default false; of a name that is paid for, whatever it is. */
  readonly autoRenew?: boolean
}

/** How to go through it. */
export type RegisterOptions = {
  /** Told of each step once it is done. What it throws ends the call, not the registration. */
  readonly onProgress?: (event: RegisterProgress) => void
  /** For all steps together, in ms. Default 120 000. */
  readonly timeoutMs?: number
  /** Ends the call with the signal's reason, not the registration: call again to go on. */
  readonly signal?: AbortSignal
}

/** `isResumed`: an earlier call had come so far. */
export type RegisterProgress =
  /** Asked for; nothing is paid. */
  | {
      readonly step: 'requested'
      readonly subscriptionRequestCid: ContractId
      readonly isResumed: boolean
    }
  /** The coin is locked: the name follows, or all of it comes back. */
  | { readonly step: 'paid'; readonly paymentCid: ContractId; readonly isResumed: boolean }
  /** The coin is spent, and enough scan nodes say that the name is the user's. */
  | { readonly step: 'active'; readonly party: string; readonly isResumed: boolean }

/** A name that is the user's, and what took effect. */
export type Registration = {
  readonly name: string
  /** The user's, and now the name's. */
  readonly party: string
  /** As enough scan nodes have it: url, description, and when it expires. */
  readonly entry: NameEntry
  /** Whether the wallet pays renewals by itself; null: the subscription has ended, the name stays until it expires. */
  readonly autoRenew: boolean | null
  /** The name was the user's before: nothing was paid now. */
  readonly wasOwned: boolean
}
