/** When a stream of activities reads, what it waits out, and what it tells: on a ledger that the test moves. */
import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { expect, test } from 'vitest'
import { createUpdateFeed } from '../ledger-interface/update-feed.ts'
import type { ActivitiesPage, PageQuestion } from './activity-pages.ts'
import { activityStream } from './activity-stream.ts'

const idOf = (offset: number) => `${String(offset).padStart(16, '0')}:0000`

type Feed = Parameters<typeof createUpdateFeed>[0]
type Step = Parameters<Parameters<Feed['onHistory']>[0]>[0]

/** Rows stand at the offsets given; `fail` says what the read of that number fails with. */
function start(options: {
  readonly rows: number[]
  readonly head: number
  readonly fail?: (read: number) => Error | null
  readonly clock?: ReturnType<typeof createManualClock>
}) {
  const { rows, clock = createManualClock() } = options
  let tell = (_: Step) => {}
  let head = options.head
  const feed = createUpdateFeed({
    head: () => ({ offset: options.head, recordTime: 1, historyHash: '', entryHash: '' }),
    updates: async () => {
      throw new Error('nobody reads updates here')
    },
    onHistory: (follower) => {
      tell = follower
      return () => {}
    },
  })
  const asked: PageQuestion[] = []
  const pages = {
    async read(question: PageQuestion): Promise<ActivitiesPage> {
      asked.push(question)
      const error = options.fail?.(asked.length)
      if (error != null) throw error
      const found = rows.map(idOf).filter((id) => question.after === null || id > question.after)
      const taken = found.slice(0, question.pageSize)
      return { offset: head, last: taken.at(-1) ?? null, text: taken.join(' ') }
    },
  }
  const stop = new AbortController()
  const sent: string[] = []
  const question = { pageSize: 2, after: null, quorum: 'weak', minOffset: 0, maxAgeMs: null }
  const asker = { requestId: 'r', charge: () => {}, signal: stop.signal }
  const running = (async () => {
    for await (const texts of activityStream({ pages, feed, clock }, question, asker))
      sent.push(...texts)
  })()
  running.catch(() => {}) // Looked at by tests that expect it.
  const settle = async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    clock,
    asked,
    sent,
    running,
    settle,
    async wait(ms: number) {
      await settle()
      await clock.advance(ms)
      await settle()
    },
    /** The ledger ends here from now on; with a row, or with a checkpoint. */
    moveTo(offset: number, kind: 'row' | 'checkpoint') {
      if (kind === 'row') rows.push(offset)
      const updates = kind === 'row' ? [{ offset, byteLength: 1 } as Step['updates'][number]] : []
      const step = { after: head, head: { offset, recordTime: offset }, updates }
      head = offset
      tell(step)
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the client left'))
      await running.catch(() => {})
    },
  }
}

test('a stream sends what there is by pages, and an empty one at the end, then nothing for 15 s', async () => {
  await using stream = start({ rows: [3, 5, 8], head: 9 })
  await stream.settle()
  expect(stream.sent).toEqual([`${idOf(3)} ${idOf(5)}`, idOf(8), ''])
  expect(stream.asked.map(({ after, minOffset }) => [after, minOffset])).toEqual([
    [null, 0],
    [idOf(5), 9],
    [idOf(8), 9],
  ])
  await stream.wait(14_999)
  expect(stream.asked.length).toBe(3)
  await stream.wait(1)
  expect(stream.sent.slice(3)).toEqual([''])
})

test('streams that began at different moments look again at the same one', async () => {
  await using early = start({ rows: [], head: 4 })
  await early.wait(4_000)
  await using late = start({ rows: [], head: 4, clock: early.clock })
  await late.settle()
  expect([early.asked.length, late.asked.length]).toEqual([1, 1])
  await early.wait(11_000)
  expect([early.asked.length, late.asked.length]).toEqual([2, 2])
})

test('a row is read as soon as the ledger has it, at no offset before; a checkpoint wakes nobody', async () => {
  await using stream = start({ rows: [], head: 4 })
  await stream.wait(1_000)
  stream.moveTo(5, 'checkpoint')
  await stream.wait(1_000)
  expect(stream.asked.length).toBe(1)
  stream.moveTo(6, 'row')
  await stream.settle()
  expect(stream.sent).toEqual(['', idOf(6), ''])
  expect(stream.asked[1]?.minOffset).toBe(6)
})

test('a busy ledger costs five reads a second at the end of the history', async () => {
  await using stream = start({ rows: [], head: 4 })
  await stream.wait(1_000)
  const before = stream.asked.length
  for (let offset = 5; offset < 105; offset++) {
    stream.moveTo(offset, offset % 10 === 0 ? 'row' : 'checkpoint')
    await stream.wait(10)
  }
  // An empty one ends each of them.
  expect(stream.asked.length - before).toBeLessThanOrEqual(12)
  await stream.wait(200)
  expect(stream.sent.filter((text) => text !== '').join(' ')).toBe(
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100].map(idOf).join(' '),
  )
})

const lagging = (seconds?: number) =>
  new ScanError(
    'CONSENSUS_LAGGING',
    'not yet',
    seconds === undefined ? {} : { retryAfterSeconds: seconds },
  )

test('what may pass is waited out, and told where it does not pass in 10 s', async () => {
  await using passing = start({ rows: [3], head: 4, fail: (n) => (n < 5 ? lagging() : null) })
  for (let tries = 0; tries < 4; tries++) await passing.wait(500)
  expect(passing.sent).toEqual([idOf(3), ''])

  await using lasting = start({ rows: [3], head: 4, fail: () => lagging(1) })
  for (let second = 0; second < 10; second++) await lasting.wait(1_000)
  await expect(lasting.running).rejects.toMatchObject({ code: 'CONSENSUS_LAGGING' })
  expect(lasting.asked.length).toBe(11)
})

test('what no other try cures is told at once', async () => {
  const refused = new ScanError('INVALID_QUORUM', 'no such quorum')
  await using stream = start({ rows: [], head: 4, fail: () => refused })
  await expect(stream.running).rejects.toBe(refused)
  expect(stream.asked.length).toBe(1)
})
