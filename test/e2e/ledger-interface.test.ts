/** The ledger interface of a real validator: what wallets do with it, while it is killed and restarted. */
import { randomUUID } from 'node:crypto'
import { type RunningCluster, startCluster } from 'quorumscan'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser, send, until } from './client.ts'

let cluster: RunningCluster
let alice: Awaited<ReturnType<typeof createUser>>
let coinRules: string

beforeAll(async () => {
  cluster = await startCluster({ nodes: 1 })
  alice = await createUser(cluster, 'alice')
  const dso = await send(`${cluster.urls.nodes['sv-1']}/v0/dso`)
  coinRules = dso.body.coin_rules.contract.contract_id
})
afterAll(() => cluster?.down())

type Answer = {
  readonly status: number
  readonly code: string
  readonly context: Record<string, string>
}

/** Null where the validator could not be reached, or did not answer. */
async function post(path: string, body: object): Promise<Answer | null> {
  try {
    const answer = await send(`${cluster.urls.validator}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body: JSON.stringify(body),
    })
    const { code = '', context = {} } = answer.body
    return { status: answer.status, code, context }
  } catch {
    return null
  }
}

const tapRequest = (more: object = {}) => ({
  commands: [
    {
      ExerciseCommand: {
        templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
        contractId: coinRules,
        choice: 'CoinRules_DevNet_Tap',
        choiceArgument: { receiver: alice.party, amount: '1.0' },
      },
    },
  ],
  commandId: randomUUID(),
  actAs: [alice.party],
  ...more,
})

const coinOf = async () => Number((await alice.balance()).effective_unlocked_qty)

async function restartValidator() {
  await cluster.restart('validator')
  await until('the validator to be ready', async () =>
    (await fetch(`${cluster.urls.validator}/readyz`).catch(() => null))?.status === 200
      ? true
      : undefined,
  )
}

describe('the same change', () => {
  it('submitted from 50 connections, with the validator killed in between, takes effect once', async () => {
    const before = await coinOf()
    const request = tapRequest()
    const answers: (Answer | null)[] = []
    const wave = () =>
      Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const submissionId = `s-${index}-${randomUUID()}`
          const answer = await post('/v2/commands/async/submit', { ...request, submissionId })
          answers.push(answer)
        }),
      )
    for (let round = 0; round < 2; round++) {
      const sent = wave()
      // As soon as one is acknowledged, at the latest when all are answered.
      await Promise.race([
        sent,
        until('an answer', async () => (answers.some((one) => one !== null) ? true : undefined)),
      ])
      await cluster.kill('validator')
      await sent
      await restartValidator()
    }
    await wave()
    const codes = answers.flatMap((one) =>
      one === null ? [] : [`${one.status} ${one.code}`.trim()],
    )
    expect(new Set(codes)).toEqual(new Set(['200', '409 SUBMISSION_ALREADY_IN_FLIGHT']))
    const again = await until('the change to be told as a duplicate', async () => {
      const answer = await post('/v2/commands/submit-and-wait', request)
      return answer?.code === 'DUPLICATE_COMMAND' ? answer : undefined
    })
    expect(again.status).toBe(409)
    expect(again.context).toMatchObject({ definite_answer: 'true', accepted: 'true' })
    expect(Number(again.context['completion_offset'])).toBeGreaterThan(0)
    expect((await coinOf()) - before).toBeCloseTo(1, 9)
  })
})

describe('a submission with a least ledger time', () => {
  it('is not lost when the validator is killed before its time', async () => {
    const before = await coinOf()
    const request = tapRequest({ minLedgerTimeRel: { seconds: 5 } })
    expect((await post('/v2/commands/async/submit', request))?.status).toBe(200)
    await cluster.kill('validator')
    await restartValidator()
    await until('the coin to be there', async () =>
      (await coinOf()) - before > 0.5 ? true : undefined,
    )
  })
})
