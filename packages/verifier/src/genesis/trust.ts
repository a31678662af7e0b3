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

/**
 * The rule of a configured list.
 *
 * @param trust - As it was configured; its types are checked.
 * @param known - The members of the network; undefined: not known yet.
 * @throws {RangeError} With the invalid member, and why.
 */
export function trustRule(trust: TrustList, known?: readonly string[]): TrustRule {
  const { members: listed, threshold } = Object(trust) as Partial<TrustList>
  const members = Array.isArray(listed) ? [...(listed as readonly string[])] : []
  if (members.length === 0 || !members.every((name) => typeof name === 'string'))
    throw new RangeError('the members to trust must be a list of names, one at least')
  const twice = members.find((name, index) => members.indexOf(name) < index)
  if (twice !== undefined) throw new RangeError(`the members to trust name ${twice} twice`)
  const unknown = known && members.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new RangeError(
      `${unknown} is not a member of the network, which has ${known?.join(', ')}`,
    )
  const count = members.length
  const votes = threshold ?? Math.floor(count / 3) + 1 // As in a validator of Splice with a list of its own.
  if (!Number.isInteger(votes) || votes < 1 || votes > count)
    throw new RangeError(`the threshold of the members to trust must be from 1 to ${count}`)
  const ordered = [...new Set(known ?? members)].filter((name) => members.includes(name))
  return { members: ordered, threshold: votes }
}
