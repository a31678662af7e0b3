import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createDeadlines } from './deadlines.ts'

it('each deadline that has not ended calls back at its own time, once', async () => {
  const clock = createManualClock()
  const closing = new AbortController()
  const deadlines = createDeadlines(clock, closing.signal)
  const late: string[] = []
  const start = (name: string) => deadlines.start(100, () => late.push(name))
  const endFirst = start('first')
  await clock.advance(40)
  start('second')
  await clock.advance(40)
  const endThird = start('third')
  endFirst()
  await clock.advance(59)
  expect(late).toEqual([])
  await clock.advance(1)
  expect(late).toEqual(['second'])
  endThird()
  await clock.advance(1000)
  start('fourth')
  await clock.advance(99)
  expect(late).toEqual(['second'])
  await clock.advance(1)
  expect(late).toEqual(['second', 'fourth'])
  start('fifth')
  closing.abort()
  await clock.advance(1000)
  expect(late).toEqual(['second', 'fourth'])
})

it('ended deadlines are freed by a minor collection, also in an idle process', () => {
  setFlagsFromString('--expose-gc')
  const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc')
  const deadlines = createDeadlines(createManualClock(), new AbortController().signal)
  const bytesOfOld = () =>
    getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ??
    Number.NaN
  const answerSome = () => {
    const ends = Array.from({ length: 16 }, () => {
      const request = new Array(1000).fill(0)
      return deadlines.start(100, () => request.pop())
    })
    for (const end of ends) end()
  }
  answerSome()
  collect()
  const before = bytesOfOld()
  for (let turn = 0; turn < 100; turn++) {
    answerSome()
    collect({ type: 'minor' })
  }
  // All of the requests are 13 MB.
  expect(bytesOfOld() - before).toBeLessThan(2_000_000)
})
