import { readFile } from 'node:fs/promises'
import { createSystemClock, median } from '@quorumscan/base'
import { runChild, startChild } from '../support/child.ts'
import type { Load } from '../support/load.ts'
import type { LoadArgument } from '../support/load-child.ts'
import type { Attack, Target, Verdict } from './attack.ts'
import { COSTLY_LIES, type CostlyLie, type LyingNodeArgument } from './lying-node.ts'
import { spentOn } from './process.ts'

const LOAD = 'support/load-child'
const LYING_NODE = 'attacks/lying-node-child'
const LIAR = 'sv-4'
const SLOWER_MAX = 2
const ROUNDS = 3
const LOAD_MS = 5_000
/** Limit of the ratio of the proxy's processor time per answer. */
const CPU_RATIO_MAX = 5
const MEMORY_MB_MAX = 100
const SAMPLE_MS = 100
const clock = createSystemClock()

export const costlyAnswers: Attack = {
  name: 'costly-answers',
  needsOwnCluster: true,
  claim:
    'One scan node answers every request with bodies that are expensive to read: ' +
    `${Object.values(COSTLY_LIES).join(', ')}. All the time a client reads pages through the proxy. ` +
    'All lookups at the proxy are answered, with a p99 of at most twice the healthy one, at most five times ' +
    'the processor time and 100 MB more memory.',
  async run(target) {
    const lies = Object.keys(COSTLY_LIES) as CostlyLie[]
    const rounds: Round[] = []
    while (rounds.length < ROUNDS) rounds.push(await measureRound(target, lies))
    return verdictOf(lies, rounds)
  },
}

type Measured = {
  /** The loads of lookups and of pages. */
  readonly loads: readonly Load[]
  /** Processor time per answered lookup or page. */
  readonly cpuMs: number
  readonly memoryMb: number
}
type Round = {
  readonly healthy: Measured
  readonly lied: Readonly<Record<CostlyLie, Measured>>
}

/** Measures healthy nodes in the same round, so that other work on the machine slows both sides of a ratio. */
async function measureRound(target: Target, lies: readonly CostlyLie[]): Promise<Round> {
  const { cluster } = target
  const healthy = await measure(target)
  const port = Number(new URL(cluster.urls.nodes[LIAR] ?? '').port)
  const lied: [CostlyLie, Measured][] = []
  await cluster.kill(LIAR)
  try {
    for (const lie of lies) {
      await using liar = startChild(LYING_NODE, { port, lie } satisfies LyingNodeArgument)
      await liar.result()
      lied.push([lie, await measure(target)])
    }
  } finally {
    await cluster.restart(LIAR)
  }
  return { healthy, lied: Object.fromEntries(lied) as Round['lied'] }
}

function verdictOf(lies: readonly CostlyLie[], rounds: readonly Round[]): Verdict {
  const figures: Record<string, number | string> = {}
  let holds = true
  for (const lie of lies) {
    const slower = median(rounds.map(({ healthy, lied }) => p99Of(lied[lie]) / p99Of(healthy)))
    const cpuRatio = median(rounds.map(({ healthy, lied }) => lied[lie].cpuMs / healthy.cpuMs))
    const memoryMb = Math.max(
      ...rounds.map(({ healthy, lied }) => lied[lie].memoryMb - healthy.memoryMb),
    )
    let [answeredCount, failureCount] = [0, 0]
    for (const { lied } of rounds)
      for (const load of lied[lie].loads) {
        answeredCount += load.perSecond
        failureCount += load.failureCount
      }
    holds &&= failureCount === 0 && answeredCount > 0 && slower <= SLOWER_MAX
    holds &&= cpuRatio <= CPU_RATIO_MAX && memoryMb <= MEMORY_MB_MAX
    figures[`${lie}: lookups and pages that failed`] = failureCount
    figures[`${lie}: p99 ÷ healthy (at most ${SLOWER_MAX})`] = slower.toFixed(2)
    figures[`${lie}: processor time ÷ healthy (at most ${CPU_RATIO_MAX})`] = cpuRatio.toFixed(2)
    figures[`${lie}: more memory, MB (at most ${MEMORY_MB_MAX})`] = Math.round(memoryMb)
  }
  return { holds, figures }
}

const p99Of = ({ loads: [lookups] }: Measured) => lookups?.p99Ms ?? Number.NaN

/** Measures lookups at the proxy while it also serves pages, and its maximum memory meanwhile. */
async function measure({ cluster }: Target): Promise<Measured> {
  const load = (path: string, more: Pick<LoadArgument, 'connections' | 'perSecond'>) =>
    runChild<Load>(LOAD, {
      origin: cluster.urls.validator,
      paths: [`/v0/scan-proxy/ans-entries${path}`],
      ms: LOAD_MS,
      ...more,
    } satisfies LoadArgument)
  const over = new AbortController()
  const memory = watchMemory(await pidOfValidator(cluster), over.signal)
  const loads: Load[] = []
  const { cpuMs } = await spentOn(cluster.urls.validator, async () => {
    loads.push(
      ...(await Promise.all([
        load('/by-name/dso.ns', { connections: 4, perSecond: 200 }),
        load('?page_size=1000', { connections: 4, perSecond: 20 }),
      ])),
    )
  }).finally(() => over.abort())
  const count = loads.reduce((sum, load) => sum + load.count, 0)
  return { loads, cpuMs: cpuMs / count, memoryMb: await memory }
}

async function pidOfValidator(cluster: Target['cluster']): Promise<number> {
  const { pid } = (await cluster.status()).validator
  if (pid === null) throw new Error('the validator does not run')
  return pid
}

async function watchMemory(pid: number, signal: AbortSignal): Promise<number> {
  let most = 0
  while (!signal.aborted) {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
    most = Math.max(most, Number(kilobytes) / 1000)
    await clock.delay(SAMPLE_MS, signal).catch(() => {}) // Aborted: the loop ends.
  }
  return most
}
