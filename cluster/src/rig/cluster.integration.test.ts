/**
 * The cluster with small stand-in processes for the apps, and every Redis real. Most tests share a cluster, and are given it
 * with all processes up.
 *
 * @module-tag cluster
 * @module-tag rest
 */

import { existsSync, mkdirSync } from 'node:fs'
import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createSystemClock, keyPairFromSeed, systemRandom } from '@quorumscan/base'
import { verifyLogOf } from '@quorumscan/cli'
import { createLogWriter, LOG_RULES, LOG_USER } from '@quorumscan/log'
import type { OrderingDriver } from '@quorumscan/operator'
import { dataDirectory } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { CommandError, readOwnJson } from '@quorumscan/runtime'
import { createDirectory, required, serve, until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Redis } from 'ioredis'
import { describe, expect } from 'vitest'
import { faultSocketOf } from '../faults/fault-sockets.ts'
import { Cluster, cleanUp } from './cluster.ts'
import { prepareCluster } from './prepare.ts'

// Real processes take their time on a machine that does other things, too.
const clock = createSystemClock()

// Records when it starts and ends. Reports 'catching-up' while the file HOLD exists, or its Redis does not answer.
const STAND_IN = `
const { appendFileSync, existsSync } = require('node:fs')
const { createServer } = require('node:http')
const { connect } = require('node:net')
const { QS_PORT, QS_NODE_NAME, QS_KEY_FILE, QS_REDIS, QS_LOG_REDIS, EVENTS, HOLD } = process.env
const name = QS_NODE_NAME ?? (QS_KEY_FILE ? 'synchronizer' : 'validator')
appendFileSync(EVENTS, '+' + name + '\\n')
process.on('SIGTERM', () => { appendFileSync(EVENTS, '-' + name + '\\n'); process.exit() })
const isRedisThere = () => new Promise((resolve) => {
  const socket = connect((QS_REDIS ?? QS_LOG_REDIS).slice('unix://'.length), () => socket.write('PING\\r\\n'))
  socket.on('data', () => resolve(true)).on('data', () => socket.destroy())
  socket.on('error', () => {}).on('close', () => resolve(false))
})
createServer(async (request, response) => {
  if (request.url.endsWith('/status')) {
    const extra = { offset: QS_NODE_NAME ? 7 : 6, recordTime: '2026-01-01T00:00:00.000000Z' }
    return response.end(JSON.stringify({ success: { extra } }))
  }
  const isHeld = existsSync(HOLD) || !(await isRedisThere())
  response.statusCode = isHeld ? 503 : 200
  response.end(isHeld ? JSON.stringify({ error: 'not yet', details: { state: 'catching-up' } }) : '')
}).listen(Number(QS_PORT), '127.0.0.1')
`

type World = Awaited<ReturnType<typeof startWorld>>

/** Health is polled: a process that gets no time is silent for a moment, also right after the start. */
const untilStates = (cluster: Cluster, ...states: readonly string[]) =>
  untilTrue(`the nodes to be ${states.join(', ')}`, () => {
    const { nodes } = cluster.status()
    return nodes.map(({ state }) => state).join() === states.join()
  })

function stopping(cluster: Cluster) {
  return { cluster, [Symbol.asyncDispose]: () => cluster.stop() }
}

