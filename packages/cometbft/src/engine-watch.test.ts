import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchEngine } from './engine-watch.ts'

it('reports files that cannot be written, and still dials missing members', async () => {
  const clock = createManualClock(0)
  const failures: unknown[] = []
  const called: string[] = []
  const full = new Error('ENOSPC: no space left on device')
  const watch = watchEngine({
    rpc: {
      async call(method) {
        called.push(method)
        return {}
      },
    },
    peers: ['a@sv-2.example:26656'],
    members: ['a'],
    height: () => 1,
    onReading: async () => {
      throw full
    },
    onFailure: (error) => failures.push(error),
    restart: () => {},
    clock,
    onProblem: (error) => expect.fail(String(error)),
  })
  await untilTrue('the first poll', () => called.includes('dial_peers'))
  await untilTrue('the second poll', async () => {
    await clock.advance(2_000)
    return failures.length > 1
  })
  expect(failures.slice(0, 2)).toEqual([full, full])
  const closed = watch[Symbol.asyncDispose]()
  await clock.advance(2_000)
  await closed
})
