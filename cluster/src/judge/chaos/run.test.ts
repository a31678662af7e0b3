/** The schedule of a run, carried out on a cluster that only records requests. */

import { CommandError } from '@quorumscan/runtime'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { HistoryEvent } from './history.ts'
import { injectFaults, runChaos, runSchedule } from './run.ts'
import { scenarioOf } from './runs.ts'
import type { ChaosTarget } from './target.ts'

const nodeNames = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
const scenario = (seed: string) =>
  scenarioOf({
    seed,
    durationMs: 600_000,
    nodeNames,
    budget: 'f',
    allowsUnexercised: false,
    ordering: 'cometbft',
  })
const STEP_MS = 1000

/** The log grows without end, and all nodes but one lag by a block. */
const BLOCK = { entries: 10, ms: 500 }

/** The faults of a seed on a cluster that is always up, and the recorded events. */
async function replay(seed: string) {
  const clock = createManualClock()
  const done: [atMs: number, what: string][] = []
  const nowMs = () => clock.monotonicMs()
  const record = (what: object) => void done.push([nowMs(), JSON.stringify(what)])
  const history: HistoryEvent[] = []
  const up = (name: string) => ({
    name,
    state: 'up',
    offset: BLOCK.entries * (Math.floor(nowMs() / BLOCK.ms) + (name === 'sv-1' ? 1 : 0)),
  })
  const target = {
    status: () => ({
      nodes: nodeNames.map(up),
      members: [],
      validator: up('validator'),
      synchronizer: up('synchronizer'),
    }),
    inject: async (spec: { kind: string }) => {
      if (spec.kind === 'machine-clock') throw new CommandError('no libfaketime')
      record(spec)
      return { id: 'fault-1' }
    },
    heal: async () => record({ kind: 'heal' }),
    wipe: async (wiped: object) => {
      record({ kind: 'wipe', ...wiped })
      return null
    },
  } as unknown as ChaosTarget // The part that a schedule uses.
  const running = runSchedule({
    target,
    scenario: scenario(seed),
    clock,
    onProgress: () => {},
    nowMs,
    record: (event) => history.push(event),
    problem: (sentence) => {
      throw new Error(sentence)
    },
    signal: new AbortController().signal,
  })
  let isOver = false
  const over = running.finally(() => {
    isOver = true
  })
  over.catch(() => {}) // Awaited below.
  while (!isOver) await clock.advance(STEP_MS)
  await over
  return { done, history }
}

it('a seed that is replayed on the same cluster injects the same faults at the same times', async () => {
  const [first, again, other] = [await replay('1'), await replay('1'), await replay('2')]
  expect(first.done.length).toBeGreaterThan(10)
  expect(again.done).toEqual(first.done)
  expect(again.history).toEqual(first.history)
  expect(other.done).not.toEqual(first.done)
})

it('carries out every step of the scenario at its time, and records refusals', async () => {
  const { history } = await replay('3')
  const faults = history.filter((event) => event.kind === 'fault')
  const { steps } = scenario('3')
  expect(faults.map(({ plannedMs }) => plannedMs).sort()).toEqual(
    steps.map(({ atMs }) => atMs).sort(),
  )
  for (const { refused, fault } of faults)
    expect(refused).toBe(fault.kind === 'machine-clock' ? 'no libfaketime' : null)
  expect(faults.some(({ refused }) => refused !== null)).toBe(true)
})

it('injects no fault when it was stopped while its clients registered', async () => {
  let isOver = false
  const nothing = () => {
    throw new Error('it continued')
  }
  const clock = createManualClock()
  const run = {
    target: {} as ChaosTarget,
    scenario: scenario('1'),
    clock,
    onProgress: nothing,
    signal: AbortSignal.abort(),
    nowMs: () => 0,
    record: nothing,
    problem: nothing,
  }
  const ended = injectFaults(run, []).then(() => {
    isOver = true
  })
  await untilTrue('it to end', () => isOver)
  await ended
})

it('a run that ends with a problem has the whole log, or none', async () => {
  const line = { offset: 1, recordTime: 0, bytes: '' }
  const runOf = (readLog: ChaosTarget['readLog']) =>
    runChaos({
      target: {
        token: () => Promise.reject(new Error('no token')),
        status: () => ({ nodes: [{ offset: 2 }, { offset: 7 }, { offset: null }] }),
        heal: async () => {},
        readLog,
      } as unknown as ChaosTarget, // The part that it uses until then.
      genesis: {} as never, // Not used before the clients are registered.
      scenario: scenario('a'),
      runId: 'a',
      clock: createManualClock(),
      signal: new AbortController().signal,
      onProgress: () => {},
    })
  const { log } = await runOf(async (throughOffset) => Array(throughOffset).fill(line))
  expect(log).toHaveLength(7)
  expect((await runOf(() => Promise.reject(new Error('no log')))).log).toEqual([])
})
