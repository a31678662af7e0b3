/** The cluster with small stand-in processes for the apps, and every Redis real. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { LOG_ACL } from '@quorumscan/log'
import { untilTrue } from '@quorumscan/testkit'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { Cluster, cleanUp } from './cluster.ts'
import { dataDirectory } from './data-directory.ts'
import { prepareCluster } from './prepare.ts'

// Real processes take their time on a machine that does other things, too.
const clock = createSystemClock()

// Writes down when it starts and ends; says 'catching-up' while the file CATCHING-UP is there.
const STAND_IN = `
const { appendFileSync, existsSync } = require('node:fs')
const { createServer } = require('node:http')
const { QS_PORT, QS_NODE_NAME, QS_KEY_FILE, EVENTS, HOLD } = process.env
const name = QS_NODE_NAME ?? (QS_KEY_FILE ? 'synchronizer' : 'validator')
appendFileSync(EVENTS, '+' + name + '\\n')
process.on('SIGTERM', () => { appendFileSync(EVENTS, '-' + name + '\\n'); process.exit() })
createServer((request, response) => {
  const isHeld = existsSync(HOLD)
  response.statusCode = isHeld ? 503 : 200
  response.setHeader('x-ledger-head', '7')
  response.setHeader('x-ledger-head-time', '2026-01-01T00:00:00.000000Z')
  response.end(isHeld ? JSON.stringify({ error: 'not yet', details: { state: 'catching-up' } }) : '')
}).listen(Number(QS_PORT), '127.0.0.1')
`

async function startWorld() {
  const path = await mkdtemp(join(tmpdir(), 'qs-cluster-'))
  const [main, events, hold] = ['main.cjs', 'events', 'hold'].map((name) => join(path, name))
  if (main === undefined || events === undefined || hold === undefined) throw new Error('no paths')
  await writeFile(main, STAND_IN)
  const prepared = await prepareCluster({
    directory: dataDirectory(join(path, 'data')),
    nodeCount: 2,
    basePort: 0,
    overrides: null,
    clock,
  })
  const createCluster = ({ adopt, rateLimit = 1000 }: { adopt: boolean; rateLimit?: number }) =>
    new Cluster({
      prepared,
      clock,
      wipe: false,
      adopt,
      consoleUrl: null,
      onStep: () => {},
      topology: {
        redisServer: process.env['REDIS_SERVER'] ?? 'redis-server',
        rateLimit,
        mains: { scan: main, validator: main, synchronizer: main },
        logRules: LOG_ACL,
        env: { ...process.env, EVENTS: events, HOLD: hold },
      },
    })
  const cluster = createCluster({ adopt: false })
  const start = cluster.start()
  await start.catch(() => cluster.stop())
  await start
  return {
    cluster,
    createCluster,
    prepared,
    hold,
    events: async () => (await readFile(events, 'utf8')).trim().split('\n'),
    node: (name: string) => cluster.status().nodes.find((node) => node.name === name),
    /** A client of the Redis of a node or of the validator. */
    redisOf: async (name: string) => {
      const config = await readFile(
        join(prepared.directory.redisDirectory(name), 'redis.conf'),
        'utf8',
      )
      return new Redis({ path: /^unixsocket "(.*)"$/m.exec(config)?.[1] ?? '' })
    },
    [Symbol.asyncDispose]: async () => {
      await cluster.stop()
      await rm(path, { recursive: true, force: true })
    },
  }
}

it('starts the synchronizer, then the nodes, then the validator, and stops in the opposite order', async () => {
  await using world = await startWorld()
  const status = world.cluster.status()
  expect(status.nodes.map((node) => [node.name, node.state, node.offset])).toEqual([
    ['sv-1', 'up', 7],
    ['sv-2', 'up', 7],
  ])
  expect(status.cluster).toMatchObject({ n: 2, f: 0, readThreshold: 1, confirmThreshold: 2 })
  expect([status.validator.state, status.synchronizer.state]).toEqual(['up', 'up'])

  await world.cluster.stop()
  const events = await world.events()
  expect(events[0]).toBe('+synchronizer')
  expect(events.slice(1, 3).sort()).toEqual(['+sv-1', '+sv-2'])
  expect(events.slice(3, 5)).toEqual(['+validator', '-validator'])
  expect(events.slice(5, 7).sort()).toEqual(['-sv-1', '-sv-2'])
  expect(events[7]).toBe('-synchronizer')
  expect(await cleanUp(world.prepared.directory, clock)).toBe(0)
})

it('tells killed, paused, restarted and catching-up nodes apart, and never waits for a paused one', async () => {
  await using world = await startWorld()
  await world.cluster.kill({ node: 'sv-1', redis: false })
  expect(world.node('sv-1')).toMatchObject({ state: 'down', pid: null })
  await world.cluster.restart({ node: 'sv-1', redis: false })
  expect(world.node('sv-1')).toMatchObject({ state: 'up', detail: null })

  await world.cluster.pause({ node: 'sv-2', redis: false })
  const askedAt = clock.monotonicMs()
  expect(world.node('sv-2')?.state).toBe('paused')
  expect(clock.monotonicMs() - askedAt).toBeLessThan(100)
  await world.cluster.resume({ node: 'sv-2', redis: false })
  expect(world.node('sv-2')?.state).toBe('up')

  await writeFile(world.hold, '')
  await untilTrue(
    'sv-1 to say that it catches up',
    () => world.node('sv-1')?.state === 'catching-up',
  )
  expect(world.node('sv-1')?.detail).toBe('not yet')
  await rm(world.hold)
})

