import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { membersOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { EngineUnavailableError } from './engine-rpc.ts'
import { watchEngine } from './engine-watch.ts'

/** An engine that has no blocks and no peers. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  status: {
    sync_info: {
      earliest_block_height: '0',
      latest_block_height: '0',
      latest_block_time: '2026-11-22T10:00:00Z',
      catching_up: false,
    },
  },
  net_info: { peers: [] },
  dump_consensus_state: { peers: null },
}

it('dials members at their newest addresses, and disconnects engines that are no longer admitted', async () => {
  const clock = createManualClock(0)
  const dialed: unknown[] = []
  const disconnected: number[] = []
  let peers = ['a@old.example:26656']
  await using _ = watchEngine({
    rpc: {
      async call(method, params) {
        if (method === 'dial_peers') dialed.push(...(membersOf(params)['peers'] as unknown[]))
        if (method !== 'dump_consensus_state') return ANSWERS[method]
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
    set: { f: 0, quorum: 1 },
    height: () => 1,
    onReading: async () => {},
    onFailure: (error) => expect.fail(String(error)),
    restart: () => {},
    pid: () => 1,
    onHang: null,
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
        return ANSWERS[method]
      },
    },
    peers: () => ['a@sv-2.example:26656'],
    isPeer: () => true,
    disconnect: () => {},
    members: ['a'],
    set: { f: 0, quorum: 1 },
    height: () => 1,
    onReading: async () => {
      throw full
    },
    onFailure: (error) => failures.push(error),
    restart: () => {},
    pid: () => 1,
    onHang: null,
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

/** An engine that answers, while the test says so, and the pid of each that was reported to hang. */
function watchHanging() {
  const manual = createManualClock(0)
  const engine = { pid: 1, doesAnswer: true }
  /** How long this process did not run. */
  const stall = { ms: 0 }
  const clock = { ...manual, monotonicMs: () => manual.monotonicMs() + stall.ms }
  const hung: number[] = []
  let polls = 0
  const watch = watchEngine({
    rpc: {
      async call(method) {
        if (!engine.doesAnswer) throw new EngineUnavailableError('no answer')
        return ANSWERS[method]
      },
    },
    peers: () => [],
    isPeer: () => true,
    disconnect: () => {},
    members: ['a'],
    set: { f: 0, quorum: 1 },
    height: () => 1,
    onReading: async () => void polls++,
    onFailure: (error) => expect.fail(String(error)),
    restart: () => {},
    pid: () => engine.pid,
    onHang: () => hung.push(engine.pid),
    clock,
    onProblem: (error) => expect.fail(String(error)),
  })
  const poll = async () => {
    await untilTrue('a pause between polls', async () => {
      const before = polls
      await manual.advance(2_000)
      return polls > before
    })
  }
  return { engine, stall, hung, watch, poll }
}

it('an engine that answered, and then does not for a minute, hangs: once', async () => {
  const { engine, hung, watch, poll } = watchHanging()
  await poll()
  engine.doesAnswer = false
  for (let count = 1; count < 25; count++) await poll()
  expect(hung).toEqual([])
  for (let count = 0; count < 40; count++) await poll()
  expect(hung).toEqual([1])
  // The next one reads its blocks for minutes before it answers.
  engine.pid = 2
  for (let count = 0; count < 40; count++) await poll()
  expect(hung).toEqual([1])
  engine.doesAnswer = true
  await poll()
  engine.doesAnswer = false
  for (let count = 0; count < 40; count++) await poll()
  expect(hung).toEqual([1, 2])
  await watch[Symbol.asyncDispose]()
})

it('an hour in which this process was stopped is no silence of the engine', async () => {
  const { engine, stall, hung, watch, poll } = watchHanging()
  await poll()
  engine.doesAnswer = false
  stall.ms = 3_600_000
  await poll()
  expect(hung).toEqual([])
  await watch[Symbol.asyncDispose]()
})

it('an engine that was started again before it hung is waited for', async () => {
  const { engine, hung, watch, poll } = watchHanging()
  await poll()
  engine.doesAnswer = false
  engine.pid = 2
  for (let polled = 0; polled < 40; polled++) await poll()
  expect(hung).toEqual([])
  await watch[Symbol.asyncDispose]()
})
