import { sha256, toHex, utf8 } from '@quorumscan/base'
import type { LogEntry } from '@quorumscan/ledger'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LOG_STREAM_KEY } from './acl.ts'
import { idOf, type LogConnection } from './connection.ts'
import { openGroup, type SignedGroup, signGroup } from './group.ts'
import { LogForkError } from './log-errors.ts'
import {
  appendAll,
  chainOf,
  genesis,
  keyPair,
  type LogRedis,
  readUntil,
  START_MICROS,
  startLogRedis,
} from './testing/log-redis.ts'

let log: LogRedis
let writer: LogConnection
const client = () => log.redis.connect()

beforeAll(async () => {
  log = await startLogRedis()
})
afterAll(() => log[Symbol.asyncDispose]())
beforeEach(async () => {
  await empty()
  writer = await log.connection('writer')
  return () => writer.close()
})

async function empty() {
  const admin = client()
  await admin.flushall()
  admin.disconnect()
}

const entriesOf = (count: number, label = 'entry') =>
  Array.from({ length: count }, (_, index) => ({
    recordTime: START_MICROS + 10 * (index + 1),
    bytes: utf8(`${label} ${index + 1}`),
  }))
const expectedAt = (entry: { readonly recordTime: number; readonly bytes: Uint8Array }) => ({
  recordTime: entry.recordTime,
  entryHash: toHex(sha256(entry.bytes)),
})
const reaches = (offset: number) => (entries: readonly LogEntry[]) =>
  entries.at(-1)?.offset === offset
const at = <T>(list: readonly T[], index: number): T => {
  const item = list[index]
  if (item === undefined) throw new Error(`no item ${index}`)
  return item
}
const resign = (group: SignedGroup, changes: Partial<Parameters<typeof signGroup>[0]>) =>
  signGroup({ ...group, ...changes }, { genesisHash: genesis.hash, keyPair })

describe('following the log', () => {
  it('hands on every group that it verified, before its entries', async () => {
    const groups = chainOf(entriesOf(6), [1, 2, 3])
    await appendAll(writer, groups)
    const seen: unknown[] = []
    const ordering = log.reader({ keep: async (kept) => void seen.push(...kept) })
    await readUntil(ordering, {
      until: reaches(6),
      onBatch: (batch) => seen.push(batch.at(-1)?.offset),
    })
    expect(seen).toEqual([...groups, 6])
  })

  it('gives the same entries however they were grouped, read and resumed', async () => {
    const cut = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 })
    const run = fc.record({
      count: fc.integer({ min: 1, max: 60 }),
      sizes: cut,
      batchEntriesMax: fc.integer({ min: 1, max: 20 }),
      from: fc.nat(),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ count, sizes, batchEntriesMax, from: anywhere }) => {
        await empty()
        const entries = entriesOf(count)
        await appendAll(writer, chainOf(entries, sizes))
        const from = anywhere % count
        const read = await readUntil(log.reader(), {
          from,
          expected: from === 0 ? null : expectedAt(at(entries, from - 1)),
          batchEntriesMax,
          onBatch: (batch) => {
            expect(batch.length).toBeGreaterThan(0)
            expect(batch.length).toBeLessThanOrEqual(batchEntriesMax)
          },
          until: reaches(count),
        })
        expect(read).toEqual(
          entries.map((entry, index) => ({ ...entry, offset: index + 1 })).slice(from),
        )
      }),
      { numRuns: 40 },
    )
  })

  it('joins small groups into a large batch', async () => {
    await appendAll(writer, chainOf(entriesOf(20), Array(20).fill(1)))
    const batches: number[] = []
    await readUntil(log.reader(), {
      until: reaches(20),
      onBatch: (batch) => batches.push(batch.length),
    })
    expect(batches).toEqual([20])
  })

  it('gives what is appended while it waits', async () => {
    const groups = chainOf(entriesOf(3), [1, 1, 1])
    await appendAll(writer, groups.slice(0, 1))
    let appended = 1
    const read = await readUntil(log.reader(), {
      until: reaches(3),
      onBatch: () => {
        void appendAll(writer, groups.slice(appended, ++appended))
      },
    })
    expect(read).toHaveLength(3)
  })

  it('goes on where it was, once each, when Redis was killed and came back', async () => {
    await using own = await startLogRedis()
    const groups = chainOf(entriesOf(4), [2, 2])
    const connection = await own.connection('writer')
    await appendAll(connection, groups.slice(0, 1))
    let restarted: Promise<void> | undefined
    const read = await readUntil(own.reader(), {
      until: reaches(4),
      onBatch: () => {
        restarted ??= (async () => {
          await own.redis.kill()
          await own.redis.restart()
          const again = await own.connection('writer')
          await appendAll(again, groups.slice(1))
          again.close()
        })()
      },
    })
    await restarted
    expect(read.map(({ offset }) => offset)).toEqual([1, 2, 3, 4])
  })

  it('ends when told to, also while it waits and while Redis is away', async () => {
    const waiting = new AbortController()
    const batches = log.reader().follow({
      from: 0,
      expected: null,
      batchEntriesMax: 1,
      signal: waiting.signal,
    })
    const next = batches[Symbol.asyncIterator]().next()
    waiting.abort()
    expect(await next).toEqual({ done: true, value: undefined })

    await using own = await startLogRedis()
    await own.redis.kill()
    const away = new AbortController()
    const other = own
      .reader()
      .follow({ from: 0, expected: null, batchEntriesMax: 1, signal: away.signal })
    const never = other[Symbol.asyncIterator]().next()
    away.abort()
    expect((await never).done).toBe(true)
  })
})