it('kills, pauses and restarts the Redis of a node apart from the node', async () => {
  await using world = await startWorld()
  const pid = world.node('sv-1')?.pid
  await world.cluster.kill({ node: 'sv-1', redis: true })
  expect(world.node('sv-1')).toMatchObject({ state: 'down', pid, redisPid: null })
  await world.cluster.restart({ node: 'sv-1', redis: true })
  expect(world.node('sv-1')).toMatchObject({ state: 'up', pid })
  await world.cluster.pause({ node: 'sv-1', redis: true })
  expect(world.node('sv-1')).toMatchObject({ state: 'paused', detail: 'its Redis is paused' })
})

it('starts the Redis of a node with the node when both are down', async () => {
  await using world = await startWorld()
  await world.cluster.kill({ node: 'validator', redis: true })
  await world.cluster.kill({ node: 'validator', redis: false })
  await world.cluster.restart({ node: 'validator', redis: false })
  const { validator } = world.cluster.status()
  expect(validator.state).toBe('up')
  expect(validator.redisPid).not.toBe(null)
})

it('refuses what makes no sense, with a sentence', async () => {
  await using world = await startWorld()
  const { cluster } = world
  await expect(cluster.kill({ node: 'sv-9', redis: false })).rejects.toThrow(
    'there is no node sv-9; there are synchronizer, sv-1, sv-2, validator',
  )
  await expect(cluster.wipe('synchronizer')).rejects.toThrow('cannot be wiped')
  await cluster.kill({ node: 'sv-1', redis: false })
  await expect(cluster.pause({ node: 'sv-1', redis: false })).rejects.toThrow('does not run')
})

it('stops in order with paused processes among them', async () => {
  await using world = await startWorld()
  await world.cluster.pause({ node: 'sv-1', redis: false })
  await world.cluster.pause({ node: 'sv-2', redis: true })
  await world.cluster.stop()
  expect(await world.events()).toContain('-sv-1')
  expect(await cleanUp(world.prepared.directory, clock)).toBe(0)
})

it('wipes all that a node keeps, and of the validator the replica only', async () => {
  await using world = await startWorld()
  for (const node of ['sv-1', 'validator']) {
    const redis = await world.redisOf(node)
    await redis.mset('{replica}:x', '1', '{users}:x', '1')
    redis.disconnect()
    await world.cluster.wipe(node)
    const after = await world.redisOf(node)
    expect(await after.keys('*'), node).toEqual(node === 'sv-1' ? [] : ['{users}:x'])
    after.disconnect()
  }
  expect(world.node('sv-1')?.state).toBe('up')
  expect(world.cluster.status().validator.state).toBe('up')
})

it('leaves nothing behind after a crash once the next one has cleaned up', async () => {
  await using world = await startWorld()
  const { directory } = world.prepared
  const { path } = JSON.parse(await readFile(directory.socketsFile, 'utf8')) as { path: string }
  // Four processes and the Redis of each; this test's own supervisor stands for a crashed one.
  expect(await cleanUp(directory, clock)).toBe(8)
  expect(existsSync(path)).toBe(false)
  expect(await cleanUp(directory, clock)).toBe(0)
})

it('is taken over after a crash by the next one, with the faults in force, and then stopped whole', async () => {
  await using world = await startWorld()
  await world.cluster.kill({ node: 'sv-1', redis: false })
  await world.cluster.pause({ node: 'sv-2', redis: false })
  const pidsOf = (cluster: Cluster) => {
    const { nodes, validator, synchronizer } = cluster.status()
    return [...nodes, validator, synchronizer].flatMap(({ pid, redisPid }) => [pid, redisPid])
  }
  const pids = pidsOf(world.cluster)

  // This test's own supervisor stands for a crashed one.
  const next = world.createCluster({ adopt: true })
  expect(await next.endOthers()).toEqual({ adopted: 7, ended: 0 })
  await next.start()
  expect(pidsOf(next)).toEqual(pids)
  expect(next.faults().map(({ spec }) => [spec.node, spec.kind])).toEqual([
    ['sv-1', 'kill'],
    ['sv-2', 'pause'],
  ])
  expect(next.status().nodes.map(({ state }) => state)).toEqual(['down', 'paused'])
  await next.heal({})
  expect(next.status().nodes.map(({ state }) => state)).toEqual(['up', 'up'])
  expect(next.status().nodes[1]?.pid).toBe(pids[2])
  await next.stop()
  expect(await cleanUp(world.prepared.directory, clock)).toBe(0)
})

it('ends after a crash what would be started in another way now', async () => {
  await using world = await startWorld()
  const next = world.createCluster({ adopt: true, rateLimit: 2000 })
  // Each Redis stays.
  expect(await next.endOthers()).toEqual({ adopted: 4, ended: 4 })
  await next.start()
  expect(next.status().validator.state).toBe('up')
  await next.stop()
})