async function startWorld({
  nodeCount = 2,
  ordering = 'redis',
}: {
  nodeCount?: number
  ordering?: OrderingDriver
} = {}) {
  const { path, ...temporary } = createDirectory()
  const [main, events, hold] = ['main.cjs', 'events', 'hold'].map((name) => join(path, name))
  if (main === undefined || events === undefined || hold === undefined) throw new Error('no paths')
  await writeFile(main, STAND_IN)
  const prepared = await prepareCluster({
    directory: dataDirectory(join(path, 'data')),
    nodeCount,
    ordering,
    basePort: 0,
    overrides: null,
    clock,
  })
  const incidents: string[] = []
  const crashes = new Map<Cluster, AbortController>()
  const createCluster = ({
    rateLimit = 1000,
    redisMemoryMib = null,
    onStep = () => {},
  }: {
    rateLimit?: number
    redisMemoryMib?: number | null
    onStep?: (sentence: string) => void
  } = {}) => {
    const crash = new AbortController()
    // A crashed control plane does nothing more.
    const mortal: typeof clock = {
      ...clock,
      delay: (ms, signal) =>
        crash.signal.aborted ? new Promise(() => {}) : clock.delay(ms, signal),
    }
    const created = new Cluster({
      prepared,
      clock: mortal,
      wipe: false,
      consoleUrl: null,
      onStep,
      onIncident: (_, sentence) => void incidents.push(sentence),
      topology: {
        redisServer: required('redis'),
        rateLimit,
        diskFreeMibMin: 0,
        redisMemoryMib,
        logKeepSeconds: 86_400,
        isLossAccepted: false,
        entryFiles: { scan: main, validator: main, synchronizer: main },
        logUser: { name: LOG_USER, rules: LOG_RULES },
        engineProgram: null,
        // In a locale that no machine has, Redis 8 and Valkey do not start.
        env: { ...process.env, LC_ALL: 'xx_XX.UTF-8', EVENTS: events, HOLD: hold },
      },
    })
    crashes.set(created, crash)
    return created
  }
  const cluster = createCluster()
  const start = cluster.start()
  await start.catch(() => cluster.stop())
  await start
  return {
    cluster,
    createCluster,
    prepared,
    hold,
    incidents,
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
    /** As if the control plane of this cluster had been killed. */
    crash: (killed: Cluster) => crashes.get(killed)?.abort(),
    /** Ends faults and holds, starts what is down, and waits until all processes are up. */
    async heal() {
      await rm(hold, { force: true })
      await cluster.faults.heal({})
      await untilTrue('all processes to be up', () => {
        const { nodes, members, validator, synchronizer } = cluster.status()
        return [...nodes, ...members, validator, synchronizer].every(({ state }) => state === 'up')
      })
      incidents.length = 0
    },
    [Symbol.asyncDispose]: async () => {
      if (!crashes.get(cluster)?.signal.aborted) await cluster.stop()
      await cleanUp(prepared.directory, clock)
      temporary[Symbol.dispose]()
    },
  }
}

const it = base
  .extend('world', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startWorld()),
  )
  .extend('healed', async ({ world }) => {
    await world.heal()
    return world
  })
  /** Members order together in it. */
  .extend('worldOfMembers', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startWorld({ ordering: 'cometbft' })),
  )
  .extend('healedMembers', async ({ worldOfMembers }) => {
    await worldOfMembers.heal()
    return worldOfMembers
  })

it('starts the synchronizer and the nodes, then the validator, and stops in the opposite order, also what is paused', async () => {
  await using world = await startWorld()
  await world.heal()
  const status = world.cluster.status()
  expect(status.nodes.map((node) => [node.name, node.state, node.offset])).toEqual([
    ['sv-1', 'up', 7],
    ['sv-2', 'up', 7],
  ])
  expect(status.cluster).toMatchObject({ n: 2, f: 0, readThreshold: 1, confirmThreshold: 2 })
  expect(
    [status.validator, status.synchronizer].map(({ state, offset }) => [state, offset]),
  ).toEqual([
    ['up', 6],
    ['up', 6],
  ])

  await world.cluster.faults.apply({ kind: 'pause', node: 'sv-1', part: null }, null)
  await world.cluster.faults.apply({ kind: 'pause', node: 'sv-2', part: 'redis' }, null)
  await world.cluster.stop()
  const events = await world.events()
  // They need each other to become ready.
  expect(events.slice(0, 3).sort()).toEqual(['+sv-1', '+sv-2', '+synchronizer'])
  expect(events.slice(3, 5)).toEqual(['+validator', '-validator'])
  expect(events.slice(5, 7).sort()).toEqual(['-sv-1', '-sv-2'])
  expect(events[7]).toBe('-synchronizer')
  const { directory } = world.prepared
  expect(await cleanUp(directory, clock)).toBe(0)
  await expect(verifyLogOf(directory)).rejects.toThrow(/^no cluster runs in .*`quorumscan up`/)
})

