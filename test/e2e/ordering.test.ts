/**
 * Four ordering members with real engines. One of them, or a part of it, is killed, hung or cut off; their network is
 * split; one loses its disk. All tests share one cluster, which is healed after each.
 */

import { cp, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '@quorumscan/base'
import type { LogEntry } from '@quorumscan/ledger'
import { send, untilTrue } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { requireEngine } from 'quorumscan/testing/engine'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import {
  createEntries,
  fillTo,
  openSynchronizers,
  readSameLog,
  recordTimesIn,
  type SignedEntry,
  type Synchronizer,
} from '../support/synchronizers.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

/** Registrations of one measurement, which yields their median. */
const REGISTRATION_COUNT = 25
/** Minimum time that one member is away. */
const AWAY_MS = 100_000
/** Limit of the ratio of registration times with one member away and with none. */
const SLOWER_MAX = 2
/** Number of kills under load, after which the test compares all logs. */
const KILL_COUNT = 20
const KILLS = [
  ['cometbft', 'ordering-engine-kills'],
  ['synchronizer', 'ordering-synchronizer-kills'],
] as const
/** While nothing is ordered, two members submit one entry each in every interval, for twice the lifetime of entries. */
const INTERVAL_MS = 15_000
const INTERVAL_COUNT = 12
const LIFETIME_MICROS = 90_000_000
/** Waiting entries that must be ordered: those of the last two intervals. */
const IN_TIME_COUNT = 4
/** Offsets of the first snapshots. Blocks since the newest two snapshots are kept. */
const SNAPSHOTS = { first: 1024, third: 4096 }
/** Twice the free space below which the log refuses entries. */
const DISK_MIB = 512
const ALICE = 'alice.unverified.ns'

let cluster: RunningCluster
let alice: Awaited<ReturnType<typeof createUser>>
let count = 0
/** The small disk of one member's engine and Redis, in the test of a full disk. */
let disk: SmallDisk | null = null

/** Registers a new name and returns how long it takes until lookups find it. */
async function register(): Promise<number> {
  const name = `name-${++count}.unverified.ns`
  const startedMs = clock.monotonicMs()
  await alice.pay(name)
  await untilFound(cluster, name)
  return clock.monotonicMs() - startedMs
}

const untilAbsent = (name: string) =>
  untilTrue(`the votes of ${name} to be missing`, async () =>
    ((await memberOf('sv-1'))?.ordering?.absent ?? []).includes(name),
  )

/** Returns the median registration time. All lookups in between must be verified. */
async function measure(what: string, lastingMs = 0): Promise<number> {
  const times: number[] = []
  const startedMs = clock.monotonicMs()
  while (times.length < REGISTRATION_COUNT || clock.monotonicMs() - startedMs < lastingMs) {
    times.push(await register())
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
  }
  const { members } = await cluster.status()
  const rounds = members.map(({ ordering }) => ordering?.round ?? '-')
  const usualMs = median(times)
  process.stdout.write(`${what}: p50 ${Math.round(usualMs)} ms, rounds ${rounds.join(' ')}\n`)
  return usualMs
}

const memberOf = async (name: string) =>
  (await cluster.status()).members.find((member) => member.name === name)

/** Resolves when the stalled validator has caught up: it registers no user by an old state. */
async function untilRegistering(): Promise<void> {
  await untilTrue(
    'the validator to register',
    async () => (await cluster.status()).validator.state === 'up',
  )
}

/** Waits until all processes are up and all nodes vote on the newest state. */
async function untilWhole(): Promise<void> {
  await cluster.heal()
  await untilTrue('all members and nodes to be up', async () => {
    const { members, nodes, synchronizer } = await cluster.status()
    return [...members, ...nodes, synchronizer].every(({ state }) => state === 'up')
  })
  await untilTrue('all nodes to vote on the newest state', async () => {
    const answer = await lookup(cluster, ALICE, { 'x-quorum': 'all' })
    return answer.status === 200
  })
}

async function expectEqualReplicas(): Promise<void> {
  const { code, text } = await runCommand(cluster, 'check')
  expect([code, text]).toEqual([0, expect.stringContaining('all replicas are equal')])
}

const heightOf = async (name: string): Promise<number> => {
  const file = join(cluster.dataDir, 'engines', name, 'data/priv_validator_state.json')
  return Number(JSON.parse(await readFile(file, 'utf8').catch(() => '{"height":0}')).height)
}

/** Waits until the other members have ordered two more blocks. */
async function untilOthersOrder(node: string): Promise<void> {
  const height = async () => {
    const { members } = await cluster.status()
    const others = members.filter(({ name }) => name !== node)
    return Math.max(...others.map(({ ordering }) => ordering?.height ?? 0))
  }
  const before = await height()
  await untilTrue('the others to order two blocks', async () => (await height()) >= before + 2)
}

/** Waits until no engine stores this block any more, except those of the members in `except`. */
async function untilPruned(height: number, except: readonly string[] = []): Promise<void> {
  await untilTrue(`block ${height} to be gone`, async () => {
    const { members, synchronizer } = await cluster.status()
    const others = members.filter(({ name }) => !except.includes(name))
    const firsts = [...others, synchronizer].map(async ({ url }) => {
      const { text } = await send(`${url}/metrics`)
      return Number(/^quorumscan_ordering_first_height (\d+)$/m.exec(text)?.[1])
    })
    return (await Promise.all(firsts)).every((first) => first > height)
  })
}

/** Moves the files of a stopped member's engine and Redis to another disk. */
async function moveTo({ path }: SmallDisk, node: string): Promise<void> {
  for (const part of ['engines', 'redis']) {
    const [from, to] = [join(cluster.dataDir, part, node), join(path, part)]
    await cp(from, to, { recursive: true })
    await rm(from, { recursive: true })
    await symlink(to, from)
  }
}

/** Expects that all logs are equal and contain each entry once. Returns the log. */
async function expectOnce(
  synchronizers: readonly Synchronizer[],
  entries: readonly SignedEntry[],
): Promise<readonly LogEntry[]> {
  const log = await readSameLog(synchronizers)
  expect(recordTimesIn(log, entries).map(({ length }) => length)).toEqual(entries.map(() => 1))
  return log
}

const OUTAGES = [
  ['killed', (node: string) => cluster.kill(node), 'ordering-killed'],
  ['hung', (node: string) => cluster.pause(node), 'ordering-hung'],
  ['cut off', (node: string) => cluster.partition(node), 'ordering-cut-off'],
] as const

describe('four ordering members', () => {
  beforeAll(async () => {
    requireEngine()
    cluster = await startCluster({
      nodes: 4,
      ordering: 'cometbft',
      genesisOverrides: {
        ordering: {
          timeouts: { emptyBlockMicros: 500_000 },
          evidenceAge: { micros: 5_000_000, blocks: 10 },
        },
      },
    })
    alice = await createUser(cluster, 'alice', '1000.0')
    await alice.pay(ALICE)
    await untilFound(cluster, ALICE)
  })
  afterAll(async () => {
    await cluster?.down()
    await disk?.[Symbol.asyncDispose]()
  })
  afterEach(untilWhole)

  for (const [how, harm, tag] of OUTAGES)
    it(`register names in at most twice the usual time while one is ${how}`, {
      tags: ['long', tag],
    }, async () => {
      const beforeMs = await measure('healthy')
      await harm('sv-2')
      await untilAbsent('sv-2')
      const p50Ms = await measure(`sv-2 ${how}`, AWAY_MS)
      await untilWhole()
      // The mean of both measurements, because the load of the machine changes within minutes.
      const healthyMs = (beforeMs + (await measure('healthy again'))) / 2
      expect(p50Ms).toBeLessThan(SLOWER_MAX * healthyMs)
    })

  it.each(['scan', 'synchronizer', 'cometbft', 'redis'] as const)(
    'register names while the %s of one hangs, and that member catches up without a restart',
    { tags: ['long', 'ordering-faults'] },
    async (part) => {
      await cluster.pause('sv-3', { part })
      await register()
      await cluster.resume('sv-3', { part })
      await untilWhole()
      await cluster.kill('sv-3', { part })
      await register()
    },
  )

  it('order nothing while the network is split in halves, and have equal replicas after it heals', {
    tags: ['long', 'ordering-faults'],
  }, async () => {
    // The validator is connected to the first half.
    for (const node of ['sv-1', 'sv-2', 'synchronizer']) await cluster.split(node, ['sv-3', 'sv-4'])
    for (const node of ['sv-1', 'sv-3'])
      await untilTrue(`${node} to report that nothing is ordered`, async () =>
        ((await memberOf(node))?.detail ?? '').includes('nothing is ordered'),
      )
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    const heights = (await cluster.status()).members.map(({ ordering }) => ordering?.height ?? 0)
    // One half may have seen the votes on a block that the other has not.
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1)
    await cluster.heal()
    await untilRegistering()
    await register()
    await expectEqualReplicas()
  })

  it('register names while one is split off, and have equal replicas when it is back', {
    tags: ['long', 'ordering-faults'],
  }, async () => {
    await cluster.split('sv-1', ['sv-2', 'sv-3', 'sv-4'])
    await cluster.split('synchronizer', ['sv-1'])
    await untilTrue('the votes of sv-1 to be missing', async () =>
      ((await memberOf('sv-2'))?.ordering?.absent ?? []).includes('sv-1'),
    )
    const before = (await memberOf('sv-1'))?.ordering?.height
    await register()
    expect((await memberOf('sv-1'))?.ordering?.height).toBe(before)
    await cluster.heal()
    await register()
    await expectEqualReplicas()
  })

  it('accept one back that lost its disk, and that does not equivocate', {
    tags: ['rest'],
  }, async () => {
    const signed = await heightOf('sv-3')
    expect(signed).toBeGreaterThan(0)
    await cluster.wipe('sv-3', { disk: true })
    await untilTrue('it to vote again', async () => (await heightOf('sv-3')) > 0)
    expect(await heightOf('sv-3')).toBeGreaterThan(signed)
    await untilWhole()
    // Without its vote there is no block now, and without its confirmation no name.
    await cluster.kill('sv-2')
    await register()
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
  })

  for (const [part, tag] of KILLS)
    it(`neither lose nor duplicate entries while the ${part} of each in turn is killed`, {
      tags: ['long', tag],
    }, async () => {
      const synchronizers = await openSynchronizers(cluster)
      const nextEntry = await createEntries(cluster)
      const acknowledged: SignedEntry[] = []
      let isOver = false
      const load = Promise.all(
        synchronizers.map(async ({ order }) => {
          while (!isOver) {
            const entry = nextEntry()
            if (await order(entry)) acknowledged.push(entry)
          }
        }),
      )
      for (let kill = 0; kill < KILL_COUNT; kill++) {
        const node = `sv-${1 + (kill % 4)}`
        // A decided block waits for the paused Redis, so that the kill is between decision and commit.
        const isBetween = kill % 3 === 0
        if (isBetween) {
          await cluster.pause(node, { part: 'redis' })
          await untilOthersOrder(node)
        }
        await cluster.kill(node, { part })
        await cluster.heal(node)
      }
      isOver = true
      await load
      await untilWhole()
      await expectOnce(synchronizers, acknowledged)
      process.stdout.write(`${KILL_COUNT} killed, ${acknowledged.length} entries acknowledged\n`)
      await expectEqualReplicas()
    })

  it('order entries that waited with two down, none after its time limit', {
    tags: ['long', 'ordering-waiting'],
  }, async () => {
    const synchronizers = await openSynchronizers(cluster)
    const nextEntry = await createEntries(cluster, LIFETIME_MICROS)
    const acknowledged: SignedEntry[] = []
    const order = async (one: Synchronizer, entry = nextEntry()) => {
      if (await one.order(entry)) acknowledged.push(entry)
    }
    await Promise.all(synchronizers.map((one) => order(one)))
    const before = acknowledged.length
    expect(before).toBe(synchronizers.length)
    for (const dead of ['sv-1', 'sv-4']) await cluster.kill(dead)
    const submitted: SignedEntry[] = []
    const waiting: Promise<void>[] = []
    for (let interval = 0; interval < INTERVAL_COUNT; interval++) {
      for (const one of synchronizers.filter(({ name }) => ['sv-2', 'sv-3'].includes(name))) {
        const entry = nextEntry()
        submitted.push(entry)
        waiting.push(order(one, entry))
      }
      await clock.delay(INTERVAL_MS)
    }
    expect(acknowledged.length).toBe(before)
    await cluster.heal('sv-4')
    await Promise.all(waiting)
    // The last entries have not expired when a quorum is back.
    expect(acknowledged).toEqual(expect.arrayContaining(submitted.slice(-IN_TIME_COUNT)))
    await untilRegistering()
    await register()
    await untilWhole()
    const log = await expectOnce(synchronizers, acknowledged)
    for (const [index, times] of recordTimesIn(log, submitted).entries())
      for (const time of times) expect(time).toBeLessThan(submitted[index]?.notAfter ?? 0)
    await expectEqualReplicas()
  })

  describe('four ordering members without the first blocks and log entries', {
    tags: ['long', 'ordering-snapshots'],
  }, () => {
    beforeAll(async () => {
      await fillTo(cluster, SNAPSHOTS.first)
      await runCommand(cluster, 'down')
      const up = await runCommand(cluster, 'up', '--detach', '--log-keep', '0')
      expect([up.code, up.text]).toEqual([0, expect.stringContaining('quorumscan is up.')])
      await untilPruned(1)
    })

    it('accept one back that lost its disk', async () => {
      const signed = await heightOf('sv-3')
      await cluster.wipe('sv-3', { disk: true })
      await untilTrue('it to vote again', async () => (await heightOf('sv-3')) > 0)
      expect(await heightOf('sv-3')).toBeGreaterThan(signed)
      await untilWhole()
      await expectEqualReplicas()
      // Without its vote there is no block now, and without its confirmation no name.
      await cluster.kill('sv-2')
      await register()
    })

    it('let the validator follow after its engine has lost its disk', async () => {
      await cluster.wipe('synchronizer', { disk: true })
      await untilWhole()
      await register()
      await expectEqualReplicas()
    })

    it('accept one back that was away until no engine stored its next block', async () => {
      await cluster.kill('sv-2')
      const signed = await heightOf('sv-2')
      await fillTo(cluster, SNAPSHOTS.third)
      await untilPruned(signed + 1, ['sv-2'])
      await cluster.restart('sv-2')
      await untilTrue('it to vote again', async () => (await heightOf('sv-2')) > signed)
      await untilWhole()
      await expectEqualReplicas()
      await cluster.kill('sv-3')
      await register()
    })
  })

  it('register names without one whose disk is full, and that votes again once space is free', {
    tags: ['long', 'ordering-faults'],
  }, async () => {
    const small = mountSmallDisk(DISK_MIB)
    disk = small
    await cluster.kill('sv-3')
    await moveTo(small, 'sv-3')
    await cluster.restart('sv-3')
    await untilWhole()
    const isMissed = async () => ((await memberOf('sv-1'))?.ordering?.absent ?? []).includes('sv-3')
    await untilTrue('the votes of sv-3 to be missing', async () => {
      await small.fill(0)
      return await isMissed()
    })
    await register()
    expect((await lookup(cluster, ALICE)).headers.get('x-quorum-outcome')).toBe('verified')
    small.clear()
    await untilTrue('it to vote again', async () => !(await isMissed()))
    await untilWhole()
    await expectEqualReplicas()
    // Without its vote there is no block now, and without its confirmation no name.
    await cluster.kill('sv-2')
    await register()
  })
})
