/** The words of a registration: what is asked for, what is told on the way, what it ends in. No code. */

/**
 * What to register. An earlier request for the name, that nobody paid yet, is gone on with as it was made;
 * a name that the user has stays as it is.
 */
export type RegisterInput = {
  /** The whole name, such as `alice.unverified.ns`. */
  readonly name: string
  /** Empty, or http or https, at most 255 characters. Default empty. */
  readonly url?: string
  /** At most 140 UTF-16 units. Default empty. */
  readonly description?: string
  /** Whether the wallet pays renewals by itself. Default false. */
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
      readonly subscriptionRequestCid: string
      readonly isResumed: boolean
    }
  /** The coin is locked: the name follows, or all of it comes back. */
  | { readonly step: 'paid'; readonly paymentCid: string; readonly isResumed: boolean }
  /** The coin is spent, and enough scan nodes say that the name is the user's. */
  | { readonly step: 'active'; readonly party: string; readonly isResumed: boolean }

/** A name that is the user's. */
export type Registration = {
  readonly name: string
  /** The user's, and now the name's. */
  readonly party: string
  /** The name was the user's before: nothing was paid now. */
  readonly wasOwned: boolean
}
