/** Real nodes whose replicas have another layout, each in its own Redis. */
import { send, until, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { startNetwork } from '../testing/network.ts'

it('of two nodes with replicas of another layout, one waits until the other serves', async () => {
  await using network = await startNetwork(2)
  const { peers, nodeRedis } = network
  const start = (index: number, signal?: AbortSignal) =>
    network.startNode(
      index,
      { port: Number(new URL(peers[index]?.url ?? '').port), nodes: peers },
      signal === undefined ? {} : { signal },
    )
  const get = (index: number, path: string) => send(`${peers[index]?.url}${path}`)
  const headOf = async (index: number) =>
    Number((await get(index, '/livez')).headers.get('x-ledger-head'))
  let head: number
  {
    await using _first = await start(0)
    await using _second = await start(1)
    await untilTrue('both to have followed the log', async () => (await headOf(1)) > 0)
    head = await headOf(1)
  }
  for (const redis of nodeRedis) {
    const admin = redis.connect()
    await admin.hset('{replica}:names', '', '\u0001 of an older layout')
    admin.disconnect()
  }
  // No process listens on its port, so it is silent at first.
  const ending = new AbortController()
  const ended = start(1, ending.signal).catch((error: unknown) => error)
  const refusal = await until('the second node to wait', async () => {
    const answer = await get(1, '/readyz').catch(() => null)
    return answer?.body?.details?.state === 'waiting-to-rebuild' &&
      answer.body.error.includes('after sv-1')
      ? answer
      : undefined
  })
  expect(refusal).toMatchObject({ status: 503, body: { code: 'NOT_READY', retryable: true } })
  expect((await get(1, '/livez')).headers.get('x-clock')).toMatch(/^[0-9]+$/)
  // If all nodes wait, the synchronizer orders nothing before most have reported this.
  expect(await headOf(1)).toBeGreaterThanOrEqual(head)
  expect((await get(1, '/v0/snapshots')).body).toEqual({ snapshots: [] })
  expect((await get(1, '/status')).body.success.extra.state).toBe('waiting-to-rebuild')
  // 503 and not 404: readers count a 404 as a vote for absence.
  for (const path of ['/v0/ans-entries/by-name/dso.ns', '/v0/genesis'])
    expect(await get(1, path)).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
  ending.abort(new Error('stopped by the test'))
  expect(await ended).toMatchObject({ message: 'stopped by the test' })
  const kept = nodeRedis[1]?.connect()
  expect(await kept?.hget('{replica}:names', '')).toBe('\u0001 of an older layout')
  kept?.disconnect()

  const second = start(1)
  await using first = await start(0)
  await using _second = await second
  for (const index of [0, 1])
    await until(`node ${index} to serve`, async () =>
      (await get(index, '/readyz')).status === 200 ? true : undefined,
    )
  expect(first.url).toBe(peers[0]?.url)
  expect(await get(1, '/v0/ans-entries/by-name/dso.ns')).toAnswer(200)
})
