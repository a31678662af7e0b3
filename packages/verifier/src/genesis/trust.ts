/** Whom a reader trusts, if it does not trust the members of a network alike (D-75). */

/** A trust rule as it is configured. */
export type TrustList = {
  /** Names of members. */
  readonly members: readonly string[]
  /** How many of them must confirm an answer. Default: a third of the list, rounded down, plus one. */
  readonly threshold?: number | undefined
}

/**
 * An answer needs the confirmation of `threshold` of these members. Correct as long as fewer of them lie. Other members do
 * not count.
 */
export type TrustRule = {
  /** In the order of the network. */
  readonly members: readonly string[]
  readonly threshold: number
}

/** Whether the statements and answers of the member count. Without a rule, those of all members do. */
export function isTrusted(trust: TrustRule | null | undefined, member: string): boolean {
  return trust?.members.includes(member) ?? true
}