it('distinguishes killed, paused, restarted and catching-up nodes, and never waits for a paused one', async ({
  healed: world,
}) => {
  await world.cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
  expect(world.node('sv-1')).toMatchObject({ state: 'down', pid: null, offset: null })
  await world.cluster.faults.restart({ node: 'sv-1', part: null })
  expect(world.node('sv-1')).toMatchObject({ state: 'up', detail: null })

  await world.cluster.faults.apply({ kind: 'pause', node: 'sv-2', part: null }, null)
  expect(world.node('sv-2')?.state).toBe('paused')
  await world.cluster.faults.resume({ node: 'sv-2', part: null })
  expect(world.node('sv-2')?.state).toBe('up')

  await writeFile(world.hold, '')
  await untilTrue(
    'sv-1 to say that it catches up',
    () => world.node('sv-1')?.state === 'catching-up',
  )
  expect(world.node('sv-1')?.detail).toBe('not yet')
  await rm(world.hold)
})

it('kills, pauses and restarts the Redis of a node separately', async ({ healed: world }) => {
  const { pid, redisPid: first } = world.node('sv-1') ?? {}
  const target = { node: 'sv-1', part: 'redis' } as const
  await world.cluster.faults.restart(target)
  const second = world.node('sv-1')?.redisPid
  expect([null, first]).not.toContain(second)
  await world.cluster.faults.apply({ kind: 'kill', ...target }, null)
  expect(world.node('sv-1')).toMatchObject({ state: 'down', pid, redisPid: null })

  await writeFile(world.hold, '')
  const restarted = world.cluster.faults.restart(target).then(() => world.node('sv-1'))
  await untilTrue('its Redis to run', () => (world.node('sv-1')?.redisPid ?? null) !== null)
  await rm(world.hold)
  expect(await restarted, 'a restart waits for the node').toMatchObject({
    state: 'up',
    pid,
  })
  await world.cluster.faults.apply({ kind: 'pause', node: 'sv-1', part: 'redis' }, null)
  expect(world.node('sv-1')).toMatchObject({ state: 'paused', detail: 'its Redis is paused' })
})

it('starts the Redis of a node with the node when both are down', async ({ healed: world }) => {
  await world.cluster.faults.apply({ kind: 'kill', node: 'validator', part: 'redis' }, null)
  await world.cluster.faults.apply({ kind: 'kill', node: 'validator', part: null }, null)
  await world.cluster.faults.restart({ node: 'validator', part: null })
  const { validator } = world.cluster.status()
  expect(validator.state).toBe('up')
  expect(validator.redisPid).not.toBe(null)
})