describe('a log that is not what was applied', () => {
  const never = () => false
  const entries = entriesOf(4)
  const groups = chainOf(entries, [2, 2])

  it.each([
    { what: 'is empty', present: 0, from: 2, expected: expectedAt(at(entries, 1)) },
    { what: 'is shorter', present: 1, from: 3, expected: expectedAt(at(entries, 2)) },
    { what: 'has other bytes', present: 2, from: 3, expected: expectedAt(at(entries, 3)) },
    {
      what: 'has another time',
      present: 2,
      from: 3,
      expected: { ...expectedAt(at(entries, 2)), recordTime: 5 },
    },
  ])('that $what is refused at the start', async ({ present, from, expected }) => {
    await appendAll(writer, groups.slice(0, present))
    const read = readUntil(log.reader(), { from, expected, until: never })
    await expect(read).rejects.toMatchObject({ code: 'LOG_REGRESSED' })
  })

  it('is noticed when it vanishes while it is followed', async () => {
    await appendAll(writer, groups)
    const read = readUntil(log.reader(), { until: never, onBatch: () => void empty() })
    await expect(read).rejects.toMatchObject({
      code: 'LOG_REGRESSED',
      cause: { fault: 'position' },
    })
  })

  const first = at(groups, 0)
  const second = at(groups, 1)
  it.each<{ what: string; group: SignedGroup; id?: number }>([
    { what: 'leaves a gap', group: resign(second, { firstOffset: 4 }) },
    { what: 'names another predecessor', group: resign(second, { previousHash: genesis.hash }) },
    {
      what: 'goes back in time',
      group: resign(second, { entries: [{ recordTime: 1, bytes: new Uint8Array() }] }),
    },
    { what: 'is signed by nobody', group: { ...second, signature: first.signature } },
    { what: 'is no group', group: { ...second, bytes: utf8('nonsense') } },
    { what: 'lies at another place', group: second, id: 9 },
  ])('is not followed past a group that $what', async ({ group, id }) => {
    const admin = client()
    const add = (one: SignedGroup, offset: number) =>
      admin.xadd(
        LOG_STREAM_KEY,
        idOf(offset),
        'g',
        Buffer.from(one.bytes),
        's',
        Buffer.from(one.signature),
      )
    await add(first, first.lastOffset)
    await add(group, id ?? group.lastOffset)
    admin.disconnect()
    const read = readUntil(log.reader(), { until: never })
    await expect(read).rejects.toMatchObject({ code: 'LOG_REGRESSED' })
  })

  it('yields both groups as evidence when one offset was signed twice', async () => {
    const others = chainOf(entriesOf(4, 'other'), [2, 2])
    await appendAll(writer, groups.slice(0, 1))
    let replaced: Promise<void> | undefined
    const read = readUntil(log.reader(), {
      until: never,
      onBatch: () => {
        replaced ??= empty().then(() => appendAll(writer, others))
      },
    })
    const error = await read.then(
      () => undefined,
      (reason: { code: string; cause: unknown }) => reason,
    )
    await replaced
    expect(error?.code).toBe('LOG_REGRESSED')
    const cause = error?.cause
    if (!(cause instanceof LogForkError)) throw new Error('no evidence')
    const opened = cause.evidence.map((group) => openGroup(group, genesis))
    expect(opened.map(({ hash }) => hash)).toEqual([first.hash, at(others, 0).hash])
  })
})
