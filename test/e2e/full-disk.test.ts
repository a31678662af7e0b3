/**
 * A cluster whose data directory is on a small disk. The disk fills until the log accepts no entry, or until no process
 * can write a byte. When space is free again, all processes continue without a restart. Its one node answers 'trusted'.
 *
 * @module-tag rest
 */
import { join } from 'node:path'
import { send, until, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'
import { mountSmallDisk } from './small-disk.ts'

const SIZE_MIB = 96
const FREE_MIB_MIN = 24
/** `status` usually takes less than a second. A wait for a process that cannot answer takes longer than this limit. */
const STATUS_MS_MAX = 20_000
const NAME = 'alice.unverified.ns'

const it = base
  .extend('disk', { scope: 'file' }, ({ fileResources }) =>
    fileResources.opened(mountSmallDisk(SIZE_MIB)),
  )
  .extend('cluster', { scope: 'file' }, async ({ disk, fileResources }) => {
    const dataDir = join(disk.path, 'data')
    const options = { nodes: 1, dataDir, diskFreeMibMin: FREE_MIB_MIN }
    const cluster = fileResources.opened(await startCluster(options))
    fileResources.onClose(() => disk.clear())
    return cluster
  })
  /** With its name registered, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(NAME)
    await untilFound(cluster, NAME)
    return alice
  })
  .extend('untilUp', ({ cluster }) => () => {
    return untilTrue('all processes to be up', async () => {
      const { nodes, validator, synchronizer } = await cluster.status()
      return [...nodes, validator, synchronizer].every(({ state }) => state === 'up')
    })
  })
  .extend('register', ({ cluster }) => async (user: string) => {
    return send(`${cluster.urls.validator}/v0/register`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await cluster.token(user)}`,
        'content-type': 'application/json',
      },
      body: '{}',
    })
  })
  .extend('recordTime', ({ cluster }) => async () => {
    const answer = await lookup(cluster, NAME)
    expect(answer.headers.get('x-quorum-outcome')).toBe('trusted')
    return answer.headers.get('x-quorum-record-time') ?? ''
  })

it.afterEach(async ({ disk, untilUp }) => {
  disk.clear()
  await untilUp()
})

it('below the minimum of free space, writes get a definite LOG_FULL and reads stay fresh', async ({
  cluster,
  disk,
  recordTime,
  register,
}) => {
  await disk.fill(FREE_MIB_MIN - 4)
  const refused = await until('the refusal', async () => {
    const answer = await register(`late-${clock.monotonicMs()}`.replace('.', '-'))
    return answer.status === 200 ? undefined : answer
  })
  expect([refused.status, refused.body.code, refused.body.definite]).toEqual([
    503,
    'LOG_FULL',
    true,
  ])
  const before = await recordTime()
  await untilTrue('record time to advance', async () => (await recordTime()) > before)
  const { text } = await runCommand(cluster, 'status')
  expect(text).toMatch(/synchronizer: the disk of the log has [0-9]+ MiB free/)
})

it('without free space, status answers, and no node or validator process exits; all continue when space is free', async ({
  cluster,
  disk,
  alice,
  register,
  untilUp,
}) => {
  const pidsOf = async () => {
    const { nodes, validator } = await cluster.status()
    return [...nodes, validator].map(({ pid }) => pid)
  }
  const pids = await pidsOf()
  await disk.fill(0)
  // A Redis that must persist every write exits. A restart fails until space is free.
  await untilTrue("the validator's Redis to exit", async () => {
    await disk.fill(0)
    return (await cluster.status()).validator.redisPid === null
  })
  const startedMs = clock.monotonicMs()
  const status = await runCommand(cluster, 'status')
  expect(status.code, status.text).toBe(0)
  expect(clock.monotonicMs() - startedMs).toBeLessThan(STATUS_MS_MAX)
  expect((await lookup(cluster, NAME)).headers.get('x-quorum-outcome')).toBe('trusted')
  const answer = await register('nora')
  expect(answer).toAnswer(503)
  expect(await pidsOf()).toEqual(pids)

  disk.clear()
  await untilUp()
  expect(await pidsOf()).toEqual(pids)
  await until('a name to be registered', async () =>
    alice.pay('later.unverified.ns').then(
      () => true,
      () => undefined,
    ),
  )
  await untilFound(cluster, 'later.unverified.ns')
})
