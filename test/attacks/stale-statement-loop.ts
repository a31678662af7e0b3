import { createSystemClock } from '@quorumscan/base'
import { startChild } from '../support/child.ts'
import type { Attack, Target } from './attack.ts'
import { spentOn } from './process.ts'
import {
  STALE_ANSWERS,
  type StaleAnswer,
  type StaleNodeArgument,
  type StaleNodeCount,
} from './stale-statements.ts'

const LIAR = 'sv-4'
/** Four times the polls that a member with five new statements a second causes. */
const POLLS_PER_SECOND_MAX = 20
const MEASURE_MS = 1500
const clock = createSystemClock()

export const staleStatementLoop: Attack = {
  name: 'stale-statement-loop',
  claim:
    'One member answers each poll of its signed statements at once, without newer ones: ' +
    `${Object.values(STALE_ANSWERS).join(', or ')}. ` +
    `Each other member and the validator polls it at most ${POLLS_PER_SECOND_MAX} times in a second.`,
  async run({ cluster }) {
    const figures: Record<string, number | string> = {}
    let holds = true
    const url = cluster.urls.nodes[LIAR] ?? ''
    const body = await (await fetch(`${url}/v0/state-statements?after=0`)).text()
    await spentOn(cluster.urls.validator, async () => {}) // The first call measures idle usage.
    await cluster.kill(LIAR)
    try {
      for (const answer of Object.keys(STALE_ANSWERS) as StaleAnswer[]) {
        const port = Number(new URL(url).port)
        const { pollsPerSecond, cpu } = await measure(cluster, { port, answer, body })
        holds &&= pollsPerSecond <= POLLS_PER_SECOND_MAX
        figures[`${answer}: polls/s of each process (at most ${POLLS_PER_SECOND_MAX})`] =
          pollsPerSecond.toFixed(1)
        figures[`${answer}: CPU of the validator, %`] = cpu.toFixed(1)
      }
    } finally {
      await cluster.restart(LIAR)
    }
    return { holds, figures }
  },
}

async function measure(cluster: Target['cluster'], argument: StaleNodeArgument) {
  await using liar = startChild('attacks/stale-node-child', argument)
  await liar.result<StaleNodeCount>() // The first poll has arrived.
  const spent = await spentOn(cluster.urls.validator, () => clock.delay(MEASURE_MS))
  const { polls } = await liar.again<StaleNodeCount>()
  const followerCount = Object.keys(cluster.urls.nodes).length // The other nodes, and the validator.
  return {
    pollsPerSecond: (polls * 1000) / spent.ms / followerCount,
    cpu: (spent.cpuMs / spent.ms) * 100,
  }
}
