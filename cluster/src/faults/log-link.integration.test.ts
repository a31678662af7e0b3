/** Faults on the way between a follower and the log, which is a real one over HTTP. */
import { synchronizerRoutes } from '@quorumscan/api'
import { createKeyPair, createSystemClock, systemRandom, utf8 } from '@quorumscan/base'
import {
  createLogClient,
  createLogFeed,
  createLogWriter,
  createOrderingClient,
  LOG_RULES,
  LOG_USER,
} from '@quorumscan/log'
import { buildServer } from '@quorumscan/server'
import { startRedis, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEdge, link } from './edge.ts'
import type { LinkFault } from './fault-spec.ts'

const clock = createSystemClock()
const LATENCY_MS = 400
const TOKEN = 'token-of-a-peer-of-the-synchronizer'

async function startWorld() {
  const server = await startRedis([
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--maxmemory-policy',
    'noeviction',
    '--user',
    LOG_USER,
    'on',
    '>w',
    ...LOG_RULES.split(' '),
  ])
  const redis = { path: server.socketPath, username: LOG_USER, password: 'w' }
  const keyPair = createKeyPair()
  const genesis = {
    hash: 'ab'.repeat(32),
    recordTime: clock.nowMicros(),
    ordering: { driver: 'redis' as const, key: keyPair.publicKey },
  }
  const feed = createLogFeed({ redis, clock })
  const stop = new AbortController()
  const { signal } = stop
  const random = systemRandom
  const common = { redis, genesis, keyPair, clock, random, confirmingNodes: null, signal }
  const writer = await createLogWriter({ ...common, onCommitted: feed.publish })
  const http = buildServer({
    routes: { followLog: synchronizerRoutes.followLog },
    handlers: {
      followLog: async ({ query, signal }) => ({
        body: await feed.open({ ...query, peer: 'peer', signal }),
      }),
    },
    prefix: null,
    rateLimit: { unitsPerSecond: 1000, peerTokens: [TOKEN] },
  })
  const edge = createEdge({ clock, random: systemRandom })
  const { host } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  const toHttp = await link(edge, { at: '127.0.0.1:0', to: host })
  const log = createLogClient({ url: `http://${toHttp.address}`, token: TOKEN })
  const received: { readonly text: string; readonly offset: number; readonly atMs: number }[] = []
  const following = (async () => {
    const reader = createOrderingClient({ log, genesis, clock, random: systemRandom })
    const from = { from: 0, expected: null, batchEntriesMax: 10, signal }
    for await (const batch of reader.follow(from))
      for (const { offset, bytes } of batch)
        received.push({ offset, text: Buffer.from(bytes).toString(), atMs: clock.monotonicMs() })
  })()
  return {
    edge,
    received,
    write: (text: string) => writer.append(utf8(text)),
    find: (text: string) => received.find((entry) => entry.text === text),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await following
      edge.close()
      toHttp.close()
      await log[Symbol.asyncDispose]()
      await feed[Symbol.asyncDispose]()
      await http.close()
      await writer[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

it.each<LinkFault>([{ kind: 'reset' }, { kind: 'drop', rate: 1 }])(
  'a follower receives nothing during $kind of its link, and afterwards each entry once',
  async (fault) => {
    await using world = await startWorld()
    await world.write('before')
    await untilTrue('the first', () => world.find('before') !== undefined)
    world.edge.set([fault])
    for (let index = 0; index < 20; index++) await world.write(`meanwhile ${index}`)
    expect(world.find('meanwhile 19')).toBeUndefined()
    world.edge.set([])
    await world.write('afterwards')
    await untilTrue('the last', () => world.find('afterwards') !== undefined)
    expect(world.received.map(({ offset }) => offset)).toEqual(
      world.received.map((_, index) => index + 1),
    )
    expect(world.received.filter(({ text }) => text.startsWith('meanwhile'))).toHaveLength(20)
  },
)

it('delivers the whole log, late, to a follower on a slow link', async () => {
  await using world = await startWorld()
  await world.write('before')
  await untilTrue('the first', () => world.find('before') !== undefined)
  world.edge.set([{ kind: 'slow', latencyMs: LATENCY_MS, jitterMs: 0 }])
  const writtenMs = clock.monotonicMs()
  await world.write('slow')
  await untilTrue('it', () => world.find('slow') !== undefined)
  // A timer counts whole milliseconds.
  expect((world.find('slow')?.atMs ?? 0) - writtenMs).toBeGreaterThan(LATENCY_MS - 1)
})
