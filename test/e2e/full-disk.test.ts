/**
 * A cluster whose data directory lies on a small disk that fills up: first so far that the log accepts no entry, then
 * until no process can write a byte. When there is room again, all processes continue without a restart.
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
/** Usually it is less than a second: what waits for a process that cannot answer takes longer than this. */
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

  it('below what stays free, writes are refused for certain, and reads stay fresh', async () => {
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
    await untilTrue('record time to move on', async () => (await recordTime()) > before)
    const { text } = await runCommand(cluster, 'status')
    expect(text).toMatch(/synchronizer: the disk of the log has [0-9]+ MiB free/)
  })

  it('without a byte left, no process of ours ends, and status answers', async () => {
    const pidsOf = async () => {
      const { nodes, validator } = await cluster.status()
      return [...nodes, validator].map(({ pid }) => pid)
    }
    const pids = await pidsOf()
    await small.fill(0)
    // A Redis that must keep every write exits. A restart does not help before there is room.
    await untilTrue('one of them to give up', async () => {
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

  it('continues without a restart when there is room', async () => {
    small.clear()
    await untilTrue('everything to be up', async () => {
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
