/** The chaos runs of one cluster, one at a time. Their files are in the data directory. */

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import { CommandError, messageOf, readJson, writeFileAtomic } from '@quorumscan/runtime'
import { formatInstant, type Genesis, maxFaulty, memberSetOf } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'
import { VERSION } from '../../rig/built-files.ts'
import { createFeed } from '../watch/feed.ts'
import { check } from './checker/check.ts'
import { toJsonLines, type Verdict } from './history.ts'
import { renderReport } from './report.ts'
import { runChaos } from './run.ts'
import {
  planSchedule,
  type Scenario,
  type ScheduleOptions,
  scenario as scenarioFile,
} from './schedule.ts'
import { SUMMARY_SCHEMA, type Summary, summarize } from './summary.ts'
import type { ChaosTarget } from './target.ts'

const RUN_ID_BYTES = 4
/** Older ones stay on disk. */
const RUNS_MAX = 50
const PROGRESS_MAX = 200
/** The state of a run, for the next control plane. */
const STATE_FILE = 'run.json'

/** A run as `list` shows it. */
export type RunState = Readonly<ReturnType<typeof newRun>>

function newRun(
  { seed, durationMs, budget }: Scenario,
  begun: { readonly id: string; readonly startedAt: string; readonly directory: string },
) {
  return {
    /** `startedAt`: ISO 8601. `directory`: with its files: `report.html`, `report.json` with its schema, and more. */
    ...begun,
    seed,
    /** How long faults are injected. */
    durationMs,
    budget,
    state: 'running' as 'running' | 'done' | 'failed',
    /** The verdict, or why it is missing, or the current step. */
    sentence: 'starting',
    verdict: null as Verdict['verdict'] | null,
    /** The most important numbers; null before the verdict. */
    summary: null as ReturnType<typeof numbersOf> | null,
  }
}

export type ChaosRuns = ReturnType<typeof createChaosRuns>

/** The scenario of a seed: for these nodes, with f or up to 2f of them faulty at once. */
export function scenarioOf(
  options: Omit<ScheduleOptions, 'faultyMax'> & Pick<Scenario, 'budget' | 'allowsUnexercised'>,
): Scenario {
  const { nodeNames, ordering: _, ...asked } = options
  const f = maxFaulty(nodeNames.length)
  const faultyMax = options.budget === 'f' ? f : 2 * f
  const steps = planSchedule({ ...options, faultyMax })
  return { ...asked, nodes: nodeNames.length, steps }
}

