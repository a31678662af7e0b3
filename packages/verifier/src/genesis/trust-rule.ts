/** Checks a trust rule as it is configured (D-75). */
import type { TrustList, TrustRule } from './trust.ts'

/**
 * The rule of a configured list.
 *
 * @param trust - As it was configured; its types are checked.
 * @param known - The members of the network; undefined: not known yet.
 * @throws {RangeError} With the invalid member, and why.
 */
export function trustRule(trust: TrustList, known?: readonly string[]): TrustRule {
  const given: Partial<TrustList> = typeof trust === 'object' && trust !== null ? trust : {}
  const { members: listed, threshold, ...others } = given
  // A misspelt threshold would have the effect of a weaker one.
  const [other] = Object.keys(others)
  if (other !== undefined)
    throw new RangeError(`a list to trust has members and threshold, and no ${other}`)
  const members = Array.isArray(listed) ? [...(listed as readonly string[])] : []
  if (members.length === 0 || !members.every((name) => typeof name === 'string' && name !== ''))
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
