/** The commands of who looks after a cluster: history pruned, a steady load. */

import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import type { CommandContext, Common } from '@quorumscan/cli'
import { answer, integer, tell } from '@quorumscan/cli'
import { createToken, dataDirectory, parseTtl } from '@quorumscan/operator'
import { ask } from '@quorumscan/runtime'
import { callControl } from '../control/client.ts'
import { prune } from '../control/prune.ts'
import { VALIDATOR } from '../rig/cluster-shape.ts'
import { registerName } from '../rig/registration.ts'
import { percentile } from '../watch/prober.ts'
import { timeOption } from './fault-commands.ts'

const LOAD_RATE = 20
const LOAD_RATE_MAX = 2000
/** One name for so many lookups: a steady mix. */
const LOOKUPS_PER_REGISTRATION = 50
const REPORT_MS = 1000
const LOOKUP_TIMEOUT_MS = 5000

export function addWatchCommands({ command, clock }: CommandContext): void {
  command('prune', 'forget what precedes an offset: updates of the validator, reads of a node')
    .argument('[node]', 'validator or sv-1 …', VALIDATOR)
    .requiredOption('--to <offset>', 'where', integer(1, Number.MAX_SAFE_INTEGER))
    .action(async (node: string, { dataDir, to, json }: Common & { to: number }) => {
      const offset = await prune(dataDirectory(dataDir), { node, to, clock })
      const sentence =
        node === VALIDATOR
          ? `updates and completions begin after offset ${offset}`
          : `${node} answers from offset ${offset} on`
      answer({ json }, { node, offset }, sentence)
    })

  command('load', 'a steady mix of lookups and registrations')
    .addOption(timeOption('--duration <time>', 'how long', '10s'))
    .option('--rate <n>', 'lookups a second', integer(1, LOAD_RATE_MAX), LOAD_RATE)
    .action(async (options: Common & { duration: number; rate: number }) => {
      const outcome = await load(options, clock)
      answer(options, outcome, loadLines(outcome).join('\n'))
    })
}

/** Asks at a rate, whatever the answers: a slow cluster does not slow the questions. */
async function load(options: Common & { duration: number; rate: number }, clock: Clock) {
  const directory = dataDirectory(options.dataDir)
  const { validator } = await callControl(options, ({ cluster }) => cluster.status.query())
  const outcomes: Record<string, number> = {}
  const latencies: number[] = []
  const names = ['dso.ns']
  const under = new Set<Promise<void>>()
  let [registered, refused] = [0, 0]

  const lookup = async (name: string) => {
    const path = `/v0/scan-proxy/ans-entries/by-name/${encodeURIComponent(name)}`
    const answer = await ask(validator.url + path, { timeoutMs: LOOKUP_TIMEOUT_MS })
    const refusal = answer.status === null ? 'unreachable' : `refused (${answer.status})`
    const outcome = answer.headers.get('x-quorum-outcome') ?? refusal
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    latencies.push(answer.latencyMs)
  }
  const register = async () => {
    const user = `load-${randomHex(systemRandom, 4)}`
    const name = `${user}.unverified.ns`
    const token = await createToken(directory, { user, ttlSeconds: parseTtl('1h'), clock })
    try {
      const input = { validatorUrl: validator.url, token, name, description: '', clock }
      // What is refused is counted.
      await registerName({ ...input, patienceMs: 0, onStep: () => {} })
      registered += 1
      names.push(name)
    } catch {
      refused += 1 // `status` shows why.
    }
  }
  const start = (work: Promise<void>) => {
    const done = work.finally(() => under.delete(done))
    under.add(done)
  }

  const startedMs = clock.monotonicMs()
  let toldMs = startedMs
  for (let count = 0; clock.monotonicMs() - startedMs < options.duration; count++) {
    start(lookup(names[count % names.length] ?? 'dso.ns'))
    if (count % LOOKUPS_PER_REGISTRATION === 0) start(register())
    if (clock.monotonicMs() - toldMs >= REPORT_MS) {
      toldMs = clock.monotonicMs()
      tell(`${latencies.length} lookups, ${registered} names`)
    }
    const waitMs = startedMs + ((count + 1) * 1000) / options.rate - clock.monotonicMs()
    if (waitMs > 0) await clock.delay(waitMs)
  }
  await Promise.all(under)
  latencies.sort((left, right) => left - right)
  const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return { outcomes, p50Ms, p99Ms, registered, refused }
}

function loadLines(outcome: Awaited<ReturnType<typeof load>>): string[] {
  const { outcomes, p50Ms, p99Ms, registered, refused } = outcome
  return [
    ...Object.entries(outcomes).map(([name, count]) => `${name.padEnd(18)}${count}`),
    `latency           p50 ${Math.round(p50Ms ?? 0)} ms, p99 ${Math.round(p99Ms ?? 0)} ms`,
    `names             ${registered} registered, ${refused} not`,
  ]
}