describe('where members order together', () => {
  const memberOf = ({ cluster }: World, name: string) =>
    cluster.status().members.find((member) => member.name === name)

  it('a node is all its processes, and a part of it is one process', async ({
    healedMembers: world,
  }) => {
    const { cluster } = world
    const before = memberOf(world, 'sv-1')?.pid
    await cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
    expect(world.node('sv-1')).toMatchObject({ state: 'down', pid: null, redisPid: null })
    expect(memberOf(world, 'sv-1')).toMatchObject({ state: 'down', pid: null })
    expect(cluster.status().nodes.filter(({ state }) => state === 'up')).toHaveLength(1)
    await cluster.faults.heal({})
    expect([world.node('sv-1')?.state, memberOf(world, 'sv-1')?.state]).toEqual(['up', 'up'])
    expect(memberOf(world, 'sv-1')?.pid).not.toBe(before)

    await cluster.faults.apply({ kind: 'pause', node: 'sv-2', part: null }, null)
    expect([world.node('sv-2')?.state, memberOf(world, 'sv-2')?.state]).toEqual([
      'paused',
      'paused',
    ])
    await cluster.faults.resume({ node: 'sv-2', part: null })
    expect(cluster.faults.active()).toEqual([])

    await cluster.faults.apply({ kind: 'kill', node: 'sv-2', part: 'synchronizer' }, null)
    expect([world.node('sv-2')?.state, memberOf(world, 'sv-2')?.state]).toEqual(['up', 'down'])
    // A process that was killed separately stays down when the node is healed.
    await cluster.faults.apply({ kind: 'kill', node: 'sv-2', part: null }, null)
    await cluster.faults.heal({ id: cluster.faults.active()[1]?.id ?? '' })
    expect([world.node('sv-2')?.state, memberOf(world, 'sv-2')?.state]).toEqual(['up', 'down'])
    await cluster.faults.restart({ node: 'sv-2', part: null })
    expect(memberOf(world, 'sv-2')?.state).toBe('up')
  })

  it('a wipe deletes only the replica, and a wipe of the disk keeps only the keys', async ({
    healedMembers: world,
  }) => {
    const { cluster, prepared } = world
    const keysIn = async () => {
      const redis = await world.redisOf('sv-1')
      return (await redis.keys('*').finally(() => redis.disconnect())).sort()
    }
    const redis = await world.redisOf('sv-1')
    await redis.mset('{replica}:names', 'a', 'log', 'b')
    redis.disconnect()
    await cluster.disks.wipe('sv-1')
    expect(await keysIn()).toEqual(['log'])
    const engine = prepared.directory.engineDirectory('sv-1')
    expect(existsSync(engine)).toBe(true)
    await cluster.disks.wipeDisk('sv-1')
    expect(await keysIn()).toEqual([])
    expect(existsSync(engine)).toBe(false)
    expect(existsSync(prepared.directory.keyFile('sv-1.voting'))).toBe(true)
    await expect(cluster.disks.wipeDisk('validator')).rejects.toThrow('has no engine')
  })

  it('a failed wipe of a disk leaves the node running with all its data', async ({
    healedMembers: world,
  }) => {
    const { cluster, prepared } = world
    const redis = await world.redisOf('sv-2')
    await redis.set('log', 'b')
    redis.disconnect()
    const engine = prepared.directory.engineDirectory('sv-2')
    const engineFiles = await readdir(engine)
    // They cannot be moved: a file has the name of their directory.
    const snapshots = join(prepared.directory.snapshotDirectory('sv-2'), '..')
    await rm(snapshots, { recursive: true, force: true })
    await writeFile(snapshots, '')
    await expect(cluster.disks.wipeDisk('sv-2')).rejects.toThrow(
      /^sv-2 was not wiped: .*snapshots.*; it runs again with its data/,
    )
    await untilTrue('both to be up', () =>
      [world.node('sv-2')?.state, memberOf(world, 'sv-2')?.state].every((state) => state === 'up'),
    )
    expect(await readdir(engine)).toEqual(engineFiles)
    const after = await world.redisOf('sv-2')
    expect(await after.get('log').finally(() => after.disconnect())).toBe('b')

    await rm(snapshots)
    await cluster.disks.wipeDisk('sv-2')
    expect(existsSync(engine)).toBe(false)
    expect(await readdir(join(prepared.directory.path, 'redis'))).not.toContain('sv-2.wiped')
  })

  it("a wipe of the disk of the validator's synchronizer keeps the other data of the validator", async ({
    healedMembers: world,
  }) => {
    const { cluster, prepared } = world
    const redis = await world.redisOf('validator')
    await redis.mset('users:alice', 'a', 'log', 'b', 'log-start', 'c')
    const engine = prepared.directory.engineDirectory('validator')
    mkdirSync(engine)
    await cluster.disks.wipeDisk('synchronizer')
    expect(await redis.keys('*').finally(() => redis.disconnect())).toEqual(['users:alice'])
    expect(existsSync(engine)).toBe(false)
  })

  it('`log repair` and faults of parts that do not exist are refused', async ({
    healedMembers: world,
  }) => {
    const { cluster, prepared } = world
    const ofMembers = 'gets it from the others'
    await expect(cluster.disks.repairLog({ isCutAllowed: false })).rejects.toThrow(ofMembers)
    await expect(verifyLogOf(prepared.directory)).rejects.toThrow(ofMembers)
    await expect(
      cluster.faults.apply({ kind: 'kill', node: 'validator', part: 'cometbft' }, null),
    ).rejects.toThrow('validator has no cometbft of its own')
    await expect(
      cluster.faults.apply({ kind: 'split', node: 'sv-1', others: ['validator'] }, null),
    ).rejects.toThrow('validator: it has no engine')
  })
})

