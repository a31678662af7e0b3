import { expect, it } from 'vitest'
import { createSource, type Flight } from '../source/source.ts'
import { createDeciderContext, type Event, NEVER, send } from './decider-protocol.ts'
import { createDriver } from './run.ts'

interface Request extends Flight<Request> {
  readonly text: string
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const STALL_MS = 100

/** A decider that sends each read to its one node; the test scripts its other effects. */
function createHarness(times: { readonly lateMs?: number; readonly endMs?: number } = {}) {
  const sleepers: { readonly atMs: number; wake(): void }[] = []
  let elapsedMs = 0
  const clock = {
    nowMicros: () => elapsedMs * 1000,
    monotonicMs: () => elapsedMs,
    delay: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ atMs: elapsedMs + ms, wake: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const node = createSource<Request>('https://node.test', true)
  const context = createDeciderContext<Request, string, never>([node])
  const events: Event<Request, string, string>[] = []
  const requests: {
    readonly text: string
    readonly signal: AbortSignal
    answer(text: string): void
  }[] = []
  const step = (event: Event<Request, string, string>): void => {
    events.push(event)
    if (event.kind === 'began')
      for (const { input } of event.reads)
        send(context, {
          source: node,
          text: input,
          sentAtMs: context.nowMs,
          abort: null,
          lateAtMs: context.nowMs + (times.lateMs ?? NEVER),
          endsAtMs: context.nowMs + (times.endMs ?? NEVER),
        })
    else if (event.kind === 'deadline')
      for (const read of event.reads)
        context.effects.push({ kind: 'done', read, outcome: 'too late' })
    else if (event.kind === 'reply')
      context.effects.push({ kind: 'done', read: 1, outcome: event.reply })
  }
  const driver = createDriver<Request, string, string, string, never, never>({
    context,
    step,
    clock,
    asker: ({ text }, signal) =>
      new Promise((resolve, reject) => {
        requests.push({ text, signal, answer: resolve })
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
    note: () => {},
    stallMs: STALL_MS,
  })
  return {
    driver,
    context,
    node,
    events,
    requests,
    kinds: () => events.map(({ kind }) => kind),
    /** Time passes; timers are late by `lateMs`. */
    async pass(ms: number, lateMs = 0) {
      elapsedMs += ms + lateMs
      for (const sleeper of sleepers.splice(0))
        if (sleeper.atMs <= elapsedMs) sleeper.wake()
        else sleepers.push(sleeper)
      await turn()
    },
  }
}

it('reports reads of one moment together, and sends the requests of the step', async () => {
  const { driver, kinds, requests, node } = createHarness()
  const first = driver.ask('a', NEVER, undefined)
  void driver.ask('b', NEVER, undefined)
  await turn()
  expect(kinds()).toEqual(['began'])
  expect(requests.map(({ text }) => text)).toEqual(['a', 'b'])
  expect(node.flights.length).toBe(2)
  requests[0]?.answer('yes')
  expect(await first).toBe('yes')
  expect(node.flights.length).toBe(1)
  expect(driver.waitingCount()).toBe(1)
})

it('reports a late request, and aborts it at its end', async () => {
  const { driver, kinds, requests, node, pass } = createHarness({ lateMs: 50, endMs: 80 })
  void driver.ask('a', NEVER, undefined)
  await turn()
  await pass(49)
  expect(kinds()).toEqual(['began'])
  await pass(1)
  expect(kinds()).toEqual(['began', 'late'])
  await pass(30)
  expect(kinds()).toEqual(['began', 'late', 'failed'])
  expect(requests[0]?.signal.aborted).toBe(true)
  expect(node.flights.length).toBe(0)
})

it('ends a read at its deadline', async () => {
  const { driver, pass } = createHarness()
  const asking = driver.ask('a', 1000, undefined)
  await turn()
  await pass(1000)
  expect(await asking).toBe('too late')
})

it('wakes the decider at its time', async () => {
  const { driver, context, kinds, pass } = createHarness()
  context.wakeAtMs = 10
  void driver.ask('a', NEVER, undefined)
  await turn()
  await pass(9)
  expect(kinds()).toEqual(['began'])
  await pass(1)
  expect(kinds()).toEqual(['began', 'woke'])
  expect(context.wakeAtMs).toBe(NEVER)
})

it('wakes the decider although the alarm was set for an ended request', async () => {
  const times = { lateMs: 5 }
  const { driver, context, kinds, requests, pass } = createHarness(times)
  const first = driver.ask('a', NEVER, undefined)
  await turn()
  requests[0]?.answer('yes')
  await first
  times.lateMs = NEVER
  void driver.ask('b', NEVER, undefined)
  context.wakeAtMs = 10
  await turn()
  await pass(5)
  expect(kinds()).toEqual(['began', 'reply', 'began'])
  await pass(5)
  expect(kinds().slice(3)).toEqual(['woke'])
})

it('does not count the time of a stall, and reports replies from it first', async () => {
  const { driver, context, kinds, requests, pass } = createHarness({ lateMs: 50 })
  void driver.ask('a', NEVER, undefined)
  await turn()
  await pass(50, STALL_MS + 1)
  expect(kinds()).toEqual(['began'])
  requests[0]?.answer('yes')
  await turn()
  expect(kinds()).toEqual(['began', 'reply'])
  expect(context.nowMs).toBe(50)
})

it('reports a late request if the timer is only a little late', async () => {
  const { driver, kinds, pass } = createHarness({ lateMs: 50 })
  void driver.ask('a', NEVER, undefined)
  await turn()
  await pass(50, STALL_MS)
  expect(kinds()).toEqual(['began', 'late'])
})

it('reports to the decider that a caller aborted', async () => {
  const { driver, events } = createHarness()
  const leaving = new AbortController()
  const asking = driver.ask('a', NEVER, leaving.signal)
  await turn()
  leaving.abort(new Error('gone'))
  await expect(asking).rejects.toThrow('gone')
  expect(events.at(-1)).toEqual({ kind: 'left', reads: [1] })
})

it('begins no read whose caller left in the same moment', async () => {
  const { driver, requests } = createHarness()
  const leaving = new AbortController()
  const asking = driver.ask('a', NEVER, leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(asking).rejects.toThrow('gone')
  await turn()
  expect(requests).toEqual([])
})

it('ends everything when it closes', async () => {
  const { driver, requests, kinds } = createHarness()
  const asking = driver.ask('a', NEVER, undefined)
  await turn()
  driver.close(new Error('closed'))
  await expect(asking).rejects.toThrow('closed')
  expect(requests[0]?.signal.aborted).toBe(true)
  await turn()
  expect(kinds()).toEqual(['began'])
})
