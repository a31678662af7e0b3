/** A decision has the votes of enough distinct nodes of the genesis, and lists them correctly (D-35, D-36). */
import { isDecided } from '@quorumscan/reader'
import type { Checker } from './checker.ts'

export const checkSupport: Checker = (run) =>
  run.reads.flatMap((read) => {
    const { outcome, votesNeeded } = read
    if (!isDecided(outcome)) return []
    const agreed = new Set(outcome.agreed)
    const problems = [
      agreed.size < votesNeeded && `${agreed.size} nodes agreed, ${votesNeeded} are needed`,
      agreed.size < outcome.agreed.length && 'a node is named twice',
      outcome.dissented.some((node) => agreed.has(node)) && 'a node agreed and dissented',
      [...agreed, ...outcome.dissented].some((node) => outcome.asked?.includes(node) === false) &&
        'a node voted that was not asked',
      [...agreed].some((node) => !run.nodeNames.includes(node)) && 'an unknown node agreed',
    ]
    return problems.filter((why) => why !== false).map((why) => ({ rule: 'support', read, why }))
  })