it('treats a process with malformed replies on its control socket as one that does not answer', async ({
  healed: world,
}) => {
  const { cluster } = world
  const received: string[] = []
  let reply = 'rubbish'
  await using _agent = await serve(
    (request, response) => {
      void text(request).then((body) => {
        received.push(body)
        response.end(reply)
      })
    },
    { at: faultSocketOf(cluster.servicesOf('sv-1')[0]) },
  )
  await cluster.faults.apply({ kind: 'lie', node: 'sv-1', lie: 'deny' }, null)
  await untilTrue('it to be asked again and again', () => received.length > 3)
  reply = '{"horizon":"many"}'
  await expect(cluster.prune({ node: 'sv-1', to: 1 })).rejects.toThrow(
    'its control socket sent a malformed reply to /prune: horizon: Invalid input: expected number, received string',
  )
  expect(world.incidents).toEqual([
    'sv-1: its control socket sent a malformed reply to /faults: it is not JSON',
  ])
  expect(world.node('sv-1')?.state).toBe('up')

  reply = 'null'
  const count = received.length
  await untilTrue('it to receive the fault', () => received.length > count)
  expect(JSON.parse(received.at(-1) ?? '')).toMatchObject({ lie: 'deny' })
})

it('refuses invalid commands with a sentence', async ({ healed: world }) => {
  const { cluster } = world
  await expect(
    cluster.faults.apply({ kind: 'kill', node: 'sv-9', part: null }, null),
  ).rejects.toThrow('unknown node sv-9; the nodes are synchronizer, sv-1, sv-2, validator')
  await expect(cluster.disks.wipe('synchronizer')).rejects.toThrow('cannot be wiped')
  await cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
  await expect(
    cluster.faults.apply({ kind: 'pause', node: 'sv-1', part: null }, null),
  ).rejects.toThrow('is not running')
})

it('wipes all data of a node, but only the replica of the validator', async ({ healed: world }) => {
  for (const node of ['sv-1', 'validator']) {
    const redis = await world.redisOf(node)
    await redis.mset('{replica}:x', '1', '{users}:x', '1')
    redis.disconnect()
    await world.cluster.disks.wipe(node)
    const after = await world.redisOf(node)
    expect(await after.keys('*'), node).toEqual(node === 'sv-1' ? [] : ['{users}:x'])
    after.disconnect()
  }
  expect(world.node('sv-1')?.state).toBe('up')
  expect(world.cluster.status().validator.state).toBe('up')
})

