/** When a stream of activities sends a frame, on a ledger that the test moves. */
import { ScanError } from '@quorumscan/errors'
import { createUpdateFeed } from '@quorumscan/ledger-api'
import { activityStream } from '@quorumscan/scan-proxy'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'

type Feed = Parameters<typeof createUpdateFeed>[0]
type Step = Parameters<Parameters<Feed['onHistory']>[0]>[0]

/** `unitsMax`: what the client may spend. */
function start(options: { readonly head: number; readonly unitsMax?: number }) {
  const clock = createManualClock()
  const { unitsMax = 1000 } = options
  let announce = (_: Step) => {}
  let head = options.head
  const feed = createUpdateFeed({
    head: () => ({ offset: options.head, recordTime: 1, historyHash: '', entryHash: '' }),
    history: {
      updates: async () => {
        throw new Error('nothing reads updates here')
      },
    },
    onHistory: (follower) => {
      announce = follower
      return () => {}
    },
  })
  const stop = new AbortController()
  const frames: number[] = []
  let units = 0
  const charge = (more: number) => {
    if (units >= unitsMax) throw new ScanError('RATE_LIMITED', 'too much')
    units += more
  }
  const running = (async () => {
    for await (const texts of activityStream({ feed, clock }, { charge, signal: stop.signal }))
      frames.push(...texts.map((text) => JSON.parse(text).offset))
  })()
  running.catch(() => {}) // Looked at by tests that expect it.
  const settle = async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    frames,
    running,
    stop: (reason: Error) => stop.abort(reason),
    async wait(ms: number) {
      await settle()
      await clock.advance(ms)
      await settle()
    },
    /** Moves the end of the ledger to this offset, by an update or a checkpoint. */
    moveTo(offset: number, kind: 'update' | 'checkpoint') {
      const updates =
        kind === 'update' ? [{ offset, bytes: Buffer.alloc(1) } as Step['updates'][number]] : []
      const step = { after: head, head: { offset, recordTime: offset }, updates }
      head = offset
      announce(step)
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the client left'))
      await running.catch(() => {})
    },
  }
}

it('a stream sends the offset of the ledger at once, then every 15 s', async () => {
  await using stream = start({ head: 9 })
  await stream.wait(0)
  expect(stream.frames).toEqual([9])
  await stream.wait(200)
  await stream.wait(14_799)
  expect(stream.frames).toEqual([9])
  await stream.wait(1)
  expect(stream.frames).toEqual([9, 9])
})

it('sends a frame as soon as the ledger has an update, but not for a checkpoint', async () => {
  await using stream = start({ head: 4 })
  await stream.wait(1_000)
  stream.moveTo(5, 'checkpoint')
  await stream.wait(1_000)
  expect(stream.frames).toEqual([4])
  stream.moveTo(6, 'update')
  await stream.wait(0)
  expect(stream.frames).toEqual([4, 6])
})

it('sends at most five frames a second, and misses no update', async () => {
  await using stream = start({ head: 4 })
  for (const offset of [5, 6, 7]) {
    await stream.wait(60)
    stream.moveTo(offset, 'update')
  }
  expect(stream.frames).toEqual([4])
  await stream.wait(20)
  expect(stream.frames).toEqual([4, 7])
})

it('each frame is charged, and a stream without budget ends with RATE_LIMITED', async () => {
  await using stream = start({ head: 4, unitsMax: 2 })
  for (const offset of [5, 6]) {
    await stream.wait(200)
    stream.moveTo(offset, 'update')
  }
  await stream.wait(200)
  expect(stream.frames).toEqual([4, 5])
  await expect(stream.running).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

it('a stream ends with the reason of its signal', async () => {
  await using stream = start({ head: 4 })
  await stream.wait(300)
  stream.stop(new Error('enough'))
  await expect(stream.running).rejects.toThrow('enough')
})
