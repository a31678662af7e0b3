/**
 * Exchanges that a client begins and never finishes, at each process: those of a cluster, its control plane, a mirror, and
 * `run` with its processes, which speak TLS. Linux only.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import type { HalfFinishedTarget } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { type Child, startChild } from '../support/child.ts'
import { createNetwork, type Operator, run, untilReady } from '../support/operators.ts'
import type { Attack } from './attack.ts'
import { startMirror } from './mirror.ts'

export type HalfFinishedArgument = {
  readonly target: HalfFinishedTarget
  /** The certificate of the authority that the server's is of; null: without TLS. */
  readonly caFile: string | null
  readonly step: HalfFinishedStep
}
export type HalfFinishedStep =
  /** Begins this number of each kind, after it has let go of those before. */
  | { readonly begin: number }
  /** Waits until the server has none of them. */
  | { readonly untilEndedMsMax: number }
  /** Collects the garbage of this process. */
  | { readonly collectIn: number }
export type HalfFinishedResult = {
  /** Sockets that the server has for these exchanges. */
  readonly held?: number
  readonly ms?: number
  /** The status of another client's request. */
  readonly status?: number
  readonly heapBytes?: number
}

/** Twice of each kind at once: 8 000 connections, of the 8 192 that a process accepts. */
const COUNT = 500
const ROUNDS = 2
/** With TLS the handshakes of 2 000 clients are a load of their own. */
const TLS_COUNT = 100
/** The operator's listener, and the control plane with its sockets, are for few clients. */
const AT_TERM = 4
const END_MS_MAX = 120_000
const HEAP_BYTES_MAX = 5 * 1024 * 1024
/** A process ends within its 10 s for requests in progress, before the 12 s after which its supervisor kills it. */
const TERM_MS_MAX = 12_000
/** These stop others first. */
const TERM_ALL_MS_MAX = 30_000
const POLL_MS = 20

const clock = createSystemClock()

type Attacked = {
  readonly name: string
  readonly pid: () => number
  readonly target: HalfFinishedTarget
  readonly termMsMax: number
  readonly caFile: string | null
  /** Where the client runs. Default: this machine. */
  readonly start?: Parameters<typeof startChild>[2]
}

const SCAN_PATHS = { getPath: '/livez', postPath: '/v0/ans-entries/batch' }
const VALIDATOR_PATHS = {
  getPath: '/livez',
  postPath: '/v0/scan-proxy/ans-entries/batch',
  socketPath: '/v0/scan-proxy/activities',
}
const SYNCHRONIZER_PATHS = { getPath: '/livez', postPath: '/v0/submit' }
const RUN_PATHS = { getPath: '/metrics', postPath: '/metrics' }

export const halfFinished: Attack = {
  name: 'half-finished-processes',
  needsOwnCluster: true,
  claim:
    'A client begins 1 000 exchanges of each kind at every process, with TLS and without, and finishes none. Within ' +
    '120 s a process has closed all of them, its heap is within 5 MB of what it was, others are served meanwhile, and ' +
    'SIGTERM ends it in its time while some are open.',
  async run({ cluster }) {
    const figures: Record<string, string> = {}
    const plain = await attackCluster(cluster, figures)
    const secure = await attackOperators(figures)
    return { holds: plain && secure, figures }
  },
}

type Figures = Record<string, string>

async function attackCluster(cluster: RunningCluster, figures: Figures): Promise<boolean> {
  using mirror = await startMirror(Object.values(cluster.urls.nodes))
  const controlUrl = controlOf(cluster).url
  const control = new URL(controlUrl)
  const of = (name: string, url: string, paths: Omit<HalfFinishedTarget, 'port'>): Attacked => ({
    name,
    pid: () => pidOf(cluster.dataDir, name),
    target: { ...paths, port: Number(new URL(url).port) },
    termMsMax: TERM_MS_MAX,
    caFile: null,
  })
  const attacked: readonly Attacked[] = [
    of('sv-1', cluster.urls.nodes['sv-1'] ?? '', SCAN_PATHS),
    of('validator', cluster.urls.validator, VALIDATOR_PATHS),
    of('synchronizer', cluster.urls.synchronizer, SYNCHRONIZER_PATHS),
    {
      ...of('mirror', mirror.url, { getPath: '/v0/genesis', postPath: '/v0/ans-entries/batch' }),
      pid: () => mirror.pid,
    },
    {
      ...of('control plane', controlUrl, {
        getPath: '/',
        postPath: '/trpc/cluster.stop',
        socketPath: '/trpc',
        host: control.host,
      }),
      pid: () => controlOf(cluster).pid,
      termMsMax: TERM_ALL_MS_MAX,
    },
  ]
  return await attack(attacked, { figures, count: COUNT })
}

