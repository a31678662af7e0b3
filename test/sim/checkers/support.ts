/** A decision rests on enough distinct nodes of the genesis, and says so truly (D-35, D-36). */
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
      [...agreed].some((node) => !run.nodeNames.includes(node)) && 'a stranger agreed',
    ]
    return problems.filter((why) => why !== false).map((why) => ({ rule: 'support', read, why }))
  })
