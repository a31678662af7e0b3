/** The activity history through the scan proxy (D-26): agreed on, page by page, while rows arrive. */
import { createSystemClock } from '@quorumscan/base'
import { verifyReceipt } from '@quorumscan/consensus'
import { createHttpClient, type HttpAnswer, type HttpClient, untilTrue } from '@quorumscan/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningValidator, startValidator } from '../start.ts'
import { startNetwork, type TestNetwork } from '../testing/network.ts'
import { openPages } from '../testing/page-socket.ts'

const _clock = createSystemClock()
let network: TestNetwork
let validator: RunningValidator
let anyone: HttpClient
let alice: HttpClient

beforeAll(async () => {
  network = await startNetwork(4)
  validator = await startValidator(network.config)
  anyone = createHttpClient(validator.url, null)
  alice = createHttpClient(validator.url, await network.token('alice'))
  await untilTrue(
    'the validator',
    async () => (await anyone.get('/api/validator/readyz')).status === 200,
  )
  await alice.post('/v0/register')
})

afterAll(async () => {
  await validator?.[Symbol.asyncDispose]()
  await network?.[Symbol.asyncDispose]()
})

const list = (body: unknown, headers: Record<string, string> = {}) =>
  anyone.post('/v0/scan-proxy/activities', body, headers)

const idsOf = (answer: HttpAnswer) => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return (answer.body['activities'] as { event_id: string }[]).map((row) => row.event_id)
}

async function tap(): Promise<void> {
  expect((await alice.post('/v0/wallet/tap', { amount: '1.0' })).status).toBe(200)
}

describe('the activity history through the proxy', () => {
  it('is what enough nodes say at one offset', async () => {
    await tap()
    await untilTrue('the tap', async () => idsOf(await list({ page_size: 1 })).length === 1)
    const answer = await list({ page_size: 10, begin_after_id: '' }, { 'x-quorum': 'strong' })
    expect(answer.body['activities']).toEqual([
      expect.objectContaining({
        activity_type: 'devnet_tap',
        domain_id: network.genesis.synchronizerId,
        tap: {
          coin_owner: expect.stringMatching(/^alice::1220/),
          coin_amount: '200.0000000000',
        },
      }),
    ])
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified')
    expect(answer.headers.get('x-quorum-threshold')).toBe('3')
    expect(answer.headers.get('x-quorum-agreed')?.split(',').length).toBeGreaterThanOrEqual(3)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('is walked through in both directions, nothing twice and nothing left out, while rows arrive', async () => {
    for (let count = 0; count < 4; count++) await tap()
    await untilTrue('the taps', async () => idsOf(await list({ page_size: 1000 })).length === 5)
    const begun = idsOf(await list({ page_size: 1000 }))
    const seen = { asc: [] as string[], desc: [begun.at(-1)] as string[] }
    for (let round = 0; seen.asc.length < 8; round++) {
      if (round < 3) await tap()
      for (const order of ['asc', 'desc'] as const) {
        const begin_after_id = seen[order].at(-1) ?? null
        const page = { page_size: 1 + (round % 3), begin_after_id, sort_order: order }
        seen[order].push(...idsOf(await list(page)))
      }
    }
    expect(seen.asc).toEqual(idsOf(await list({ page_size: 1000 })))
    expect(seen.desc).toEqual(begun.toReversed())
  })

  it('is followed over a WebSocket: pages that verify, and rows without asking for them', async () => {
    const before = idsOf(await list({ page_size: 1000 }))
    await using pages = await openPages(validator.url, { page_size: 3, quorum: 'strong' })
    await untilTrue('the rows of before', async () => pages.ids().length === before.length)
    expect(pages.ids()).toEqual(before)
    await untilTrue('the end', async () => pages.frames.at(-1)?.answer.activities.length === 0)

    let after: string | null = null
    for (const { answer, receipt, headers } of pages.frames) {
      const parameters = { page_size: 3, begin_after_id: after, sort_order: 'asc' }
      const { genesis } = network
      const request = { operation: 'listActivities', parameters }
      const verified = await verifyReceipt(receipt, { genesis, request, threshold: 3 })
      expect(JSON.parse(new TextDecoder().decode(verified.answer))).toEqual(answer)
      expect(headers).toMatchObject({ 'x-quorum-outcome': 'verified', 'x-quorum-threshold': '3' })
      after = answer.activities.at(-1)?.event_id ?? after
    }

    await using others = await openPages(validator.url, { page_size: 3, begin_after_id: after })
    await tap()
    await untilTrue('the new row', async () => pages.ids().length === before.length + 1)
    await untilTrue('the new row for others', async () => others.ids().length === 1)
    expect(others.ids()).toEqual(pages.ids().slice(-1))
  })

  it('refuses over a WebSocket what it refuses over HTTP, in the same words', async () => {
    for (const [body, code] of [
      [{}, 'INVALID_ARGUMENT'],
      [{ page_size: 1001 }, 'INVALID_ARGUMENT'],
      [{ page_size: 1, begin_after_id: '7' }, 'INVALID_ARGUMENT'],
      [{ page_size: 1, sort_order: 'desc' }, 'INVALID_ARGUMENT'],
      [{ page_size: 1, max_age_ms: -1 }, 'INVALID_ARGUMENT'],
      [{ page_size: 1, quorum: 'most' }, 'INVALID_QUORUM'],
      ['nonsense', 'MALFORMED_BODY'],
    ] as const) {
      const pages = await openPages(validator.url, body)
      expect(await pages.closed).toBe(1000)
      expect(pages.frames, JSON.stringify(body)).toEqual([
        expect.objectContaining({ code, definite: true, request_id: expect.any(String) }),
      ])
    }
  })

  it('goes on with two of four nodes dead, and refuses what no node would answer', async () => {
    const before = idsOf(await list({ page_size: 1000 }))
    await Promise.all(network.scans.slice(2).map((scan) => scan.stop()))
    const answer = await list({ page_size: 1000 })
    expect(idsOf(answer)).toEqual(before)
    expect(answer.headers.get('x-quorum-agreed')).toBe('sv-1,sv-2')
    for (const body of [
      {},
      { page_size: 0 },
      { page_size: 1001 },
      { page_size: 1, begin_after_id: '7' },
      { page_size: 1, sort_order: 'newest' },
    ]) {
      const refused = await list(body)
      expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_ARGUMENT'])
    }
  })
})
