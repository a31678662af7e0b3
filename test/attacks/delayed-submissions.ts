/** A user of the ledger interface who submits as many delayed commands as fit, and another who submits one. */
import { randomUUID } from 'node:crypto'
import { createSystemClock, median } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'
import { createUser } from '../support/client.ts'
import { ruleIds } from '../support/network.ts'
import type { Attack } from './attack.ts'

const DELAYED = 1_000
const WORKERS = 16
const ROUNDS = 15
const DELAY_SECONDS = 55
const SLOWER_MAX = 2
const MORE_MS_MAX = 50
const clock = createSystemClock()

export const delayedSubmissions: Attack = {
  name: 'delayed-submissions',
  needsOwnCluster: true,
  claim:
    `A user submits ${DELAYED} commands that wait for ${DELAY_SECONDS} s. It is refused when it has its share of the ` +
    'outbox, and a command of another user takes at most twice as long as before, or 50 ms more.',
  async run({ cluster }) {
    const { coinRules } = await ruleIds(cluster)
    const [greedy, modest] = [
      await createUser(cluster, 'greedy'),
      await createUser(cluster, 'modest'),
    ]
    const submit = async ({ token, party }: typeof greedy, path: string, more: object) => {
      const { status } = await send(`${cluster.urls.validator}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: {
          commands: [
            {
              ExerciseCommand: {
                templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
                contractId: coinRules.contract_id,
                choice: 'CoinRules_DevNet_Tap',
                choiceArgument: { receiver: party, amount: '1.0' },
              },
            },
          ],
          commandId: randomUUID(),
          actAs: [party],
          disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
          ...more,
        },
      })
      return status
    }
    const timeOfModest = async (): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const startedMs = clock.monotonicMs()
        const status = await submit(modest, '/v2/commands/submit-and-wait', {})
        times.push(status === 200 ? clock.monotonicMs() - startedMs : Number.POSITIVE_INFINITY)
      }
      return median(times)
    }
    await timeOfModest() // Code is compiled once.
    const aloneMs = await timeOfModest()
    const tally = { accepted: 0, refused: 0, other: 0 }
    const worker = async (first: number) => {
      for (let index = first; index < DELAYED; index += WORKERS) {
        const minLedgerTimeAbs = formatInstant(clock.nowMicros() + DELAY_SECONDS * 1_000_000)
        const status = await submit(greedy, '/v2/commands/async/submit', { minLedgerTimeAbs })
        tally[status === 200 ? 'accepted' : status === 409 ? 'refused' : 'other']++
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, (_, first) => worker(first)))
    const withDelayedMs = await timeOfModest()
    return {
      holds:
        tally.refused > 0 &&
        tally.other === 0 &&
        withDelayedMs <= Math.max(SLOWER_MAX * aloneMs, aloneMs + MORE_MS_MAX),
      figures: {
        'a command of another user before, ms': Math.round(aloneMs),
        'next to the delayed ones, ms': Math.round(withDelayedMs),
        'delayed commands accepted': tally.accepted,
        'refused (PARTICIPANT_BACKPRESSURE)': tally.refused,
        'answered otherwise (none)': tally.other,
      },
    }
  },
}
