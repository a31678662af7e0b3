import { sha256, toHex, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { LogEntry } from '@quorumscan/ledger'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import type { CometbftOrdering } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openGroup, type SignedGroup, signGroup } from './group.ts'
import { LogForkError } from './log-errors.ts'
import { type AnyGroup, createMemoryLog, type MemoryLog } from './testing/memory-log.ts'
import { chainOf, genesis, keyPair, readUntil, START_MICROS } from './testing/signed-groups.ts'

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
  it('stores every verified group before it yields its entries', async () => {
    const log = createMemoryLog()
    const groups = chainOf(entriesOf(6), [1, 2, 3])
    log.append(...groups)
    const seen: unknown[] = []
    const ordering = log.reader({ store: async (stored) => void seen.push(...stored) })
    await readUntil(ordering, {
      until: reaches(6),
      onBatch: (batch) => seen.push(batch.at(-1)?.offset),
    })
    expect(seen).toEqual([...groups, 6])
  })

  it('waits, with CometBFT ordering, until a shortened log is as long again', async () => {
    const log = createMemoryLog()
    const entries = entriesOf(5)
    const [first, ...others] = chainOf(entries, [1, 1, 1, 1, 1])
    log.append(...(first === undefined ? [] : [first]))
    const ordering: CometbftOrdering = {
      driver: 'cometbft',
      validators: [],
      timeouts: { proposeMicros: 1, voteMicros: 1, commitMicros: 1, emptyBlockMicros: 1 },
      blockBytesMax: 1,
      blockContractsMax: 1,
    }
    const problems: unknown[] = []
    const reading = readUntil(
      log.reader({ genesis: { ...genesis, ordering }, onProblem: (error) => problems.push(error) }),
      { from: 3, expected: expectedAt(at(entries, 2)), until: reaches(5) },
    )
    await untilTrue('a stream', () => log.streamCount() > 0)
    await new Promise((resolve) => setImmediate(resolve)) // The reported head is read.
    log.append(...others)
    expect((await reading).map(({ offset }) => offset)).toEqual([4, 5])
    expect([log.streamCount(), problems]).toEqual([1, []])
  })

  it('yields the same entries, however they are grouped, read and resumed', async () => {
    const cut = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 })
    const run = fc.record({
      count: fc.integer({ min: 1, max: 60 }),
      sizes: cut,
      batchEntriesMax: fc.integer({ min: 1, max: 20 }),
      from: fc.nat(),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ count, sizes, batchEntriesMax, from: anywhere }) => {
        const log = createMemoryLog()
        const entries = entriesOf(count)
        log.append(...chainOf(entries, sizes))
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
    const log = createMemoryLog()
    log.append(...chainOf(entriesOf(20), Array(20).fill(1)))
    const batches: number[] = []
    await readUntil(log.reader(), {
      until: reaches(20),
      onBatch: (batch) => batches.push(batch.length),
    })
    expect(batches).toEqual([20])
  })

  it('yields entries that are appended while it waits', async () => {
    const log = createMemoryLog()
    const groups = chainOf(entriesOf(3), [1, 1, 1])
    log.append(at(groups, 0))
    let appended = 1
    const read = await readUntil(log.reader(), {
      until: reaches(3),
      onBatch: () => log.append(...groups.slice(appended, ++appended)),
    })
    expect(read).toHaveLength(3)
  })

  it('continues where it was, each entry once, when its stream ended', async () => {
    const log = createMemoryLog()
    const groups = chainOf(entriesOf(4), [2, 2])
    log.append(at(groups, 0))
    const read = await readUntil(log.reader(), {
      until: reaches(4),
      onBatch: () => log.replace(groups),
    })
    expect(read.map(({ offset }) => offset)).toEqual([1, 2, 3, 4])
  })

  it('yields each entry once, wherever streams are cut, and refuses damaged groups', async () => {
    const accident = fc.record({
      // The position, as a part of the bytes of a stream.
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      isDamage: fc.boolean(),
    })
    const run = fc.record({
      count: fc.integer({ min: 1, max: 40 }),
      sizes: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 }),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
      accidents: fc.array(accident, { maxLength: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ count, sizes, cuts, accidents }) => {
        // Six damaged groups in a row without progress are damage of the log itself.
        let damages = 0
        const waiting = accidents.filter(({ isDamage }) => !isDamage || damages++ < 5)
        const log = createMemoryLog((whole) => {
          const piece = new Uint8Array(whole)
          const place = (part: number) => Math.floor(part * piece.byteLength)
          const next = waiting.shift()
          let end = piece.byteLength
          if (next?.isDamage === true)
            piece[Math.min(place(next.at), end - 1)] =
              (piece[Math.min(place(next.at), end - 1)] ?? 0) ^ 0x55
          else if (next !== undefined) end = place(next.at)
          const places = [
            0,
            ...cuts
              .map(place)
              .filter((one) => one < end)
              .sort((a, b) => a - b),
            end,
          ]
          return {
            pieces: places.slice(1).map((to, index) => piece.subarray(places[index], to)),
            // A stream that waits for missing bytes ends by its timeout.
            isOver: next !== undefined,
          }
        })
        const entries = entriesOf(count)
        log.append(...chainOf(entries, sizes))
        const read = await readUntil(log.reader(), { until: reaches(count) })
        expect(read).toEqual(entries.map((entry, index) => ({ ...entry, offset: index + 1 })))
      }),
      { numRuns: 300 },
    )
  })

  it('ends when its signal aborts while it waits', async () => {
    const log = createMemoryLog()
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
  })

  it('retries while no log exists, and ends when its signal aborts', async () => {
    const away = new AbortController()
    const problems: string[] = []
    const open = async () => {
      throw new ScanError('UNAUTHENTICATED', 'show your token')
    }
    const log = createMemoryLog().reader({
      log: { submit: async () => {}, open },
      onProblem: ({ message }) => void problems.push(message),
    })
    const batches = log.follow({ from: 0, expected: null, batchEntriesMax: 1, signal: away.signal })
    const never = batches[Symbol.asyncIterator]().next()
    await untilTrue('a second try', () => problems.length > 1)
    away.abort()
    expect((await never).done).toBe(true)
    expect(problems[0]).toContain('show your token')
  })

  it('ends a stream that completes no frame for 10 s', async () => {
    const clock = createManualClock(0)
    async function* trickle() {
      for (let count = 0; count < 12; count++) {
        yield new Uint8Array(1)
        await clock.advance(1000)
      }
      yield new Uint8Array(1)
      throw new Error('it should have been left')
    }
    const problems: string[] = []
    const stop = new AbortController()
    const reader = createMemoryLog().reader({
      clock,
      log: {
        submit: async () => {},
        open: async () => trickle(),
      },
      onProblem: ({ message }) => {
        problems.push(message)
        stop.abort()
      },
    })
    const follow = { from: 0, expected: null, batchEntriesMax: 1, signal: stop.signal }
    for await (const _ of reader.follow(follow)) throw new Error('nothing to read')
    expect(problems).toEqual([expect.stringContaining('no frame for 10000 ms')])
  })
})

