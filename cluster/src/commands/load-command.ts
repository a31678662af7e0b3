/** The command that makes a steady load. */
import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import { type CommandContext, type Common, integer, printError, printResult } from '@quorumscan/cli'
import { createToken, dataDirectory } from '@quorumscan/operator'
import { ask, repeat } from '@quorumscan/runtime'
import { statusOf } from '../control/client.ts'
import { atFixedRate } from '../judge/chaos/readers.ts'
import { percentilesOf } from '../judge/watch/prober.ts'
import { lookupPath, registerName } from '../rig/registration.ts'
import { timeOption } from './fault-commands.ts'

const LOAD_RATE = 20
const LOAD_RATE_MAX = 2000
const LOOKUPS_PER_REGISTRATION = 50
const REPORT_MS = 1000
const LOOKUP_TIMEOUT_MS = 5000

export function addLoadCommand({ command, clock }: CommandContext): void {
  command('load', 'send lookups and registrations at a fixed rate')
    .addOption(timeOption('--duration <time>', 'how long requests are sent', '10s'))
    .option('--rate <n>', 'lookups per second', integer(1, LOAD_RATE_MAX), LOAD_RATE)
    .action(async (options: Common & { duration: number; rate: number }) => {
      const outcome = await load(options, clock)
      printResult(options, outcome, loadLines(outcome).join('\n'))
    })
}

/** Sends requests at a fixed rate: a slow cluster does not reduce it. */
async function load(options: Common & { duration: number; rate: number }, clock: Clock) {
  const directory = dataDirectory(options.dataDir)
  const { validator } = await statusOf(options)
  const outcomes: Record<string, number> = {}
  const latencies: number[] = []
  const names = ['dso.ns']
  let [registered, refused] = [0, 0]

  const lookup = async (name: string) => {
    const answer = await ask(validator.url + lookupPath(name), { timeoutMs: LOOKUP_TIMEOUT_MS })
    const refusal = answer.status === null ? 'unreachable' : `refused (${answer.status})`
    const outcome = answer.headers.get('x-quorum-outcome') ?? refusal
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    latencies.push(answer.latencyMs)
  }
  const register = async () => {
    const user = `load-${randomHex(systemRandom, 4)}`
    const name = `${user}.unverified.ns`
    const token = await createToken(directory, { user, clock })
    try {
      const input = { validatorUrl: validator.url, token, name, description: '', clock }
      // A refusal is counted, not repeated.
      await registerName({ ...input, retryForMs: 0, onStep: () => {} })
      registered += 1
      names.push(name)
    } catch {
      refused += 1 // `status` shows why.
    }
  }

  const signal = AbortSignal.timeout(options.duration)
  const report = () => printError(`${latencies.length} lookups, ${registered} names`)
  repeat(report, { clock, everyMs: REPORT_MS, waitsFirst: true, signal })
  const attempt = async (index: number) => {
    const isRegistration = index % LOOKUPS_PER_REGISTRATION === 0
    const registering = isRegistration ? register() : null
    await lookup(names[index % names.length] ?? 'dso.ns')
    await registering
  }
  await atFixedRate(attempt, { everyMs: 1000 / options.rate, clock, signal })
  return { outcomes, ...percentilesOf(latencies), registered, refused }
}

function loadLines(outcome: Awaited<ReturnType<typeof load>>): string[] {
  const { outcomes, p50Ms, p99Ms, registered, refused } = outcome
  return [
    ...Object.entries(outcomes).map(([name, count]) => `${name.padEnd(18)}${count}`),
    `latency           p50 ${Math.round(p50Ms ?? 0)} ms, p99 ${Math.round(p99Ms ?? 0)} ms`,
    `names             ${registered} registered, ${refused} not`,
  ]
}
