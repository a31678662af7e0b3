/**
 * Damage of a data directory by a disk, a copy or a lost file is detected, reported, contained and repaired.
 *
 * @module-tag rest
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyPairFromSeed, sha256, toHex } from '@quorumscan/base'
import { signGroup } from '@quorumscan/log'
import { send, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { fillTo } from '../support/synchronizers.ts'
import { controlPid } from './control-pid.ts'
import { append, damage, logFileOf, newestOf } from './log-file.ts'

const NAME = 'alice.unverified.ns'
const MONTH_MICROS = 30 * 86_400_000_000
const FIRST_SNAPSHOT = 1024

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 4, logKeepSeconds: 0 })),
  )
  /** With its name registered, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(NAME)
    await untilFound(cluster, NAME)
    return alice
  })
  .extend(
    'up',
    ({ cluster }) =>
      (...options: readonly string[]) =>
        runCommand(cluster, 'up', '--detach', '--log-keep', '0', ...options),
  )
  .extend('redis', ({ cluster }) => join(cluster.dataDir, 'redis'))
  /** Stops the cluster and saves its data. After a test that did not repair it, the cluster starts from this data. */
  .extend('stop', ({ cluster, redis, up, resources }) => async () => {
    const saved = join(cluster.dataDir, 'saved')
    await runCommand(cluster, 'down')
    rmSync(saved, { recursive: true, force: true })
    cpSync(redis, saved, { recursive: true })
    resources.onClose(async () => {
      if (await isWhole(cluster)) return
      await runCommand(cluster, 'down')
      rmSync(redis, { recursive: true })
      cpSync(saved, redis, { recursive: true })
      await up()
    })
    return saved
  })

async function isWhole(cluster: RunningCluster): Promise<boolean> {
  if ((await runCommand(cluster, 'log', 'verify')).code !== 0) return false
  const { nodes, validator, synchronizer } = await cluster.status()
  return [...nodes, validator, synchronizer].every(({ state }) => state === 'up')
}

async function register(cluster: RunningCluster, user: string) {
  return await send(`${cluster.urls.validator}/v0/register`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await cluster.token(user)}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
}

/** One lookup may be answered by too few nodes, where processes get no time. */
const untilVerified = (cluster: RunningCluster) =>
  untilTrue('a lookup to be verified', async () => {
    const found = await lookup(cluster, NAME)
    return found.status === 200 && found.headers.get('x-quorum-outcome') === 'verified'
  })

const untilAllAgree = (cluster: RunningCluster) =>
  untilTrue('all nodes to agree', async () => {
    const found = await lookup(cluster, NAME, { 'x-quorum': 'all' })
    return found.headers.get('x-quorum-outcome') === 'verified' && found.status === 200
  })

/** Appends an entry to the log of a stopped cluster, signed like those of its synchronizer. Returns its offset. */
async function appendEntry(dataDir: string, recordTime: number): Promise<number> {
  const file = logFileOf(dataDir)
  const last = newestOf(file)
  const genesis = parseGenesis(JSON.parse(readFileSync(join(dataDir, 'genesis.json'), 'utf8')))
  const group = signGroup(
    {
      firstOffset: Number.parseInt(last.id, 10) + 1,
      previousHash: toHex(sha256(last.bytes)),
      entries: [{ recordTime, bytes: new Uint8Array(0) }],
    },
    {
      genesisHash: await hashGenesis(genesis),
      keyPair: keyPairFromSeed(readFileSync(join(dataDir, 'keys', 'synchronizer'), 'utf8')),
    },
  )
  append(file, { ...group, id: `${group.lastOffset}-0` })
  return group.lastOffset
}

it('commands on a copy of the data directory do not affect the cluster of the original', async ({
  cluster,
  resources,
}) => {
  const copy = `${cluster.dataDir}-copy`
  resources.onClose(() => rmSync(copy, { recursive: true, force: true }))
  cpSync(cluster.dataDir, copy, { recursive: true })
  const pid = controlPid(cluster)
  const down = await runCommand({ ...cluster, dataDir: copy }, 'down')
  expect(down.text).toContain('no cluster runs')
  const up = await runCommand({ ...cluster, dataDir: copy }, 'up', '--detach')
  expect([up.code, up.text]).toEqual([1, expect.stringContaining('is in use by another program')])
  expect(controlPid(cluster)).toBe(pid)
  await untilVerified(cluster)
  await untilTrue('all nodes to be up', async () =>
    (await cluster.status()).nodes.every(({ state }) => state === 'up'),
  )
})

