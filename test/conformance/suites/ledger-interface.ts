/** The ledger interface while its validator is killed, and after its history is pruned. */
import { randomUUID } from 'node:crypto'
import { type HttpAnswer, send, until } from '@quorumscan/testkit'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { it } from '../network.ts'

type Given = Pick<FixturesOf<typeof it>, 'alice' | 'cluster'>

/** Sends requests of alice. Null if the validator is unreachable or does not answer. */
const posting =
  ({ cluster, alice }: Given) =>
  (path: string, body: object): Promise<HttpAnswer | null> =>
    send(`${cluster.urls.validator}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}` },
      body,
    }).catch(() => null)

export function describeLedgerInterface(): void {
  it.afterEach(async ({ cluster }) => {
    await cluster.heal('validator')
    const readyz = `${cluster.urls.validator}/readyz`
    await until('the validator to be ready', async () =>
      (await fetch(readyz).catch(() => null))?.status === 200 ? true : undefined,
    )
  })

  it('executes a change once, and one with a later ledger time too, although the validator is killed', async ({
    cluster,
    alice,
    tapRequest,
  }) => {
    const post = posting({ cluster, alice })
    const coinOf = async () => Number((await alice.balance()).effective_unlocked_qty)
    const before = await coinOf()
    const later = tapRequest({ minLedgerTimeRel: { seconds: 5 } })
    expect(await post('/v2/commands/async/submit', later)).toAnswer(200)
    const request = tapRequest()
    const answers: (HttpAnswer | null)[] = []
    const submitAll = () =>
      Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const submissionId = `s-${index}-${randomUUID()}`
          answers.push(await post('/v2/commands/async/submit', { ...request, submissionId }))
        }),
      )
    const sent = submitAll()
    // Waits for the first acknowledgement, or until all requests have ended.
    await Promise.race([
      sent,
      until('an answer', async () => (answers.some((one) => one !== null) ? true : undefined)),
    ])
    await cluster.kill('validator')
    await sent
    await cluster.restart('validator')
    await submitAll()
    const codes = answers.flatMap((one) =>
      one === null ? [] : [`${one.status} ${one.body.code ?? ''}`.trim()],
    )
    expect(new Set(codes)).toEqual(new Set(['200', '409 SUBMISSION_ALREADY_IN_FLIGHT']))
    for (const each of [request, later]) {
      const again = await until('the change to be refused as a duplicate', async () => {
        const answer = await post('/v2/commands/submit-and-wait', each)
        return answer?.body.code === 'DUPLICATE_COMMAND' ? answer : undefined
      })
      expect(again).toAnswer(409)
      expect(again.body.context).toMatchObject({ definite_answer: 'true', accepted: 'true' })
      expect(Number(again.body.context['completion_offset'])).toBeGreaterThan(0)
    }
    expect((await coinOf()) - before).toBeCloseTo(2, 9)
  })

  it('has no reads below the offset to which an operator prunes a node or the validator', async ({
    cluster,
    alice,
    world,
  }) => {
    const post = posting({ cluster, alice })
    const url = cluster.urls.nodes['sv-1']
    const read = (offset: number) =>
      send(`${url}/v0/ans-entries/by-name/dso.ns`, {
        headers: { 'x-read-at-offset': String(offset) },
      })
    const head = await world.head()
    await expect(cluster.prune('sv-1', head + 1_000_000)).rejects.toThrow('has reached offset')
    expect(await cluster.prune('sv-1', head)).toBe(head)
    expect(await cluster.prune('sv-1', 1)).toBe(head)
    expect(await read(head - 1)).toAnswer(410, 'OFFSET_PRUNED')
    expect(await read(head)).toAnswer(200)

    const end = await world.ledgerEnd()
    const headers = { authorization: `Bearer ${await cluster.token()}` }
    const pruneTo = (pruneUpTo: number) =>
      send(`${cluster.urls.validator}/v2/participant/prune`, {
        method: 'POST',
        headers,
        body: { pruneUpTo },
      })
    expect(await pruneTo(end + 1_000_000)).toAnswer(400, 'OFFSET_AFTER_LEDGER_END')
    const { body } = await pruneTo(end)
    expect(body).toMatchObject({ participantPrunedUpToInclusive: end })
    const all = { beginExclusive: 0, filter: { filtersByParty: { [alice.party]: {} } } }
    const refused = await post('/v2/updates', all)
    expect(refused).toAnswer(400, 'PARTICIPANT_PRUNED_DATA_ACCESSED')
    expect(refused?.body.context).toMatchObject({ earliest_offset: String(end) })
  })
}