it('the next control plane takes over a crashed cluster and its faults, and `cleanUp` ends all its processes', async () => {
  await using world = await startWorld()
  await world.cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
  await world.cluster.faults.apply({ kind: 'pause', node: 'sv-2', part: null }, null)
  const pidsOf = (cluster: Cluster) => {
    const { nodes, validator, synchronizer } = cluster.status()
    return [...nodes, validator, synchronizer].flatMap(({ pid, redisPid }) => [pid, redisPid])
  }
  const pids = pidsOf(world.cluster)

  world.crash(world.cluster)
  const next = world.createCluster()
  expect(await next.endOthers()).toEqual({ adopted: 7, ended: 0 })
  await next.start()
  expect(pidsOf(next)).toEqual(pids)
  expect(next.faults.active().map(({ spec }) => [spec.node, spec.kind])).toEqual([
    ['sv-1', 'kill'],
    ['sv-2', 'pause'],
  ])
  await untilStates(next, 'down', 'paused')
  await next.faults.heal({})
  await untilStates(next, 'up', 'up')
  expect(next.status().nodes[1]?.pid).toBe(pids[2])

  const { directory } = world.prepared
  const { path } = readOwnJson(directory.socketsFile) as { path: string }
  world.crash(next)
  // Four processes and the Redis of each.
  expect(await cleanUp(directory, clock)).toBe(8)
  expect(existsSync(path)).toBe(false)
  expect(await cleanUp(directory, clock)).toBe(0)
})

it('ends processes after a crash that would now be started in another way', async () => {
  await using world = await startWorld()
  world.crash(world.cluster)
  const next = world.createCluster({ rateLimit: 2000 })
  // Each Redis continues.
  expect(await next.endOthers()).toEqual({ adopted: 4, ended: 4 })
  await next.start()
  expect(next.status().validator.state).toBe('up')
  await next.stop()
})

it('starts nothing if a Redis holds more than its share of the memory, and says what to set', async () => {
  await using world = await startWorld()
  const redis = await world.redisOf('sv-1')
  for (let index = 0; index < 20; index++) await redis.set(`key ${index}`, 'x'.repeat(2 ** 20))
  redis.disconnect()
  await world.cluster.stop()
  const small = world.createCluster({ redisMemoryMib: 64 })
  await expect(small.start()).rejects.toThrow(
    /^the Redis of sv-1 holds up to 2\d MiB, and has 16 MiB: .*`quorumscan up --redis-memory 1\d\d` gives each of 4 enough$/,
  )
  await small.stop()
  const large = world.createCluster({ redisMemoryMib: 160 })
  await large.start()
  expect(large.status().validator.state).toBe('up')
  await large.stop()
})

describe('a process that exits unexpectedly', () => {
  const untilUp = (
    world: World,
    node: string,
    pids: { pid?: number | null; redisPid?: number | null },
  ) =>
    until(`${node} to be up again`, () => {
      const found = world.node(node)
      const isNew = found?.pid !== pids.pid && found?.redisPid !== pids.redisPid
      return found?.state === 'up' && found.pid !== null && isNew ? found : undefined
    })

  it('is restarted, whether app or Redis, and reported', async ({ healed: world }) => {
    const before = world.node('sv-1')
    process.kill(before?.pid ?? 0, 'SIGKILL')
    const second = await untilUp(world, 'sv-1', { pid: before?.pid ?? null })
    expect(second.redisPid).toBe(before?.redisPid)
    process.kill(second.redisPid ?? 0, 'SIGKILL')
    const third = await untilUp(world, 'sv-1', { redisPid: second.redisPid })
    expect(third.pid).toBe(second.pid)
    expect(world.incidents).toEqual([
      'sv-1 exited unexpectedly (SIGKILL); restarting',
      'sv-1.redis exited unexpectedly (SIGKILL); restarting',
    ])
  })

  it('stays down if a fault killed it, while its Redis is restarted', async ({ healed: world }) => {
    await world.cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
    // Its Redis is restarted. After that, nothing else is restarted.
    const before = world.node('sv-1')
    process.kill(before?.redisPid ?? 0, 'SIGKILL')
    await untilTrue(
      'the Redis to be started again',
      () => (world.node('sv-1')?.redisPid ?? before?.redisPid) !== before?.redisPid,
    )
    expect(world.node('sv-1')).toMatchObject({ state: 'down', pid: null })
    expect(world.incidents).toHaveLength(1)
  })

  it('ends the fault of a paused process', async ({ healed: world }) => {
    await world.cluster.faults.apply({ kind: 'pause', node: 'sv-2', part: null }, null)
    const before = world.node('sv-2')?.pid
    process.kill(before ?? 0, 'SIGKILL')
    await untilUp(world, 'sv-2', { pid: before ?? null })
    expect(world.cluster.faults.active()).toEqual([])
  })
})

