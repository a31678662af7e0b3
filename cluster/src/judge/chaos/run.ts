/**
 * One chaos run: clients write and readers read while the schedule injects faults. Then all faults are healed, all names are
 * read again, and every node signs its state. The result is a history and the log. It has no verdict.
 */
import { type Clock, linkedController, waitFor } from '@quorumscan/base'
import { CommandError, messageOf, repeat } from '@quorumscan/runtime'
import type { ServiceStatus } from '@quorumscan/supervisor'
import type { Genesis } from '@quorumscan/verifier'
import { servicesOf } from '../../rig/status.ts'
import { type ChaosClient, createChaosClient, type Shared } from './client.ts'
import { type EventOf, FINAL_READER, type HistoryEvent, type LogLine } from './history.ts'
import { createReaders, type Readers } from './readers.ts'
import { describeChaosFault, type Scenario, type Step } from './schedule.ts'
import { seededRandom } from './seeded-random.ts'
import type { ChaosTarget } from './target.ts'

/** Enough for dozens of refunds, even where ordering takes seconds and each client waits for it. */
const CLIENTS = 8
/** A wiped replica is rebuilt in seconds. This allows for a machine under load. */
const RECOVERY_TIMEOUT_MS = 30_000
const HEAL_TIMEOUT_MS = 60_000
const POLL_MS = 100
const FINAL_TRIES = 20
/** The longest history. */
const EVENTS_MAX = 1_000_000

export type RunResult = {
  readonly history: readonly HistoryEvent[]
  readonly log: readonly LogLine[]
}

export type RunOptions = {
  readonly target: ChaosTarget
  readonly genesis: Genesis
  readonly scenario: Scenario
  /** Part of the names of users and entries, which differ between runs: letters, digits and dashes. */
  readonly runId: string
  readonly clock: Clock
  /** Ends the faults early. Healing and final reads follow all the same. */
  readonly signal: AbortSignal
  readonly onProgress: (sentence: string) => void
}

/** The parts of a run share this. */
type Run = Omit<RunOptions, 'genesis' | 'runId'> &
  Pick<Shared, 'nowMs' | 'record'> & { readonly problem: (sentence: string) => void }

/** Never throws: problems are events of the history, which make the run inconclusive. */
export async function runChaos(options: RunOptions): Promise<RunResult> {
  const { target, genesis, scenario, clock, onProgress } = options
  const startedMs = clock.monotonicMs()
  const nowMs = () => Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000
  const history: HistoryEvent[] = []
  const record = (event: HistoryEvent) => {
    if (history.length < EVENTS_MAX) history.push(event)
  }
  const problem = (sentence: string) => record({ kind: 'trouble', atMs: nowMs(), sentence })
  const run: Run = { ...options, nowMs, record, problem }
  const { seed, nodes, budget, durationMs, allowsUnexercised } = scenario
  record({ kind: 'run', seed, nodes, budget, durationMs, allowsUnexercised })
  const phase = (phase: EventOf<'phase'>['phase']) =>
    record({ kind: 'phase', atMs: nowMs(), phase })

  const { validatorUrl } = target
  const prefix = `chaos-${options.runId}`
  const shared: Shared = { validatorUrl, clock, nowMs, record, names: [], parties: [], prefix }
  let log: readonly LogLine[] = []
  try {
    onProgress('clients register')
    const create = async (_: unknown, index: number) => {
      const client = `client-${index + 1}`
      const token = await target.token(`${prefix}-${index + 1}`)
      const random = seededRandom(seed, `client ${index + 1}`)
      return await createChaosClient({ shared, client, token, random })
    }
    const clients = await Promise.all(Array.from({ length: CLIENTS }, create))
    const urls = target.status().nodes
    await using readers = await createReaders({ shared, genesis, nodes: urls, seed })
    const reading = new AbortController()
    const read = readers.run(reading.signal)
    try {
      onProgress(`faults for ${durationMs / 1000} s, seed ${seed}`)
      phase('chaos')
      await injectFaults(run, clients)
      phase('healing')
      onProgress('healing')
      await target.heal({})
      const names = urls.map(({ name }) => name)
      await untilRecovered(run, [...names, 'validator', 'synchronizer'], HEAL_TIMEOUT_MS)
    } finally {
      reading.abort()
      await read
    }
    phase('final')
    onProgress('final reads')
    await finalReads(readers, shared)
    for (const client of clients) await client.stream()
    const offset = newestOffset(target)
    onProgress(`comparing replicas from offset ${offset} on`)
    const signed = await target.signedStates(offset - 1)
    for (const { node, state } of signed.states)
      record({ kind: 'signed-state', node, offset: signed.offset, state })
    for (const { node, pairs } of await target.evidence()) record({ kind: 'evidence', node, pairs })
    log = await target.readLog(signed.offset ?? offset)
    phase('end')
  } catch (error) {
    problem(messageOf(error))
    await target.heal({}).catch(() => {}) // The run already has a problem.
    // The whole log or none: compared with a part of it, true answers would be wrong.
    const readWhole = async () => target.readLog(newestOffset(target))
    log = await readWhole().catch(() => [])
  }
  return { history, log }
}

