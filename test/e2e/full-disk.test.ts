/**
 * A cluster whose data directory is on a small disk. The disk fills until the log accepts no entry, then until no
 * process can write a byte. When space is free again, all processes continue without a restart.
 */
import { join } from 'node:path'
import { send, until, untilTrue } from '@quorumscan/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { clock, createUser, lookup, untilFound } from './client.ts'
import { runCommand } from './command.ts'
import { mountSmallDisk } from './small-disk.ts'

const SIZE_MIB = 96
const FREE_MIB_MIN = 24
/** `status` usually takes less than a second. A wait for a process that cannot answer takes longer than this limit. */
const STATUS_MS_MAX = 20_000
const NAME = 'alice.unverified.ns'

const disk = mountSmallDisk(SIZE_MIB)

describe.runIf(disk !== null)('a full disk', () => {
  const small = disk as NonNullable<typeof disk>
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let alice: Awaited<ReturnType<typeof createUser>>
  beforeAll(async () => {
    cluster = await startCluster({
      dataDir: join(small.path, 'data'),
      diskFreeMibMin: FREE_MIB_MIN,
    })
    alice = await createUser(cluster, 'alice')
    await alice.pay(NAME)
    await untilFound(cluster, NAME)
  })
  afterAll(async () => {
    small.clear()
    await cluster?.down()
    small[Symbol.dispose]()
  })

  const register = async (user: string) =>
    send(`${cluster.urls.validator}/v0/register`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await cluster.token(user)}`,
        'content-type': 'application/json',
      },
      body: '{}',
    })
  const recordTime = async () => {
    const answer = await lookup(cluster, NAME)
    expect(answer.headers.get('x-quorum-outcome')).toBe('verified')
    return answer.headers.get('x-quorum-record-time') ?? ''
  }

  it('below the minimum of free space, writes get a definite LOG_FULL and reads stay fresh', async () => {
    await small.fill(FREE_MIB_MIN - 4)
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

  it('without free space, no node or validator process exits, and status answers', async () => {
    const pidsOf = async () => {
      const { nodes, validator } = await cluster.status()
      return [...nodes, validator].map(({ pid }) => pid)
    }
    const pids = await pidsOf()
    await small.fill(0)
    // A Redis that must persist every write exits. A restart fails until space is free.
    await untilTrue("the validator's Redis to exit", async () => {
      await small.fill(0)
      return (await cluster.status()).validator.redisPid === null
    })
    const startedMs = clock.monotonicMs()
    const status = await runCommand(cluster, 'status')
    expect(status.code, status.text).toBe(0)
    expect(clock.monotonicMs() - startedMs).toBeLessThan(STATUS_MS_MAX)
    expect((await lookup(cluster, NAME)).headers.get('x-quorum-outcome')).toBe('verified')
    const answer = await register('nora')
    expect(answer).toAnswer(503)
    expect(await pidsOf()).toEqual(pids)
  })

  it('all processes continue without a restart when space is free again', async () => {
    small.clear()
    await untilTrue('all processes to be up', async () => {
      const { nodes, validator, synchronizer } = await cluster.status()
      return [...nodes, validator, synchronizer].every(({ state }) => state === 'up')
    })
    await until('a name to be registered', async () =>
      alice.pay('later.unverified.ns').then(
        () => true,
        () => undefined,
      ),
    )
    await untilFound(cluster, 'later.unverified.ns')
  })
})
