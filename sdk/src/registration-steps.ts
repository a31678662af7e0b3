/** The words of a registration: what is asked for, what is told on the way, what it ends in. No code. */

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

export type RegisterOptions = {
  readonly onProgress?: (event: RegisterProgress) => void
  /** For all steps together, in ms. Default 120 000. */
  readonly timeoutMs?: number
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

export type Registration = {
  readonly name: string
  readonly party: string
  /** The name was the user's before: nothing was paid now. */
  readonly wasOwned: boolean
}
