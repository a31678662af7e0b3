/** The health of a node as the processes of the cluster judge it (D-87). Pure. */
import type { MemberHealth } from '@quorumscan/errors/node-words'
import type { MemberReport } from '@quorumscan/runtime'

/**
 * A node is healthy if f + 1 processes judge it so: at least one of them is right, and one that is cut off does not decide.
 *
 * @param reports - Of the processes that answer and judge; null: the process does not answer.
 * @param needed - f + 1.
 * @returns Null while fewer than f + 1 processes judge it: then its state alone is known.
 */
export function judgedHealth(
  name: string,
  reports: readonly (readonly MemberReport[] | null)[],
  needed: number,
): MemberHealth | null {
  const words = reports.flatMap(
    (report) => report?.find((member) => member.name === name)?.health ?? [],
  )
  if (words.filter((word) => word === 'healthy').length >= needed) return 'healthy'
  if (words.length < needed) return null
  const countOf = (word: MemberHealth) => words.filter((one) => one === word).length
  const others = words.filter((word) => word !== 'healthy')
  return others.sort((a, b) => countOf(b) - countOf(a))[0] ?? null
}
