/** Open-ended lists whose reads take longer than their idle timeout, and lists with a limit. */

import { fromUtf8 } from '@quorumscan/base'
import type { CompletionRecord, Offset } from '@quorumscan/model'
import type { HistoryStep } from '@quorumscan/replica'
import { createManualClock } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type CompletionsDeps, openCompletions } from './commands/completions.ts'
import { listOf } from './list.ts'
import { createUpdateFeed } from './update-feed.ts'
import { endlessUpdates, type OpenStream } from './update-stream.ts'

const SECOND = 1_000_000
const PARTY = `alice::1220${'0'.repeat(64)}`
const { signal } = new AbortController()

/** A ledger with this many entries, each read of which takes a second of the clock. */
function start(end: Offset) {
  const clock = createManualClock()
  const reads: { readonly of: string; readonly size: number }[] = []
  const feed = createUpdateFeed({
    head: () => ({ offset: end, recordTime: end * SECOND, historyHash: '', entryHash: '' }),
    history: {
      async updates({ after, upTo, bytes = 0 }) {
        reads.push({ of: 'updates', size: bytes })
        await clock.delay(1_000)
        const offset = after + 1
        const update = { offset, recordTime: offset * SECOND } as never
        const rest = offset < upTo ? ({ after: offset, upTo, order: 'asc' } as const) : null
        return { kind: 'updates', updates: [update], rest }
      },
    },
    onHistory: (_: (step: HistoryStep) => void) => () => {},
  })
  // Updates that the feed keeps in memory are not read: a stream from the start reads all of them.
  const synchronizerId = 'sync::1220'
  const reading = { feed, clock, synchronizerId }
  const list = async (open: OpenStream, limit?: number) => {
    let answer: unknown[] | undefined
    const done = listOf(open, { limit, idleMs: 1, clock, signal }).then((bytes) => {
      answer = JSON.parse(fromUtf8(bytes)) as unknown[]
    })
    // Each step ends one read, or the idle timeout.
    for (let step = 0; answer === undefined && step < 10_000; step++) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(1_000)
    }
    await done
    return answer ?? []
  }
  return { clock, reads, feed, reading, synchronizerId, list }
}

describe('updates', () => {
  const open =
    ({ reading }: ReturnType<typeof start>): OpenStream =>
    (ending, reader) =>
      endlessUpdates(reading, 0, {
        ...reader,
        signal: ending,
        project: ({ offset }) => JSON.stringify(offset),
      })

  it('are all in the list, however long they take to be read', async () => {
    const ledger = start(5)
    expect(await ledger.list(open(ledger))).toEqual([1, 2, 3, 4, 5])
  })

  it('are read as far as the limit needs', async () => {
    const ledger = start(50)
    expect(await ledger.list(open(ledger), 2)).toEqual([1, 2])
    expect(ledger.reads.map(({ size }) => size)).toEqual([4096, 8192])
  })
})

describe('completions', () => {
  const openOf = async (ledger: ReturnType<typeof start>, end: Offset): Promise<OpenStream> => {
    const records = Array.from({ length: end }, (_, index): CompletionRecord => {
      const offset = index + 1
      const commandId = String(offset)
      const deduplication = { kind: 'duration', micros: SECOND } as const
      return {
        offset,
        recordTime: offset * SECOND,
        entryHash: '',
        completion: {
          userId: 'alice',
          actAs: [PARTY],
          commandId,
          submissionId: 's',
          deduplication,
        },
        outcome: { kind: 'accepted', updateId: '1220' },
      }
    })
    const deps = {
      reads: { ...ledger.reading, replica: { history: { prunedOffset: async () => 0 } } },
      ledger: {
        async completions({ after, upTo, limit }: { after: Offset; upTo: Offset; limit: number }) {
          ledger.reads.push({ of: 'completions', size: limit })
          await ledger.clock.delay(1_000)
          return records.filter(({ offset }) => offset > after && offset <= upTo).slice(0, limit)
        },
      },
      dispatcher: { settledOffset: () => end },
      store: { outbox: { expired: async () => [] } },
      genesis: { synchronizerId: ledger.synchronizerId },
      participantId: 'participant::1220',
    } as unknown as CompletionsDeps
    const request = { parties: [PARTY], beginExclusive: 0, userId: 'alice' }
    return await openCompletions(deps)(request, {
      userId: 'alice',
      rights: [{ kind: 'CanActAs', party: PARTY }],
    })
  }
  const commandIds = (elements: readonly unknown[]) =>
    elements.flatMap((element) => {
      const completion = memberOf(element, 'completionResponse', 'Completion')
      return completion === undefined ? [] : [memberOf(completion, 'value', 'commandId')]
    })

  it('are all in the list, however long they take to be read', async () => {
    const ledger = start(120)
    const found = await ledger.list(await openOf(ledger, 120))
    expect(commandIds(found)).toEqual(Array.from({ length: 120 }, (_, index) => String(index + 1)))
  })

  it('are read as far as the limit needs, and so are the periods of their deduplication', async () => {
    const ledger = start(120)
    const found = await ledger.list(await openOf(ledger, 120), 1)
    expect(commandIds(found)).toEqual(['1'])
    // The completion itself, and the oldest one, with which its period begins.
    expect(ledger.reads.map(({ size }) => size)).toEqual([1, 1])
  })
})
