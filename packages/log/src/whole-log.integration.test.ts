import { utf8 } from '@quorumscan/base'
import { describe, expect, it } from 'vitest'
import type { SignedGroup } from './group.ts'
import { startLogRedis } from './testing/log-redis.ts'
import { chainOf, genesis, never, START_MICROS } from './testing/signed-groups.ts'
import { trimLog } from './trim.ts'
import { verifyLog } from './verify.ts'
import { type ProvenGroup, readWholeLog, writeWholeLog } from './whole-log.ts'

/** Groups of two entries each: offsets 1 and 2, 3 and 4, … */
const groups = chainOf(
  Array.from({ length: 40 }, (_, index) => ({
    recordTime: START_MICROS + 1 + index,
    bytes: utf8(`entry ${index}`),
  })),
  Array.from({ length: 20 }, () => 2),
)

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

async function write(of: readonly ProvenGroup[], more: readonly SignedGroup[] = []) {
  await using log = await startLogRedis()
  const target = { redis: log.address, genesis, signal: never }
  const { offset } = await writeWholeLog(target, each(of), more)
  const { end, damages } = await verifyLog(target)
  expect({ end, damages }).toEqual({ end: offset, damages: [] })
  const read: SignedGroup[] = []
  for await (const group of readWholeLog(target)) read.push(group)
  return { offset, read }
}

describe('copying a log', () => {
  it('writes the groups that were read', async () => {
    const { read } = await write(groups)
    expect(read).toEqual(groups)
  })

  it('begins where the source was trimmed', async () => {
    await using log = await startLogRedis()
    const target = { redis: log.address, genesis, signal: never }
    await writeWholeLog(target, each(groups), [])
    await trimLog({ ...target, before: { offset: 20, recordTime: Number.MAX_SAFE_INTEGER } })
    const left: SignedGroup[] = []
    for await (const group of readWholeLog(target)) left.push(group)
    expect(left).toEqual(groups.slice(9))
    const { offset, read } = await write(left.slice(0, 5), groups)
    expect({ offset, read }).toEqual({ offset: 40, read: left })
  })

  it('fails if the source is trimmed meanwhile', async () => {
    await using log = await startLogRedis()
    const target = { redis: log.address, genesis, signal: never }
    await writeWholeLog(target, each(groups), [])
    const reading = readWholeLog(target)
    await reading.next()
    await trimLog({ ...target, before: { offset: 40, recordTime: Number.MAX_SAFE_INTEGER } })
    const rest = async () => {
      for await (const _ of reading);
    }
    await expect(rest()).rejects.toThrow('was trimmed while it was read')
  })

  it('accepts an empty log', async () => {
    expect(await write([])).toEqual({ offset: 0, read: [] })
  })

  it('appends further groups in any order, up to the first gap', async () => {
    const more = [...groups.slice(8, 15), ...groups.slice(16)].toReversed()
    expect((await write(groups.slice(0, 10), more)).offset).toBe(30)
    expect((await write(groups.slice(0, 5), more)).offset).toBe(10)
  })

  it('refuses groups with a gap or a bad signature', async () => {
    await expect(write(groups.toSpliced(3, 1))).rejects.toMatchObject({ fault: 'position' })
    const [first] = groups as [SignedGroup, ...SignedGroup[]]
    const forged = { bytes: first.bytes, signature: new Uint8Array(64) }
    await expect(write([forged])).rejects.toMatchObject({ fault: 'signature' })
  })

  it('refuses a Redis that has a log, and does not read a log with a gap', async () => {
    await using log = await startLogRedis()
    const target = { redis: log.address, genesis, signal: never }
    const connection = await log.connection()
    for (const group of groups.toSpliced(5, 1)) {
      const { bytes, signature, lastOffset } = group
      await connection.add([{ id: `${lastOffset}-0`, bytes, signature }])
    }
    connection.close()
    await expect(writeWholeLog(target, each(groups), [])).rejects.toThrow('already holds a log')
    const read = async () => {
      for await (const _ of readWholeLog(target));
    }
    await expect(read()).rejects.toThrow('The log lacks offsets 11 to 12')
  })
})