describe('a broken append-only file', () => {
  /** Returns how to undo it. */
  const breakFile = async (world: World, name: string) => {
    const files = join(world.prepared.directory.redisDirectory(name), 'appendonlydir')
    await cp(files, `${files}.whole`, { recursive: true })
    for (const file of await readdir(files))
      if (!file.endsWith('.manifest')) await writeFile(join(files, file), 'no append-only file')
    return () => cp(`${files}.whole`, files, { recursive: true })
  }

  it('of a node is reported with what to do, and the other processes start; a wipe repairs it', async () => {
    await using world = await startWorld({ nodeCount: 4 })
    await world.cluster.stop()
    await breakFile(world, 'sv-2')
    const steps: string[] = []
    await using next = stopping(world.createCluster({ onStep: (step) => steps.push(step) }))
    await next.cluster.start()
    // Its Redis is started again and again: it may have just been when the sentence is made, and when states are read.
    expect(steps.join('\n')).toMatch(
      /sv-2 is (?:down; its Redis exited \(exit status 1\)|starting); Redis reports "Bad file format reading the append only file .*"; `quorumscan wipe sv-2` rebuilds it from the log/,
    )
    await untilStates(next.cluster, 'up', 'down', 'up', 'up')
    await next.cluster.disks.wipe('sv-2')
    await untilStates(next.cluster, 'up', 'up', 'up', 'up')
  })

  it('of the log makes the start fail with a sentence; it is rebuilt up to its readable end, and the damaged file is kept', async () => {
    await using world = await startWorld()
    const { directory, genesis } = world.prepared
    const writer = await createLogWriter({
      redis: world.cluster.servicesOf('synchronizer')[0].redisAddress,
      genesis: logGenesisOf(genesis),
      keyPair: keyPairFromSeed(await readFile(directory.keyFile('synchronizer'), 'utf8')),
      clock,
      random: systemRandom,
      confirmingNodes: null,
      signal: new AbortController().signal,
    })
    await writer.append(new Uint8Array(10))
    await writer[Symbol.asyncDispose]()
    await world.cluster.stop()
    const files = join(directory.redisDirectory('synchronizer'), 'appendonlydir')
    for (const file of await readdir(files))
      if (file.endsWith('.incr.aof')) await appendFile(join(files, file), 'what is this')

    {
      await using failing = stopping(world.createCluster())
      await expect(failing.cluster.start()).rejects.toThrow(
        /synchronizer is .*; the log is in .*: `quorumscan log repair` repairs it/s,
      )
    }
    const repaired = async (isCutAllowed: boolean) => {
      await using stopped = stopping(world.createCluster())
      return await stopped.cluster.disks.repairLog({ isCutAllowed })
    }
    const end = writer.head().offset
    const found = { end, isUnloadable: true, cut: null }
    expect(await repaired(false)).toMatchObject({ kind: 'to-cut', ...found })
    const outcome = await repaired(true)
    expect(outcome).toMatchObject({ kind: 'repaired', ...found })
    expect(await readdir(join(directory.path, 'redis'))).toEqual([
      'sv-1',
      'sv-2',
      'synchronizer',
      expect.stringMatching(/^synchronizer\.before-/),
      'validator',
    ])
    await using next = stopping(world.createCluster())
    await next.cluster.start()
    expect(await verifyLogOf(directory)).toMatchObject({ json: { whole: true, end } })
  })

  it('leaves the fault in the list when a heal cannot start the Redis', async ({
    healed: world,
    resources,
  }) => {
    await world.cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: 'redis' }, null)
    resources.onClose(await breakFile(world, 'sv-1'))
    await expect(world.cluster.faults.heal({})).rejects.toThrow(CommandError)
    expect(world.cluster.faults.active().map(({ spec }) => spec.kind)).toEqual(['kill'])
    expect(world.node('sv-1')?.state).toBe('down')
  })
})

