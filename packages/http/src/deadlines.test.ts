import { createManualClock } from '@quorumscan/testkit'
import { expect, test } from 'vitest'
import { createDeadlines } from './deadlines.ts'

test('each one that has not ended is told at its own time, and nobody twice', async () => {
  const clock = createManualClock()
  const closing = new AbortController()
  const deadlines = createDeadlines({ clock, ms: 100, signal: closing.signal })
  const late: string[] = []
  const start = (name: string) => deadlines.start(() => late.push(name))
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
