/**
 * The activity history through the scan proxy (D-26): agreed on, page by page, while rows arrive.
 *
 * @module-tag rest
 */

import { sha256 } from '@quorumscan/base'
import { createHttpClient, type HttpAnswer, send, until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { createPlatformCrypto } from '@quorumscan/verifier'
import {
  activitiesQuery,
  CERTIFIED_MEDIA_TYPE,
  createCertifiedVerifier,
} from '@quorumscan/verifier/certified'
import { describe, expect } from 'vitest'
import { startValidator } from '../server.ts'
import { openActivities } from '../testing/activity-socket.ts'
import { startNetwork } from '../testing/network.ts'

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  .extend('validator', { scope: 'file' }, async ({ network, fileResources }) => {
    const validator = fileResources.opened(await startValidator(network.config))
    const path = `${validator.url}/api/validator/readyz`
    await untilTrue('the validator', async () => (await send(path)).status === 200)
    return validator
  })
  .extend('anyone', { scope: 'file' }, ({ validator }) => createHttpClient(validator.url, null))
  .extend('alice', { scope: 'file' }, async ({ network, validator }) => {
    const alice = createHttpClient(validator.url, await network.token('alice'))
    await alice.post('/v0/register')
    return alice
  })
  .extend(
    'list',
    ({ anyone }) =>
      (body: unknown, headers: Record<string, string> = {}) =>
        anyone.post('/v0/scan-proxy/activities', body, headers),
  )
  /** A page, once enough nodes have reached the read floor of the validator. */
  .extend(
    'listReached',
    ({ list }) =>
      (body: unknown) =>
        until('enough nodes to have reached what was shown', async () => {
          const answer = await list(body)
          return answer.body['code'] === 'CONSENSUS_LAGGING' ? undefined : answer
        }),
  )
  .extend('tap', ({ alice }) => async (): Promise<void> => {
    expect(await alice.post('/v0/wallet/tap', { amount: '1.0' })).toAnswer(200)
  })

const idsOf = (answer: HttpAnswer) => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return (answer.body['activities'] as { event_id: string }[]).map((row) => row.event_id)
}

describe('the activity history through the proxy', () => {
  it('is the answer of enough nodes at one offset', async ({ tap, listReached, list, network }) => {
    await tap()
    await untilTrue('the tap', async () => idsOf(await listReached({ page_size: 1 })).length === 1)
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

  it('is walked in both directions while rows arrive, each row once', async ({
    tap,
    listReached,
  }) => {
    for (let count = 0; count < 4; count++) await tap()
    await untilTrue(
      'the taps',
      async () => idsOf(await listReached({ page_size: 1000 })).length === 5,
    )
    const begun = idsOf(await listReached({ page_size: 1000 }))
    const seen = { asc: [] as string[], desc: [begun.at(-1)] as string[] }
    for (let round = 0; seen.asc.length < 8; round++) {
      if (round < 3) await tap()
      for (const order of ['asc', 'desc'] as const) {
        const begin_after_id = seen[order].at(-1) ?? null
        const page = { page_size: 1 + (round % 3), begin_after_id, sort_order: order }
        seen[order].push(...idsOf(await listReached(page)))
      }
    }
    expect(seen.asc).toEqual(idsOf(await listReached({ page_size: 1000 })))
    expect(seen.desc).toEqual(begun.toReversed())
  })

  it('is proven by one document a page, to any client with the genesis', async ({
    network,
    list,
  }) => {
    const { genesis, genesisHash } = network
    const asked = { genesis, genesisHash, sha256, crypto: createPlatformCrypto() }
    const verifier = createCertifiedVerifier(asked)
    const before = await list({ page_size: 1000 }, { 'x-quorum': 'strong' })
    for (const order of ['asc', 'desc'] as const)
      for (const after of [null, idsOf(before)[2] ?? null, '9999999999999999:9999']) {
        const body = { page_size: 2, begin_after_id: after, sort_order: order }
        const stateQuery = activitiesQuery({ pageSize: 2, after, order }, asked)
        const floor = Number(before.headers.get('x-quorum-offset'))
        const accept = { accept: CERTIFIED_MEDIA_TYPE, 'x-quorum': 'strong' }
        const document = await list({ ...body, min_offset: floor }, accept)
        const verified = await verifier.verify(document.text, stateQuery, 'strong')
        expect(verified.offset).toBeGreaterThanOrEqual(floor)
        expect(verified.answer).toEqual((await list(body)).body)
        const certified = await list(body, { 'x-quorum': 'certified' })
        expect(certified.body).toEqual(verified.answer)
        expect(certified.headers.get('x-quorum-outcome')).toBe('verified')
        // A node proves it in the same way.
        const [node] = network.peers
        const ofNode = await send(`${node?.url}/v0/activities`, {
          method: 'POST',
          headers: { accept: CERTIFIED_MEDIA_TYPE, 'content-type': 'text/plain' },
          body: JSON.stringify({ ...body, min_offset: floor, signers: 'strong' }),
        })
        const byNode = await verifier.verify(ofNode.text, stateQuery, 'strong')
        expect(byNode.answer).toEqual(verified.answer)
      }
  })

  it('announces more rows over a WebSocket', async ({ list, validator, tap }) => {
    const count = idsOf(await list({ page_size: 1000 })).length
    await using news = await openActivities(validator.url, {})
    await untilTrue('the first frame', async () => news.frames.length === 1)
    await tap()
    await untilTrue('the tap', async () => {
      const body = { page_size: 1000, min_offset: news.frames.at(-1)?.offset }
      const page = await list(body, { 'x-quorum': 'certified' })
      return news.frames.length > 1 && idsOf(page).length === count + 1
    })
  })

  it('refuses malformed requests over a WebSocket', async ({ validator }) => {
    const news = await openActivities(validator.url, 'nonsense')
    expect(await news.closed).toBe(1000)
    expect(news.frames).toEqual([
      expect.objectContaining({ code: 'MALFORMED_BODY', definite: true }),
    ])
  })

  it('answers with two of four nodes down, and refuses requests that nodes refuse', async ({
    list,
    network,
  }) => {
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
