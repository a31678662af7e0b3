import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchEngine } from './engine-watch.ts'

it('dials members at their newest addresses, and disconnects engines that are no longer admitted', async () => {
  const clock = createManualClock(0)
  const dialed: unknown[] = []
  const disconnected: number[] = []
  let peers = ['a@old.example:26656']
  await using _ = watchEngine({
    rpc: {
      async call(method, params) {
        if (method === 'dial_peers') dialed.push(...Object(params).peers)
        if (method !== 'dump_consensus_state') return {}
        return {
          peers: [
            { node_address: 'admitted@127.0.0.1:1001' },
            { node_address: 'removed@127.0.0.1:1002' },
          ],
        }
      },
    },
    peers: () => peers,
    isPeer: (id) => id !== 'removed',
    disconnect: (port) => disconnected.push(port),
    members: ['a'],
    height: () => 1,
    onReading: async () => {},
    onFailure: (error) => expect.fail(String(error)),
    restart: () => {},
    clock,
    onProblem: (error) => expect.fail(String(error)),
  })
  await untilTrue('the first poll', () => dialed.length === 1)
  peers = ['a@new.example:26656']
  await untilTrue('the second poll', async () => {
    await clock.advance(2_000)
    return dialed.includes('a@new.example:26656')
  })
  expect(new Set(disconnected)).toEqual(new Set([1002]))
})

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
    peers: () => ['a@sv-2.example:26656'],
    isPeer: () => true,
    disconnect: () => {},
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