describe('a log that differs from what was applied', () => {
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
    const log = createMemoryLog()
    log.append(...groups.slice(0, present))
    const read = readUntil(log.reader(), { from, expected, until: never })
    await expect(read).rejects.toMatchObject({ code: 'LOG_REGRESSED' })
    // A single difference may be damage in transit, so the client tries six times.
    expect(log.streamCount()).toBe(6)
  })

  it('is refused when it begins after the wanted offset', async () => {
    const open = async () => {
      throw new ScanError('OFFSET_PRUNED', 'the log begins at 9')
    }
    const log = createMemoryLog().reader({ log: { submit: async () => {}, open } })
    await expect(readUntil(log, { until: never })).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
      message: 'the log begins at 9',
    })
  })

  it('is refused when its end was lost', async () => {
    const log = createMemoryLog()
    log.append(...groups)
    const read = readUntil(log.reader(), { until: never, onBatch: () => log.replace([]) })
    await expect(read).rejects.toMatchObject({
      code: 'LOG_REGRESSED',
      cause: { fault: 'position' },
    })
  })

  const first = at(groups, 0)
  const second = at(groups, 1)
  it.each<{ what: string; group: AnyGroup }>([
    { what: 'leaves a gap', group: resign(second, { firstOffset: 4 }) },
    { what: 'names another predecessor', group: resign(second, { previousHash: genesis.hash }) },
    {
      what: 'goes back in time',
      group: resign(second, { entries: [{ recordTime: 1, bytes: new Uint8Array() }] }),
    },
    {
      what: 'has the signature of another group',
      group: { ...second, signature: first.signature },
    },
    { what: 'is not a group', group: { ...second, bytes: utf8('nonsense') } },
    { what: 'lies at another place', group: { ...second, lastOffset: 9 } },
    { what: 'is too long', group: { ...second, bytes: new Uint8Array(2 ** 20 + 1) } },
  ])('is not followed past a group that $what', async ({ group }) => {
    const log = createMemoryLog()
    log.append(first, group)
    const offsets: number[] = []
    const read = readUntil(log.reader(), {
      until: never,
      onBatch: (batch) => offsets.push(...batch.map(({ offset }) => offset)),
    })
    await expect(read).rejects.toMatchObject({ code: 'LOG_REGRESSED' })
    expect(offsets).toEqual([1, 2])
  })

  it.each([
    {
      when: 'between streams',
      change: (log: MemoryLog, others: readonly SignedGroup[]) => log.replace(others),
    },
    {
      when: 'in one stream',
      change: (log: MemoryLog, others: readonly SignedGroup[]) => log.append(at(others, 0)),
    },
  ])(
    'yields both groups as evidence when one offset was signed twice, $when',
    async ({ change }) => {
      const others = chainOf(entriesOf(4, 'other'), [3, 1])
      const log = createMemoryLog()
      log.append(first)
      const read = readUntil(log.reader(), { until: never, onBatch: () => change(log, others) })
      const error = await read.then(
        () => undefined,
        (reason: { code: string; cause: unknown }) => reason,
      )
      expect(error?.code).toBe('LOG_REGRESSED')
      const cause = error?.cause
      if (!(cause instanceof LogForkError)) throw new Error('no evidence')
      const opened = cause.evidence.map((group) => openGroup(group, genesis))
      expect(opened.map(({ hash }) => hash)).toEqual([first.hash, at(others, 0).hash])
    },
  )
})