it('the control plane rewrites a truncated control.json, and the cluster continues to run', async ({
  cluster,
}) => {
  const pid = controlPid(cluster)
  writeFileSync(join(cluster.dataDir, 'control.json'), '{"owner":"')
  await untilTrue(
    'commands to find the control plane',
    async () => (await runCommand(cluster, 'status')).code === 0,
  )
  expect(controlPid(cluster)).toBe(pid)
})

it('`up` refuses another base port while the cluster runs', async ({ cluster }) => {
  const { code, text } = await runCommand(cluster, 'up', '--base-port', '7777')
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/uses\s+the\s+ports\s+from\s+[0-9]+\s+on/),
  ])
})

it('`up` reports a broken node and lost users, `wipe` rebuilds the node, and a copy restores the users', async ({
  cluster,
  alice,
  redis,
  stop,
  up,
}) => {
  const saved = await stop()
  const ofNode = join(redis, 'sv-2', 'appendonlydir')
  for (const file of readdirSync(ofNode))
    if (!file.endsWith('.manifest')) writeFileSync(join(ofNode, file), 'no such file')
  rmSync(join(redis, 'validator', 'appendonlydir'), { recursive: true })

  const { code, text } = await up()
  expect(code, text).toBe(0)
  expect(text).toContain('quorumscan runs, but some processes are not up')
  // Health is polled: right after `up` the validator may still count as starting.
  await untilTrue('status to report both problems', async () => {
    const { text } = await runCommand(cluster, 'status')
    return (
      /sv-2: its Redis exited/.test(text) &&
      /validator: The Redis of the validator has lost its users/.test(text)
    )
  })
  await untilVerified(cluster)
  const refused = await register(cluster, 'alice')
  expect([refused.status, refused.body.code, refused.body.definite]).toEqual([
    503,
    'USERS_LOST',
    true,
  ])

  const wiped = await runCommand(cluster, 'wipe', 'sv-2')
  expect(wiped.text).toContain('sv-2 was wiped and is up')
  for (const part of ['redis', null] as const) await cluster.kill('validator', { part })
  rmSync(join(redis, 'validator'), { recursive: true })
  cpSync(join(saved, 'validator'), join(redis, 'validator'), { recursive: true })
  await cluster.restart('validator')
  expect((await register(cluster, 'alice')).body).toMatchObject({ party_id: alice.party })
})

it('`log repair --cut` refills a damaged log and cuts its end off, and ordering continues without lost users', async ({
  cluster,
  alice,
  redis,
  stop,
  up,
}) => {
  await alice.pay('before.unverified.ns')
  await untilFound(cluster, 'before.unverified.ns')
  await stop()
  const end = await appendEntry(cluster.dataDir, clock.nowMicros() + MONTH_MICROS)
  damage(logFileOf(cluster.dataDir), 'entry of alice')
  rmSync(join(redis, 'validator', 'appendonlydir'), { recursive: true })

  const repair = await runCommand(cluster, 'log', 'repair', '--cut')
  expect([repair.code, repair.text]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`^Refilled offset \\d+ from the groups[^]*\nCut off offset ${end}, `),
    ),
  ])
  const started = await up('--accept-lost-users')
  expect([started.code, started.text]).toEqual([0, expect.stringContaining('quorumscan is up.')])
  const verdict = await runCommand(cluster, 'log', 'verify')
  expect([verdict.code, verdict.text]).toEqual([0, expect.stringMatching(/^The log is whole/)])
  const again = await createUser(cluster, 'alice')
  expect(again.party).toBe(alice.party)
  await again.pay('after.unverified.ns')
  await untilFound(cluster, 'after.unverified.ns')
})

it('a node that lost its disk recovers from a snapshot although the log is trimmed', async ({
  cluster,
  alice,
}) => {
  await fillTo(cluster, FIRST_SNAPSHOT)
  await untilTrue('the log to be trimmed', async () => {
    const { code, stdout } = await runCommand(cluster, 'log', 'verify', '--json')
    return code === 0 && JSON.parse(stdout).start > 1
  })
  rmSync(join(cluster.dataDir, 'snapshots', 'sv-4'), { recursive: true })
  const wiped = await runCommand(cluster, 'wipe', 'sv-4')
  // Until it is up, or late, as on a slow machine.
  expect(wiped.text).toContain('sv-4 was wiped and is ')
  await untilAllAgree(cluster)
  await alice.pay('later.unverified.ns')
  await untilFound(cluster, 'later.unverified.ns')
})
