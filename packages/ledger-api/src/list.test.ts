/** Lists over HTTP: the rows of the reference's table (§L3.2). */
import { fromUtf8 } from '@quorumscan/base'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { listOf } from './list.ts'

const { signal } = new AbortController()

/** Counts up to the end in batches, with a pause between them. */
async function* counting(
  end: number,
  options: { readonly batch?: number; readonly pause?: () => Promise<void> } = {},
): AsyncGenerator<readonly string[]> {
  const { batch = 7, pause } = options
  for (let next = 1; next <= end; next += batch) {
    if (next > 1) await pause?.()
    const size = Math.min(batch, end - next + 1)
    yield Array.from({ length: size }, (_, index) => String(next + index))
  }
}

type Open = Parameters<typeof listOf>[0]

/** Reads a stream that has caught up from its start, or one that says when. */
const read = async (
  stream: AsyncGenerator<readonly string[]> | Open,
  options: Partial<Parameters<typeof listOf>[1]> = {},
): Promise<number[]> => {
  const all = { limit: undefined, idleMs: null, clock: createManualClock(), signal, ...options }
  const open: Open = (ended, reader) => {
    if (typeof stream === 'function') return stream(ended, reader)
    reader.onCaughtUp?.()
    return stream
  }
  return JSON.parse(fromUtf8(await listOf(open, all)))
}
/** Lets pending work run until it waits for the clock. */
const turn = () => new Promise((resolve) => setImmediate(resolve))
const upTo = (end: number) => Array.from({ length: end }, (_, index) => index + 1)

it('counts the rows that its stream reads', async () => {
  let rows = 0
  const open: Open = (_, { onRows }) => {
    onRows?.(7)
    return counting(3)
  }
  const countRows = (count: number) => {
    rows += count
  }
  await read(open, { countRows })
  expect(rows).toBe(7)
})

it('pauses its request once it has caught up, until it ends', async () => {
  const calls: string[] = []
  const open: Open = (_, { onCaughtUp }) => {
    calls.push('open')
    onCaughtUp?.()
    return counting(3)
  }
  const pause = () => {
    calls.push('pause')
    return () => calls.push('resume')
  }
  await read(open, { pause })
  expect(calls).toEqual(['open', 'pause', 'resume'])
})

it('large elements of one read do not keep the process from other work', async () => {
  let turns = 0
  let isOver = false
  const text = 'x'.repeat(16 * 1024)
  const large = async function* () {
    for (let count = 0; count < 200; count++) yield [JSON.stringify(text)]
  }
  const reading = read(large()).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await turn()
    turns++
  }
  expect(await reading).toHaveLength(200)
  // 3.2 MB, 64 KiB in a turn.
  expect(turns).toBeGreaterThan(40)
})

it.each([
  ['nothing', 0, undefined, 0],
  ['as many as there may be', 200, undefined, 200],
  ['a limit', 500, 3, 3],
  ['the highest limit', 500, 200, 200],
  ['a limit above the highest, which is ignored', 200, 5_000, 200],
  ['a limit of 0', 500, 0, 0],
  ['a limit below 0', 500, -5, 0],
])('%s: of %i elements with limit %s the list has %i', async (_, end, limit, count) => {
  expect(await read(counting(end), { limit })).toEqual(upTo(count))
})

it.each([undefined, 201, 5_000])('201 elements with limit %s are 413', async (limit) => {
  await expect(read(counting(201), { limit })).rejects.toMatchObject({
    code: 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
    message: expect.stringMatching(/\(201\).*\(200\)/),
    spec: { httpStatus: 413, category: 2 },
  })
})

it('each element restarts the idle timeout, which ends the list', async () => {
  const clock = createManualClock()
  let pauses = 0
  const stream = counting(100, {
    batch: 1,
    pause: () => clock.delay(pauses++ < 3 ? 80 : 1_000_000),
  })
  let answer: number[] | undefined
  const reading = read(stream, { idleMs: 100, clock }).then((found) => {
    answer = found
  })
  await turn()
  await clock.advance(339)
  expect(answer).toBeUndefined()
  await clock.advance(1)
  await reading
  expect(answer).toEqual(upTo(4))
})

it('idle time counts from the moment when what existed was delivered', async () => {
  const clock = createManualClock()
  const slow: Open = async function* (ended, { onCaughtUp }) {
    for (const element of ['1', '2']) {
      // Reads and computes for longer than the idle timeout.
      await clock.delay(5_000)
      yield [element]
    }
    await clock.delay(5_000)
    onCaughtUp?.()
    await clock.delay(99)
    yield ['3']
    await clock.delay(1_000_000, ended)
  }
  let answer: number[] | undefined
  const reading = read(slow, { idleMs: 100, clock }).then((found) => {
    answer = found
  })
  await turn()
  await clock.advance(15_000 + 99 + 99)
  expect(answer).toBeUndefined()
  await clock.advance(1)
  await reading
  expect(answer).toEqual(upTo(3))
})

it.each([
  [undefined, 201],
  [3, 3],
  [0, 0],
  [-5, 0],
  [5_000, 201],
])('with limit %s the stream is told to read %i elements', async (limit, elementsMax) => {
  let told: number | undefined
  await read(
    (_, reader) => {
      told = reader.elementsMax
      return counting(3)
    },
    { limit },
  )
  expect(told).toBe(elementsMax)
})

it('without an idle timeout a list waits for the end of the stream', async () => {
  const clock = createManualClock()
  const reading = read(counting(3, { batch: 1, pause: () => clock.delay(60_000) }), { clock })
  await turn()
  await clock.advance(120_000)
  expect(await reading).toEqual(upTo(3))
})

it('an error after some elements fails the whole list', async () => {
  const stream = counting(30, { pause: () => Promise.reject(new Error('pruned meanwhile')) })
  await expect(read(stream)).rejects.toThrow('pruned meanwhile')
})

it('what was opened for a stream that cannot be opened ends', async () => {
  let ended: AbortSignal | null = null
  const open: Open = async (signalOfStream) => {
    ended = signalOfStream
    throw new Error('no such party')
  }
  await expect(read(open)).rejects.toThrow('no such party')
  expect(ended).toMatchObject({ aborted: true })
})

it('a list closes the stream when it has enough elements', async () => {
  let isOver = false
  async function* endless(): AsyncGenerator<readonly string[]> {
    try {
      for (;;) yield ['1']
    } finally {
      isOver = true
    }
  }
  await read(endless(), { limit: 5 })
  await Promise.resolve()
  expect(isOver).toBe(true)
})