/** Reads the finished runs of the directory. A run continues when its caller has gone. */
export function createChaosRuns(options: {
  readonly target: ChaosTarget
  readonly genesis: Genesis
  /** The files of each run are below, under its id. */
  readonly directory: string
  readonly clock: Clock
}) {
  const { target, genesis, clock } = options
  // The most recently updated first.
  const runs = new LRUCache<string, RunState>({ max: RUNS_MAX })
  for (const state of readRuns(options.directory)) runs.set(state.id, state)
  const progress = createFeed<RunState>(PROGRESS_MAX)
  let running: { readonly id: string; readonly stopping: AbortController } | null = null

  const publish = (state: RunState) => {
    runs.set(state.id, state)
    progress.publish(state)
  }
  const known = (id: string): RunState => {
    const state = runs.peek(id)
    if (state === undefined)
      throw new CommandError(`chaos run ${id} does not exist: \`quorumscan report\` lists all`)
    return state
  }
  const finished = (id: string): RunState => {
    const state = known(id)
    if (state.state === 'done') return state
    throw new CommandError(`the chaos run ${id} is ${state.state}: it has no report`)
  }

  const run = async (first: RunState, scenario: Scenario, signal: AbortSignal): Promise<void> => {
    const write = (name: string, text: string) => writeFileAtomic(join(first.directory, name), text)
    const end = (state: RunState) => {
      publish(state)
      try {
        write(STATE_FILE, JSON.stringify(state))
      } catch {
        // The next control plane does not list it.
      }
    }
    try {
      write('scenario.json', toJson(scenario))
      const { id, startedAt } = first
      const onProgress = (sentence: string) => publish({ ...known(id), sentence })
      const run = { target, genesis, scenario, runId: id, clock, signal, onProgress }
      const result = await runChaos(run)
      onProgress('checking')
      const verdict = await check({ ...result, genesis })
      const about = { run: { id, startedAt, ...thisMachine() }, ordering: genesis.ordering.driver }
      const faultyMax = memberSetOf(genesis).f
      const summary = summarize(result.history, { ...about, faultyMax, verdict, scenario })
      const files = {
        'history.jsonl': toJsonLines(result.history),
        'log.jsonl': toJsonLines(result.log),
        'genesis.json': toJson(genesis),
        'report.json': toJson(summary),
        'report.schema.json': toJson(SUMMARY_SCHEMA),
        'report.html': renderReport(summary),
      }
      for (const [name, text] of Object.entries(files)) write(name, text)
      const { sentence } = verdict
      const numbers = numbersOf(summary)
      end({ ...first, state: 'done', verdict: verdict.verdict, sentence, summary: numbers })
    } catch (error) {
      end({ ...first, state: 'failed', verdict: 'inconclusive', sentence: messageOf(error) })
    }
  }

  /** @throws {CommandError} If one is running already. */
  const start = (scenario: Scenario): RunState => {
    if (running !== null)
      throw new CommandError(`the chaos run ${running.id} is running: wait until it ends`)
    if (scenario.nodes !== memberSetOf(genesis).n)
      throw new CommandError(
        `the scenario is for ${scenario.nodes} nodes, the cluster has ${memberSetOf(genesis).n}`,
      )
    const id = randomHex(systemRandom, RUN_ID_BYTES)
    const directory = join(options.directory, id)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const first = newRun(scenario, { id, directory, startedAt: formatInstant(clock.nowMicros()) })
    publish(first)
    const stopping = new AbortController()
    running = { id, stopping }
    void run(first, scenario, stopping.signal).finally(() => {
      running = null
    })
    return first
  }

  const readFile = (id: string, name: string) => readJson(join(known(id).directory, name))
  return {
    /** Newest first. */
    list: (): readonly RunState[] => [...runs.values()],
    get: known,
    summary: (id: string) => readFile(id, 'report.json') as Summary | null,
    /** The report as HTML. @throws {CommandError} If the run has none. */
    report: (id: string) => readFileSync(join(finished(id).directory, 'report.html'), 'utf8'),
    start,
    /** The same faults at the same times. @throws {CommandError} If it is not done, or one is running. */
    repeat: (id: string) => start(scenarioFile.parse(readFile(finished(id).id, 'scenario.json'))),
    /** Ends the faults of the running one. Healing, final reads and the verdict follow. */
    stop(id: string): void {
      known(id)
      if (running?.id === id) running.stopping.abort()
    },
    progress,
    stopRunning: () => running?.stopping.abort(),
  }
}

/** The finished runs of earlier control planes of this directory, oldest first. */
function readRuns(directory: string): RunState[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .flatMap((id) => {
      try {
        return (readJson(join(directory, id, STATE_FILE)) as RunState | null) ?? []
      } catch {
        return [] // An incomplete file, or not a run.
      }
    })
    .sort((left, right) => (left.startedAt < right.startedAt ? -1 : 1))
}

/** The most important numbers of a run. */
function numbersOf({ wrongAnswers, lookups }: Summary) {
  const { attempted, answered, p50Ms, p99Ms } = lookups
  return { wrongAnswers, decided: answered, refused: attempted - answered, p50Ms, p99Ms }
}

/** The software and the machine, as figures of different machines must not be compared. */
function thisMachine() {
  const [cpu] = cpus()
  const gib = Math.round(totalmem() / 2 ** 30)
  const size = `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${gib} GiB`
  const machine = `${type()} ${release()}, ${size}, Node.js ${process.version}`
  return { version: VERSION, machine }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