/** Clients act and faults are injected until the duration is over, or the signal aborts, even before the start. */
export async function injectFaults(run: Run, clients: readonly ChaosClient[]): Promise<void> {
  const over = linkedController(run.signal)
  const { signal } = over
  const acting = clients.map((client) => client.run(signal))
  const injecting = runSchedule({ ...run, signal })
  await run.clock.delay(run.scenario.durationMs, signal).catch(() => {}) // Stopped early.
  over.abort()
  await Promise.all([...acting, injecting])
}

/** Carries out the steps of a scenario, each lane for itself, until the signal aborts. */
export async function runSchedule(run: Run): Promise<void> {
  const { steps } = run.scenario
  const beganMs = run.nowMs()
  const runLane = async (lane: number): Promise<void> => {
    for (const step of steps.filter((one) => one.lane === lane)) {
      const waitMs = beganMs + step.atMs - run.nowMs()
      if (waitMs > 0) await run.clock.delay(waitMs, run.signal).catch(() => {}) // Aborted: see below.
      if (run.signal.aborted) return
      await runStep(step, run)
    }
  }
  await Promise.all([...new Set(steps.map(({ lane }) => lane))].map(runLane))
}

async function runStep({ atMs, durationMs, fault }: Step, run: Run): Promise<void> {
  const { target, clock, nowMs } = run
  const startMs = nowMs()
  const watch = watchNode(run, fault.node)
  let healedMs = startMs
  let refused: string | null = null
  const refuse = (error: unknown) => {
    if (!(error instanceof CommandError)) throw error
    refused = error.message
    return null
  }
  run.onProgress(`${fault.node}: ${describeChaosFault(fault)}`)
  try {
    const begun =
      fault.kind === 'wipe'
        ? await target.wipe(fault)
        : await target.inject(fault, null).catch(refuse)
    if (begun !== null) {
      await clock.delay(durationMs, run.signal).catch(() => {}) // Healed early.
      healedMs = nowMs()
      await target.heal({ id: begun.id })
    }
    await untilRecovered(run, [fault.node], RECOVERY_TIMEOUT_MS)
  } catch (error) {
    run.problem(`${fault.node} did not recover from ${fault.kind}: ${messageOf(error)}`)
  }
  const { seenMs, upMs } = await watch.stop(healedMs)
  const times = { plannedMs: atMs, startMs, seenMs, healedMs, upMs, endMs: nowMs() }
  run.record({ kind: 'fault', ...times, refused, fault })
}

/** Records when the control plane saw that a node was down or had a warning, and when it was up again. */
function watchNode({ target, clock, nowMs }: Run, node: string) {
  const warningsBefore = warningsOf(partsOf(target, node))
  let upSinceMs: number | null = null
  let seenMs: number | null = null
  const observe = () => {
    const services = partsOf(target, node)
    const isUp = services.every(({ state }) => state === 'up')
    const warnings = warningsOf(services)
    upSinceMs = isUp ? (upSinceMs ?? nowMs()) : null
    if (!isUp || (warnings !== '' && warnings !== warningsBefore)) seenMs ??= nowMs()
  }
  const observing = repeat(observe, { clock, everyMs: POLL_MS, onError: () => {} })
  return {
    async stop(healedMs: number) {
      await observing[Symbol.asyncDispose]()
      observe()
      return { seenMs, upMs: upSinceMs === null ? null : Math.max(healedMs, upSinceMs) }
    },
  }
}

/** The services of a name: of a member its synchronizer, too. */
function partsOf(target: ChaosTarget, name: string) {
  const names = [name, `${name}.synchronizer`]
  return servicesOf(target.status()).filter((service) => names.includes(service.name))
}

/** The warnings of services that work, such as a full disk. */
function warningsOf(services: readonly ServiceStatus[]): string {
  return services.map(({ detail }) => detail ?? '').join('')
}

/** Waits until these services are up and have reached the newest offset that any node has now. */
async function untilRecovered({ target, clock }: Run, names: readonly string[], timeoutMs: number) {
  const reached = newestOffset(target)
  const hasRecovered = (name: string) => {
    const node = target.status().nodes.find((one) => one.name === name)
    const hasCaughtUp = node === undefined || (node.offset ?? 0) >= reached
    return hasCaughtUp && partsOf(target, name).every(({ state }) => state === 'up')
  }
  const what = `${names.length === 1 ? names[0] : 'all services'} to be up again`
  const options = { clock, timeoutMs, intervalMs: POLL_MS, what }
  await waitFor(() => (names.every(hasRecovered) ? true : undefined), options)
}

function newestOffset(target: ChaosTarget): number {
  return Math.max(...target.status().nodes.map((node) => node.offset ?? 0))
}

/** Reads all names and parties again, with a strong threshold. A read that is refused is repeated. */
async function finalReads(readers: Readers, { clock, names, parties }: Shared): Promise<void> {
  const subjects = [...names.map((name) => ({ name })), ...parties.map((party) => ({ party }))]
  for (const subject of subjects)
    for (let attempt = 0; attempt < FINAL_TRIES; attempt++) {
      if (await readers.read(subject, 'strong', FINAL_READER)) break
      await clock.delay(POLL_MS)
    }
}
