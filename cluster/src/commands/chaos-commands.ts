/** `chaos`: a run on the running cluster or on a new one; `report`: the results of runs. */

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Clock, findRedis, printableLines, randomHex, systemRandom } from '@quorumscan/base'
import type { CommandContext, Common } from '@quorumscan/cli'
import { choice, EXIT, integer, print, printResult, wrap } from '@quorumscan/cli'
import { dataDirectory, ORDERING_DRIVERS, type OrderingDriver } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { type ChaosOptions, callControl, connectControl, runChaosOn } from '../control/client.ts'
import { controlOptions } from '../control/control-options.ts'
import { mountDisk } from '../faults/small-disk.ts'
import type { RunState } from '../judge/chaos/runs.ts'
import { type Scenario, type Step, scenario, shrink } from '../judge/chaos/schedule.ts'
import { NODE_COUNT_MAX } from '../rig/cluster-shape.ts'
import { timeOption } from './fault-commands.ts'

const SEED_BYTES = 4
/** Each is a whole run. */
const SHRINK_RUNS_MAX = 12
const SECOND = 1_000_000
/**
 * Names expire, are renewed, and requests time out, many times in a run; the lock of a payment lasts 9 s. A request lives
 * long enough for a client that pays three of them where each payment takes seconds.
 */
const SHORT_LIVES: GenesisOverrides = {
  names: {
    entryLifetimeMicros: 12 * SECOND,
    renewalDurationMicros: 8 * SECOND,
    requestLifetimeMicros: 15 * SECOND,
  },
  coin: { tickMicros: 3 * SECOND },
}
/** The size of the disk of a new cluster, so that it can be full, and its free space at other times. */
const DISK_MIB = 256
const DISK_FREE_MIB_MIN = 32
const EXIT_CODES = { valid: EXIT.done, invalid: EXIT.failed, inconclusive: EXIT.inconclusive }

type ChaosFlags = Common & {
  seed?: string
  duration: number
  nodes?: number
  ordering?: OrderingDriver
  beyondF?: boolean
  scenario?: string
  shrink?: boolean
  allowUnexercised?: boolean
  out?: string
}
type Report = (sentence: string) => void

export function addChaosCommands({ command, clock, exitWith }: CommandContext): void {
  command('chaos', 'inject faults by a seed while clients act, heal, and check all answers')
    .option('--seed <seed>', 'determines the faults (default: random)')
    .addOption(timeOption('--duration <time>', 'how long faults are injected', '60s'))
    .option('--nodes <n>', 'use a new cluster of this many nodes', integer(1, NODE_COUNT_MAX))
    .addOption(choice('--ordering <driver>', 'ordering driver of a new cluster', ORDERING_DRIVERS))
    .addOption(choice('--budget <budget>', 'at most f nodes faulty', ['f'], 'f'))
    .option('--beyond-f', 'up to 2f nodes faulty: strong reads may fail, but never be wrong')
    .option('--scenario <file>', 'run these steps: a scenario.json, e.g. of an earlier run')
    .option('--allow-unexercised', 'accept a verdict without rules that the run never tested')
    .option('--shrink', 'if the run is invalid, find the fewest steps that still are')
    .option('--out <dir>', 'copy the files of the run to this directory')
    .addHelpText('after', '\nExit status: 0 valid, 1 invalid, 3 inconclusive.')
    .action(async (flags: ChaosFlags) => exitWith(await runOnce(flags, clock)))

  command('report', 'list the chaos runs of this cluster, or show the report of one')
    .argument('[run]', 'its id')
    .action(async (id: string | undefined, options: Common) => {
      if (id === undefined) {
        const runs = await callControl(options, ({ chaos }) => chaos.list.query())
        const text = runs.length === 0 ? 'no chaos run yet' : runs.map(runLine).join('\n')
        return printResult(options, runs, text)
      }
      const run = await callControl(options, ({ chaos }) => chaos.get.query({ id }))
      const summary = await callControl(options, ({ chaos }) => chaos.summary.query({ id }))
      printResult(options, summary, formatRun(run))
    })
}

