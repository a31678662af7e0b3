/** The schedule of a run, carried out on a cluster that only notes what is asked of it. */

import { CommandError } from '@quorumscan/runtime'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { HistoryEvent } from './history.ts'
import { breakThings, runChaos, runSchedule } from './run.ts'
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

/** The log goes on without end, and all but one node are a block behind it. */
const BLOCK = { entries: 10, ms: 500 }

/** What a seed does to a cluster that is always well, and what was recorded of it. */
async function replay(seed: string) {
  const clock = createManualClock()
  const done: [atMs: number, what: string][] = []
  const nowMs = () => clock.monotonicMs()
  const note = (what: object) => void done.push([nowMs(), JSON.stringify(what)])
  const history: HistoryEvent[] = []
  const up = (name: string) => ({
    ...{ name, state: 'up' },
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
      note(spec)
      return { id: 'fault-1' }
    },
    heal: async () => note({ kind: 'heal' }),
    wipe: async (wiped: object) => note({ kind: 'wipe', ...wiped }),
  } as unknown as ChaosTarget // What a schedule needs of one.
  const running = runSchedule(
    { target, scenario: scenario(seed), clock, onProgress: () => {} },
    {
      nowMs,
      record: (event) => history.push(event),
      trouble: (sentence) => {
        throw new Error(sentence)
      },
      signal: new AbortController().signal,
    },
  )
  let isOver = false
  const over = running.finally(() => {
    isOver = true
  })
  over.catch(() => {}) // Looked at below.
  while (!isOver) await clock.advance(STEP_MS)
  await over
  return { done, history }
}

it('a seed that is replayed on the same cluster breaks the same things at the same times', async () => {
  const [first, again, other] = [await replay('1'), await replay('1'), await replay('2')]
  expect(first.done.length).toBeGreaterThan(10)
  expect(again.done).toEqual(first.done)
  expect(again.history).toEqual(first.history)
  expect(other.done).not.toEqual(first.done)
})

it('does every step of the scenario, at its time, and says which it could not', async () => {
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

it('breaks nothing where it was stopped while its clients registered', async () => {
  let isOver = false
  const nothing = () => {
    throw new Error('it went on')
  }
  const clock = createManualClock()
  const ended = breakThings(
    {
      ...{ target: {} as ChaosTarget, scenario: scenario('1'), clock, onProgress: nothing },
      signal: AbortSignal.abort(),
    },
    { clients: [], nowMs: () => clock.monotonicMs(), record: nothing, trouble: nothing },
  ).then(() => {
    isOver = true
  })
  await untilTrue('it to end', () => isOver)
  await ended
})

it('what ends in trouble is judged by the whole log, or not at all', async () => {
  const line = { offset: 1, recordTime: 0, bytes: '' }
  const runOf = (readLog: ChaosTarget['readLog']) =>
    runChaos({
      target: {
        token: () => Promise.reject(new Error('no token')),
        status: () => ({ nodes: [{ offset: 2 }, { offset: 7 }, { offset: null }] }),
        heal: async () => {},
        readLog,
      } as unknown as ChaosTarget, // What it needs of one until then.
      genesis: {} as never, // It is not asked for before the clients are there.
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
