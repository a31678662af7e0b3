import { sha256Hex, utf8 } from '@quorumscan/base'
import { createManualClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { appendAll, startLogRedis } from './testing/log-redis.ts'
import { chainOf, genesis, never, readUntil, START_MICROS } from './testing/signed-groups.ts'
import { trimLog } from './trim.ts'
import { verifyLog } from './verify.ts'

const END = 60
const entries = Array.from({ length: END }, (_, index) => ({
  recordTime: START_MICROS + 10 * (index + 1),
  bytes: utf8(`entry ${index + 1}`),
}))
/** Groups of three entries each: offsets 1 to 3, 4 to 6, … */
const groups = chainOf(
  entries,
  entries.map(() => 3),
)
const timeOf = (offset: number) => START_MICROS + 10 * offset
const EVER = Number.MAX_SAFE_INTEGER

const it = base
  .extend('server', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startLogRedis()),
  )
  .extend('log', async ({ server }) => {
    await server.empty()
    const connection = await server.connection()
    await appendAll(connection, groups)
    connection.close()
    return server
  })
  .extend(
    'trim',
    ({ log }) =>
      (before: { readonly offset: number; readonly recordTime: number }) =>
        trimLog({ redis: log.address, before, signal: never }),
  )
  .extend(
    'verify',
    ({ log }) =>
      () =>
        verifyLog({ redis: log.address, genesis, signal: never }),
  )

describe('trimming the log', () => {
  it.for([
    { what: 'the offset', before: { offset: 31, recordTime: EVER }, end: 30 },
    { what: 'an offset within a group', before: { offset: 33, recordTime: EVER }, end: 30 },
    { what: 'the record time', before: { offset: 60, recordTime: timeOf(31) }, end: 30 },
    {
      what: 'a record time within a group',
      before: { offset: 60, recordTime: timeOf(33) },
      end: 30,
    },
    { what: 'the newest group', before: { offset: EVER, recordTime: EVER }, end: 57 },
  ])('keeps groups at or after $what', async ({ before, end }, { trim, verify }) => {
    expect(await trim(before)).toEqual({ offset: end, hash: groups[end / 3 - 1]?.hash })
    expect(await verify()).toMatchObject({ start: end + 1, end: END, damages: [] })
  })

  it('deletes nothing if no group is old enough', async ({ trim, verify }) => {
    expect(await trim({ offset: 60, recordTime: timeOf(1) })).toBeNull()
    expect(await trim({ offset: 1, recordTime: EVER })).toBeNull()
    expect(await verify()).toMatchObject({ start: 1, end: END, damages: [] })
  })

  it('continues where it stopped, and never restores groups', async ({ trim, verify }) => {
    await trim({ offset: 31, recordTime: EVER })
    expect(await trim({ offset: 10, recordTime: EVER })).toMatchObject({ offset: 30 })
    expect(await trim({ offset: 43, recordTime: EVER })).toMatchObject({ offset: 42 })
    expect(await verify()).toMatchObject({ start: 43, end: END, damages: [] })
  })

  it('is no damage, but a deleted start is', async ({ trim, log, verify }) => {
    await trim({ offset: 31, recordTime: EVER })
    const admin = log.redis.connect()
    await admin.xtrim('log', 'MINID', '40-0')
    admin.disconnect()
    expect((await verify()).damages).toMatchObject([{ from: 31, to: 39, fault: 'missing' }])
  })

  it('may be interrupted: groups before the recorded start are ignored', async ({
    log,
    verify,
  }) => {
    const admin = log.redis.connect()
    await admin.set('log-start', `30 ${groups[9]?.hash}`)
    admin.disconnect()
    expect(await verify()).toMatchObject({ start: 31, end: END, damages: [] })
  })

  it('is not reported as damage by a verification at the same time', async ({ log, trim }) => {
    const clock = createManualClock()
    const checking = verifyLog({
      redis: log.address,
      genesis,
      pace: {
        clock: { ...clock, delay: () => trim({ offset: 43, recordTime: EVER }).then(() => {}) },
        share: 0.5,
      },
      signal: never,
    })
    expect(await checking).toMatchObject({ start: 1, end: END, damages: [] })
  })

  it('lets followers continue only from the new start', async ({ trim, log }) => {
    await trim({ offset: 31, recordTime: EVER })
    log.feed.publish(groups.at(-1) as (typeof groups)[number])
    const early = readUntil(log.reader(), { from: 0, until: () => true })
    await expect(early).rejects.toMatchObject({ code: 'OFFSET_PRUNED' })
    const at31 = entries[30] as (typeof entries)[number]
    const late = await readUntil(log.reader(), {
      from: 31,
      expected: { recordTime: at31.recordTime, entryHash: sha256Hex(at31.bytes) },
      until: (read) => read.length === END - 31,
    })
    expect(late.map(({ offset }) => offset)).toEqual(
      Array.from({ length: END - 31 }, (_, index) => 32 + index),
    )
  })
})
