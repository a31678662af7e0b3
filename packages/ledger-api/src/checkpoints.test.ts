/** When an open-ended stream sends its progress (§L3.3). */
import type { Micros, Offset } from '@quorumscan/model'
import type { HistoryStep } from '@quorumscan/replica'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createUpdateFeed } from './update-feed.ts'
import { endlessUpdates } from './update-stream.ts'

/** A ledger on which nothing happens that the stream shows. */
function start(after: Offset, offset: Offset) {
  const clock = createManualClock()
  const follower = { report: (_: HistoryStep) => {} }
  const head = { offset, recordTime: 1_000_000 as Micros, historyHash: '', entryHash: '' }
  let reads = 0
  const feed = createUpdateFeed({
    head: () => head,
    history: {
      updates: async () => {
        reads++
        return { kind: 'updates', updates: [], rest: null }
      },
    },
    onHistory: (report) => {
      follower.report = report
      return () => {}
    },
  })
  let end: Offset = offset
  const stop = new AbortController()
  const sent: { offset: number; recordTime: string }[] = []
  const deps = { feed, clock, synchronizerId: 'sync::1220' }
  const running = (async () => {
    for await (const elements of endlessUpdates(deps, after, {
      project: () => null,
      signal: stop.signal,
    }))
      for (const element of elements) {
        const { OffsetCheckpoint } = JSON.parse(element).update
        const { offset: at, synchronizerTimes } = OffsetCheckpoint.value
        sent.push({ offset: at, recordTime: synchronizerTimes[0].recordTime })
      }
  })().catch(() => {}) // The test has stopped it.
  return {
    sent,
    reads: () => reads,
    async wait(ms: number) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(ms)
      await new Promise((resolve) => setImmediate(resolve))
    },
    /** Entries that the stream does not show, one per offset that passes. */
    moveTo(next: Offset) {
      const step = { after: end, head: { offset: next, recordTime: next * 1_000_000 }, updates: [] }
      end = next
      follower.report(step)
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the client left'))
      await running
    },
  }
}

const at = (offset: number, second: number) => ({
  offset,
  recordTime: `1970-01-01T00:00:0${second}Z`,
})

it('a stream sends progress 0.5 s after its start, even without a newer entry', async () => {
  await using stream = start(7, 7)
  await stream.wait(499)
  expect(stream.sent).toEqual([])
  await stream.wait(1)
  expect(stream.sent).toEqual([at(7, 1)])
})

it('the next progress comes 15 s later, once, and covers entries that are not shown', async () => {
  await using stream = start(3, 3)
  await stream.wait(500)
  stream.moveTo(8)
  await stream.wait(14_999)
  expect(stream.sent).toEqual([at(3, 1)])
  await stream.wait(1)
  expect(stream.sent).toEqual([at(3, 1), at(8, 8)])
  await stream.wait(60_000)
  expect(stream.sent).toEqual([at(3, 1), at(8, 8)])
})

it('after a backlog without shown entries the progress has the ledger end', async () => {
  await using stream = start(2, 9)
  await stream.wait(500)
  expect(stream.sent).toEqual([at(9, 1)])
})

it('a waiting stream reads nothing from Redis', async () => {
  await using stream = start(3, 3)
  for (let minute = 0; minute < 10; minute++) await stream.wait(60_000)
  for (let offset = 4; offset < 9; offset++) {
    stream.moveTo(offset)
    await stream.wait(1_000)
  }
  expect(stream.reads()).toBe(0)
})
