import { utf8 } from '@quorumscan/base'
import type { TestRedis } from '@quorumscan/testkit'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import type { LogConnection, RawGroup } from './connection.ts'
import { idOf } from './connection.ts'
import type { SignedGroup } from './group.ts'
import { createGroupStore, readRecentGroups } from './recent-groups.ts'
import { prepareRepair, type RepairOptions } from './repair.ts'
import { type LogRedis, startLogRedis } from './testing/log-redis.ts'
import { chainOf, genesis, never, START_MICROS } from './testing/signed-groups.ts'
import { trimLog } from './trim.ts'
import { verifyLog } from './verify.ts'

const LATEST = START_MICROS + 1_000_000
const END = 200

const it = itWithRedis
  .extend('servers', { scope: 'file' }, async ({ fileResources }) => ({
    log: fileResources.opened(await startLogRedis()),
    target: fileResources.opened(await startLogRedis()),
  }))
  .extend('log', async ({ servers: { log } }) => {
    await log.empty()
    return log
  })
  .extend('target', async ({ servers: { target } }) => {
    await target.empty()
    return target
  })
  .extend('kept', ({ redis }) => redis)
  .extend('keptBadly', ({ durableRedis }) => durableRedis)
  .extend(
    'prepare',
    ({ log, keptBadly, kept }) =>
      (options: Partial<RepairOptions> & { readonly head?: number } = {}) => {
        const { head = END, ...rest } = options
        return prepareRepair({
          redis: log.address,
          genesis,
          latest: LATEST,
          nodes: [keptBadly, kept, kept, kept].map(({ socketPath: path }, index) => ({
            name: `sv-${index + 1}`,
            head,
            readStored: () => readStored(path, head),
          })),
          others: [{ name: 'validator', head }],
          f: 1,
          signal: never,
          ...rest,
        })
      },
  )

/** Groups of two entries each, the last `aheadCount` of them far ahead. */
const historyOf = (label: string, aheadCount = 0): SignedGroup[] =>
  chainOf(
    Array.from({ length: END }, (_, index) => ({
      recordTime: START_MICROS + 1 + index + (index >= END - 2 * aheadCount ? 1_000_000_000 : 0),
      bytes: utf8(`${label} ${index}`),
    })),
    Array.from({ length: END / 2 }, () => 2),
  )

const rawOf = ({ lastOffset, bytes, signature }: SignedGroup): RawGroup => ({
  id: idOf(lastOffset),
  bytes,
  signature,
})
const damaged = (raw: RawGroup): RawGroup => ({ ...raw, bytes: raw.bytes.map((byte) => byte ^ 1) })

async function fill(redis: LogRedis, raws: readonly RawGroup[]): Promise<void> {
  const connection = await redis.connection()
  await connection.add(raws)
  connection.close()
}

async function keep(redis: Pick<TestRedis, 'socketPath'>, groups: readonly SignedGroup[]) {
  await using keeper = createGroupStore({
    redis: { path: redis.socketPath },
    memoryBytesMax: () => null,
    onProblem: () => {},
  })
  await keeper.store(groups)
}

async function all(redis: LogRedis): Promise<RawGroup[]> {
  const connection: LogConnection = await redis.connection()
  const raws = await connection.range(0, END)
  connection.close()
  return raws
}

const readStored = async (path: string, applied: number) =>
  (await readRecentGroups({ redis: { path }, applied })).values()

describe('repairing a log', () => {
  it('restores damaged, missing and lost groups, without writing to the damaged log', async ({
    log,
    kept,
    keptBadly,
    prepare,
    target,
  }) => {
    const groups = historyOf('entry')
    const raws = groups.map(rawOf)
    const found = raws.flatMap((raw, index) =>
      index === 3 || index === 40 ? damaged(raw) : index === 50 || index > 95 ? [] : raw,
    )
    await fill(log, found)
    await keep(kept, groups)
    // A node that stores the same groups with an invalid signature.
    await keep(
      keptBadly,
      groups.map((group) => ({ ...group, signature: new Uint8Array(64) })),
    )
    const { plan, write } = await prepare()
    expect(plan).toMatchObject({
      kind: 'repair',
      refilled: [
        { from: 7, to: 8 },
        { from: 81, to: 82 },
        { from: 101, to: 102 },
        { from: 193, to: 200 },
      ],
      cut: null,
    })
    await write(target.address)
    expect(await all(target)).toEqual(raws)
    expect(await all(log)).toEqual(found)
  })

  it('restores a trimmed log from its start', async ({ log, kept, keptBadly, prepare, target }) => {
    const groups = historyOf('trimmed')
    const raws = groups.map(rawOf)
    await fill(log, raws)
    const before = { offset: 101, recordTime: LATEST }
    await trimLog({ redis: log.address, before, signal: never })
    const connection = await log.connection()
    const [first] = await connection.range(0, 1)
    connection.close()
    // The newest group is lost, and the first remaining one is damaged.
    const admin = log.redis.connect()
    await admin.del('log')
    admin.disconnect()
    await fill(log, [damaged(first as RawGroup), ...raws.slice(51, -1)])
    await keep(kept, groups)
    await keep(keptBadly, groups)
    const { plan, write } = await prepare()
    expect(plan).toMatchObject({
      kind: 'repair',
      refilled: [
        { from: 101, to: 102 },
        { from: 199, to: 200 },
      ],
    })
    await write(target.address)
    expect(await all(target)).toEqual(raws.slice(50))
    expect(await verifyLog({ redis: target.address, genesis, signal: never })).toMatchObject({
      start: 101,
      end: END,
      damages: [],
    })
  })

  it('rebuilds a log that is empty', async ({ kept, prepare, target }) => {
    const groups = historyOf('entry')
    await keep(kept, groups)
    const { write } = await prepare()
    await write(target.address)
    expect(await all(target)).toEqual(groups.map(rawOf))
  })

  it('cuts off unapplied entries ahead of the clock, and damage after them', async ({
    log,
    kept,
    prepare,
    target,
  }) => {
    const groups = historyOf('entry', 10)
    await fill(log, groups.map(rawOf).with(-1, damaged(rawOf(groups.at(-1) as SignedGroup))))
    await keep(kept, groups)
    const { plan, write } = await prepare({ head: 180 })
    expect(plan).toMatchObject({ refilled: [], cut: { from: 181, to: 200, recordTime: null } })
    await write(target.address)
    expect(await all(target)).toEqual(groups.slice(0, 90).map(rawOf))
  })

  it('refuses a signed log that is not the one that the nodes followed', async ({
    log,
    kept,
    prepare,
  }) => {
    await fill(log, historyOf('another').slice(0, 50).map(rawOf))
    await keep(kept, historyOf('entry'))
    expect((await prepare()).plan).toEqual({
      kind: 'refused',
      refusal: { kind: 'another-log', nodes: ['sv-2', 'sv-3', 'sv-4'] },
    })
  })

  it('counts a node whose Redis is down as silent', async ({ prepare }) => {
    const nodes = [1, 2].map((number) => ({
      name: `sv-${number}`,
      head: END,
      readStored: () => readStored(`/nowhere/${number}`, END),
    }))
    expect((await prepare({ nodes })).plan).toMatchObject({
      refusal: { kind: 'too-few', silent: ['sv-1', 'sv-2'] },
    })
  })
})