async function attackOperators(figures: Figures): Promise<boolean> {
  await using network = await createNetwork({ ordering: 'redis', svCount: 1 })
  for (const operator of network.all) run(operator)
  for (const operator of network.all) await untilReady(operator)
  const of = (operator: Operator, paths: Omit<HalfFinishedTarget, 'port'>): readonly Attacked[] => {
    const { machine, name, running } = operator
    const start = (command: string, ...args: readonly string[]) =>
      machine.start({ stdio: ['pipe', 'pipe', 'inherit'] }, command, ...args)
    const address = machine.ownAddress
    return [
      {
        name: `${name}, TLS`,
        pid: () => pidOf(join(machine.directory, 'var'), name),
        target: { ...paths, address: machine.address, port: 4611 },
        termMsMax: TERM_MS_MAX,
        caFile: join(machine.directory, 'etc/tls/ca.pem'),
        start,
      },
      {
        name: `run of ${name}`,
        pid: () => running?.pid ?? 0,
        target: { ...RUN_PATHS, address, port: 9464 },
        termMsMax: TERM_ALL_MS_MAX,
        caFile: null,
        start,
      },
    ]
  }
  const [sv] = network.svs
  if (sv === undefined || network.synchronizer === null) throw new Error('no such operator')
  const attacked = [
    ...of(sv, SCAN_PATHS),
    ...of(network.synchronizer, SYNCHRONIZER_PATHS),
    ...of(network.validator, VALIDATOR_PATHS),
  ]
  return await attack(attacked, { figures, count: TLS_COUNT })
}

/** All processes at once; in the last step one after the other, in their order. */
async function attack(
  attacked: readonly Attacked[],
  { figures, count }: { readonly figures: Figures; readonly count: number },
): Promise<boolean> {
  let holds = true
  const clients = attacked.map(({ target, caFile, start }) =>
    startChild('attacks/half-finished-child', { target, caFile, step: { begin: 1 } }, start),
  )
  const step = (client: Child, next: HalfFinishedStep) =>
    client.again<HalfFinishedResult>({ step: next })
  const stepAll = (next: HalfFinishedStep) => Promise.all(clients.map((one) => step(one, next)))
  try {
    await Promise.all(clients.map((client) => client.result()))
    const heapBefore: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const begun = await stepAll({ begin: count })
      const ended = await stepAll({ untilEndedMsMax: END_MS_MAX })
      for (const [index, { name, pid }] of attacked.entries()) {
        const client = clients[index] as Child
        // One after the other: processes on one machine have one port for their inspectors.
        const { heapBytes = 0 } = await step(client, { collectIn: pid() })
        const { held, ms = 0 } = ended[index] ?? {}
        const grownBytes = heapBytes - (heapBefore[index] ?? heapBytes)
        const status = begun[index]?.status
        heapBefore[index] = heapBytes
        figures[`${name}, round ${round}`] =
          `${begun[index]?.held} held, ${held} after ${Math.round(ms / 1000)} s, ` +
          `others: ${status}, heap + ${Math.round(grownBytes / 1000)} kB`
        holds &&= held === 0 && status === 200 && grownBytes <= HEAP_BYTES_MAX
      }
    }
    for (const [index, { name, pid, termMsMax }] of attacked.entries()) {
      const client = clients[index] as Child
      const { held } = await step(client, { begin: AT_TERM })
      const ms = await msUntilEnd(pid(), termMsMax)
      figures[`${name}, SIGTERM with ${held} open`] =
        ms === null ? `runs after ${termMsMax} ms` : `ended after ${Math.round(ms)} ms`
      holds &&= ms !== null
    }
    return holds
  } finally {
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()))
  }
}

/** How long the process takes to end after SIGTERM; null: longer than `msMax`. */
async function msUntilEnd(pid: number, msMax: number): Promise<number | null> {
  const startedMs = clock.monotonicMs()
  process.kill(pid, 'SIGTERM')
  for (;;) {
    const ms = clock.monotonicMs() - startedMs
    if (hasEnded(pid)) return ms
    if (ms > msMax) return null
    await clock.delay(POLL_MS)
  }
}

/** Also if its parent has not noticed. */
function hasEnded(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return !existsSync(file) || /\) Z/.test(readFileSync(file, 'utf8'))
}

function controlOf({ dataDir }: RunningCluster): { readonly url: string; readonly pid: number } {
  const { content } = JSON.parse(readFileSync(join(dataDir, 'control.json'), 'utf8'))
  return { url: content.url, pid: content.process.pid }
}

/** The process with this name, of those that the supervisor of a directory records. */
function pidOf(directory: string, name: string): number {
  const { content } = JSON.parse(readFileSync(join(directory, 'processes.json'), 'utf8'))
  const recorded: readonly { readonly id: string; readonly pid: number }[] = content
  const pid = recorded.find(({ id }) => id === name)?.pid
  if (pid === undefined) throw new Error(`${directory} has no process ${name}`)
  return pid
}
