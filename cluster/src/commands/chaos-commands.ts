/** `chaos`: a run on the running cluster or on one of its own; `report`: what came of the runs. */

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import type { CommandContext, Common } from '@quorumscan/cli'
import { answer, EXIT, integer, print, wrap } from '@quorumscan/cli'
import { dataDirectory, ORDERING_DRIVERS, type OrderingDriver } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { Option } from 'commander'
import type { RunState } from '../chaos/runs.ts'
import { type Scenario, type Step, scenario } from '../chaos/schedule.ts'
import { shrink } from '../chaos/shrink.ts'
import { type ChaosOptions, runChaosOn } from '../control/chaos-client.ts'
import { callControl, connectControl } from '../control/client.ts'
import { controlOptions } from '../control/control-options.ts'
import { mountDisk } from '../faults/small-disk.ts'
import { timeOption } from './fault-commands.ts'

const NODES_MAX = 13
const SEED_BYTES = 4
/** Each is a whole run. */
const SHRINK_RUNS_MAX = 12
const SECOND = 1_000_000
/**
 * Names end, are renewed, and requests run out, again and again within a run; the lock of a payment lasts 9 s. A
 * request lives as long as a client needs that pays three of them where each payment takes seconds.
 */
const SHORT_LIVES: GenesisOverrides = {
  names: {
    entryLifetimeMicros: 12 * SECOND,
    renewalDurationMicros: 8 * SECOND,
    requestLifetimeMicros: 15 * SECOND,
  },
  coin: { tickMicros: 3 * SECOND },
}
/** Of the disk of a cluster of its own, so that it can be full, and what stays free of it at other times. */
const DISK_MIB = 256
const DISK_FREE_MIB_MIN = 32
const EXIT_CODES = { valid: EXIT.done, invalid: EXIT.failed, inconclusive: EXIT.inconclusive }

type ChaosFlags = Common & {
  seed?: string
  duration: number
  nodes?: number
  ordering?: OrderingDriver
  budget: 'f'
  beyondF?: boolean
  scenario?: string
  shrink?: boolean
  allowUnexercised?: boolean
  out?: string
}

export function addChaosCommands({ command, clock, exitWith }: CommandContext): void {
  command('chaos', 'break things by a seed while clients act, heal, and judge what they were told')
    .option('--seed <seed>', 'what decides everything (default: a random one)')
    .addOption(timeOption('--duration <time>', 'how long things break', '60s'))
    .option('--nodes <n>', 'on a cluster of its own, of this many nodes', integer(1, NODES_MAX))
    .addOption(
      new Option('--ordering <driver>', 'of the cluster of its own').choices(ORDERING_DRIVERS),
    )
    .addOption(
      new Option('--budget <budget>', 'at most f nodes faulty').choices(['f']).default('f'),
    )
    .option('--beyond-f', 'up to 2f nodes faulty: strong reads may refuse, never be wrong')
    .option('--scenario <file>', 'run these steps: a scenario.json, also of an earlier run')
    .option(
      '--allow-unexercised',
      'a verdict also where nothing put some rule to the test, as in a short run',
    )
    .option('--shrink', 'if it is invalid, look for the fewest steps that still are')
    .option('--out <dir>', 'copy the files of the run there')
    .addHelpText('after', '\nExit status: 0 valid, 1 invalid, 3 inconclusive.')
    .action(async (flags: ChaosFlags) => exitWith(await runOnce(flags, clock)))

  command('report', 'the chaos runs of this cluster, or the report of one')
    .argument('[run]', 'its id')
    .action(async (id: string | undefined, options: Common) => {
      if (id === undefined) {
        const runs = await callControl(options, ({ chaos }) => chaos.list.query())
        const text = runs.length === 0 ? 'no chaos run yet' : runs.map(runLine).join('\n')
        return answer(options, runs, text)
      }
      const run = await callControl(options, ({ chaos }) => chaos.get.query({ id }))
      const summary = await callControl(options, ({ chaos }) => chaos.summary.query({ id }))
      answer(options, summary, formatRun(run))
    })
}

async function runOnce(flags: ChaosFlags, clock: Clock): Promise<number> {
  const steps = flags.scenario === undefined ? null : readScenario(flags.scenario)
  const seed = steps?.seed ?? flags.seed ?? randomHex(systemRandom, SEED_BYTES)
  const tell = (sentence: string) => process.stderr.write(`${sentence}\n`)
  tell(`seed ${seed}`)
  const { duration: durationMs, allowUnexercised: allowsUnexercised = false } = flags
  const budget = flags.beyondF === true ? ('beyond-f' as const) : ('f' as const)
  const options: ChaosOptions = {
    ...(steps === null
      ? { seed, durationMs, budget, allowsUnexercised }
      : { scenario: allowsUnexercised ? { ...steps, allowsUnexercised } : steps }),
    onProgress: tell,
  }
  // Kept where the person is, because the cluster's own directory goes with it.
  const out =
    flags.out ??
    (flags.nodes === undefined ? null : mkdtempSync(join(tmpdir(), 'quorumscan-chaos-')))
  const outcome = await runOne(flags, { options, out, clock, tell })
  const files = out === null ? outcome.directory : resolve(out)
  const run = { ...outcome, directory: files }
  answer(flags, run, formatRun(run))
  if (flags.shrink === true && outcome.verdict === 'invalid') {
    const failing = readScenario(join(files, 'scenario.json'))
    const fails = async (fewer: readonly Step[]) => {
      tell(`trying ${fewer.length} of ${failing.steps.length} steps`)
      const again = { scenario: { ...failing, steps: [...fewer] } }
      const { verdict } = await runOne(flags, { options: again, out: null, clock, tell: () => {} })
      return verdict === 'invalid'
    }
    const fewest = await shrink(failing.steps, { fails, runsMax: SHRINK_RUNS_MAX })
    print(JSON.stringify({ ...failing, steps: fewest }))
  }
  return EXIT_CODES[outcome.verdict ?? 'inconclusive']
}

/** On a new cluster if a size was given, else on the one that runs. */
async function runOne(
  flags: ChaosFlags,
  how: {
    readonly options: ChaosOptions
    readonly out: string | null
    readonly clock: Clock
    readonly tell: (sentence: string) => void
  },
): Promise<RunState> {
  const { options, out, clock } = how
  const keep = (outcome: RunState) => {
    if (out !== null) cpSync(outcome.directory, out, { recursive: true })
    return outcome
  }
  if (flags.nodes === undefined) {
    const client = connectControl(dataDirectory(flags.dataDir))
    return keep(await runChaosOn(client, { ...options, clock }))
  }
  how.tell(`starting ${flags.nodes} nodes`)
  const { holdControlPlane } = await import('../control/launch.ts')
  const dataDir = mkdtempSync(join(tmpdir(), 'qs-cluster-'))
  const unmount = mountDisk(dataDir, DISK_MIB)
  const asked = controlOptions({
    dataDir,
    nodeCount: flags.nodes,
    ordering: flags.ordering ?? null,
    basePort: 0,
    overrides: SHORT_LIVES,
    ...(unmount === null ? {} : { diskFreeMibMin: DISK_FREE_MIB_MIN }),
    redisServer: process.env['REDIS_SERVER'] || 'redis-server',
  })
  try {
    await using _ = await holdControlPlane(asked, clock)
    const client = connectControl(dataDirectory(dataDir))
    return keep(await runChaosOn(client, { ...options, clock }))
  } finally {
    unmount?.()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function readScenario(file: string): Scenario {
  try {
    return scenario.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new CommandError(`${file} is no scenario: ${messageOf(error)}`, { cause: error })
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