async function runOnce(flags: ChaosFlags, clock: Clock): Promise<number> {
  const steps = flags.scenario === undefined ? null : readScenario(flags.scenario)
  const seed = steps?.seed ?? flags.seed ?? randomHex(systemRandom, SEED_BYTES)
  const report: Report = (sentence) => process.stderr.write(`${printableLines(sentence)}\n`)
  report(`seed ${seed}`)
  const { duration: durationMs, allowUnexercised: allowsUnexercised = false } = flags
  const budget = flags.beyondF === true ? ('beyond-f' as const) : ('f' as const)
  const options: ChaosOptions = {
    ...(steps === null
      ? { seed, durationMs, budget, allowsUnexercised }
      : { scenario: allowsUnexercised ? { ...steps, allowsUnexercised } : steps }),
    onProgress: report,
  }
  // Copied, because the directory of a new cluster is deleted with it.
  const out =
    flags.out ??
    (flags.nodes === undefined ? null : mkdtempSync(join(tmpdir(), 'quorumscan-chaos-')))
  const runTo = async (options: ChaosOptions, out: string | null, report: Report) => {
    const runOn = async (dataDir: string) => {
      const client = connectControl(dataDirectory(dataDir))
      const outcome = await runChaosOn(client, { ...options, clock })
      if (out !== null) cpSync(outcome.directory, out, { recursive: true })
      return outcome
    }
    if (flags.nodes === undefined) return await runOn(flags.dataDir)
    report(`starting ${flags.nodes} nodes`)
    return await onNewCluster(flags, clock, runOn)
  }
  const outcome = await runTo(options, out, report)
  const files = out === null ? outcome.directory : resolve(out)
  const run = { ...outcome, directory: files }
  printResult(flags, run, formatRun(run))
  if (flags.shrink === true && outcome.verdict === 'invalid') {
    const failing = readScenario(join(files, 'scenario.json'))
    const fails = async (fewer: readonly Step[]) => {
      report(`trying ${fewer.length} of ${failing.steps.length} steps`)
      const again = { scenario: { ...failing, steps: [...fewer] } }
      return (await runTo(again, null, () => {})).verdict === 'invalid'
    }
    const fewest = await shrink(failing.steps, { fails, runsMax: SHRINK_RUNS_MAX })
    print(JSON.stringify({ ...failing, steps: fewest }))
  }
  return EXIT_CODES[outcome.verdict ?? 'inconclusive']
}

/** Starts a cluster, runs `work` on its data directory, and deletes it. */
async function onNewCluster<T>(
  flags: ChaosFlags,
  clock: Clock,
  work: (dataDir: string) => Promise<T>,
): Promise<T> {
  const { holdControlPlane } = await import('../control/launch.ts')
  const dataDir = mkdtempSync(join(tmpdir(), 'qs-cluster-'))
  const unmount = mountDisk(dataDir, DISK_MIB)
  const { nodes: nodeCount = null, ordering = null } = flags
  const network = { nodeCount, ordering, basePort: 0, overrides: SHORT_LIVES }
  const disk = unmount === null ? {} : { diskFreeMibMin: DISK_FREE_MIB_MIN }
  const redisServer = findRedis(process.env) ?? 'redis-server'
  const options = controlOptions({ dataDir, ...network, ...disk, redisServer })
  try {
    await using _ = await holdControlPlane(options, clock)
    return await work(dataDir)
  } finally {
    unmount?.()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function readScenario(file: string): Scenario {
  try {
    return scenario.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new CommandError(`${file} is not a scenario: ${messageOf(error)}`, { cause: error })
  }
}

function runLine(run: RunState): string {
  const head = `${run.id}  ${(run.verdict ?? run.state).padEnd(9)}seed ${run.seed}`
  return [head, ...wrap(run.sentence)].join('\n')
}

function formatRun(run: RunState): string {
  return [
    ...wrap(`${run.verdict ?? run.state}: ${run.sentence}`),
    ...(run.summary === null ? [] : [`wrong answers served: ${run.summary.wrongAnswers}`]),
    `report  ${join(run.directory, 'report.html')}`,
    `history ${join(run.directory, 'history.jsonl')}`,
    `seed ${run.seed}`,
  ].join('\n')
}