it('deletes no replica while the log cannot be read to its end', async ({ healed: world }) => {
  await world.cluster.faults.apply({ kind: 'kill', node: 'synchronizer', part: 'redis' }, null)
  const before = world.node('sv-1')
  await expect(world.cluster.disks.wipe('sv-1')).rejects.toThrow(/^no replica is deleted: /)
  expect(world.node('sv-1')).toMatchObject({ pid: before?.pid, redisPid: before?.redisPid })
})

it('names the place where the log is damaged, and deletes no replica then', async ({
  healed: world,
  resources,
}) => {
  const { directory } = world.prepared
  expect(await verifyLogOf(directory)).toMatchObject({
    isWhole: true,
    text: expect.stringMatching(/^The log is whole, from its start to offset 0 /),
  })
  const log = new Redis({
    ...world.cluster.servicesOf('synchronizer')[0].redisAddress,
    username: LOG_USER,
    enableReadyCheck: false,
  })
  resources.onClose(async () => {
    await world.heal()
    await log.xtrim('log', 'MAXLEN', 0)
    log.disconnect()
  })
  await log.xadd('log', '7-0', 'g', 'no group', 's', 'no signature')
  const before = world.node('sv-1')
  await expect(world.cluster.disks.wipe('sv-1')).rejects.toThrow(
    /^no replica is deleted: The log is damaged at offsets 1 to 7 .*`quorumscan log repair` refills it/,
  )
  expect(world.node('sv-1')).toMatchObject({ pid: before?.pid, redisPid: before?.redisPid })
  expect(await verifyLogOf(directory)).toMatchObject({
    isWhole: false,
    text: expect.stringMatching(/^The log is damaged at offsets 1 to 7 /),
    json: { whole: false, end: 7, damages: [{ from: 1, to: 7 }] },
  })
  expect(await world.cluster.disks.repairLog({ isCutAllowed: false })).toMatchObject({
    kind: 'to-cut',
    end: 0,
    cut: { from: 1, to: 7 },
  })
  await untilTrue(
    'the synchronizer to be up again',
    () => world.cluster.status().synchronizer.state === 'up',
  )
  await expect(world.cluster.disks.repairLog({ isCutAllowed: true })).rejects.toThrow(
    /`quorumscan down`/,
  )
  await world.cluster.faults.apply({ kind: 'kill', node: 'validator', part: 'redis' }, null)
  expect(await world.cluster.disks.repairLog({ isCutAllowed: false })).toMatchObject({
    kind: 'refused',
    refusal: { kind: 'unknown-heads', silent: ['validator'] },
  })
  await world.cluster.faults.apply({ kind: 'kill', node: 'synchronizer', part: 'redis' }, null)
  await expect(verifyLogOf(directory)).rejects.toThrow(/`quorumscan restart synchronizer redis`/)
})

it('wipes no second replica before the first is back', async ({ healed: world }) => {
  await writeFile(world.hold, '')
  const first = world.cluster.disks.wipe('sv-1').catch((error: unknown) => error)
  await untilTrue('sv-1 to be wiped', () => world.node('sv-1')?.state === 'catching-up')
  await world.cluster.faults.apply({ kind: 'kill', node: 'sv-1', part: null }, null)
  expect(String(await first)).toMatch(/sv-1 was wiped, but is not up: sv-1 is /)
  await expect(world.cluster.disks.wipe('sv-2')).rejects.toThrow(
    /^sv-2 was not wiped: sv-1 was wiped before, and is not up yet/,
  )
  await rm(world.hold)
})
