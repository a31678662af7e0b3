/**
 * One chaos run: clients write, and readers read, while the schedule breaks things; then everything is healed,
 * everything is read once more, and every replica says what it holds. Ends with a history and the log, and judges
 * nothing.
 */
import { anySignal, type Clock, waitFor } from '@quorumscan/base'
import { CommandError, messageOf, repeat } from '@quorumscan/runtime'
import type { ServiceStatus } from '@quorumscan/supervisor'
import type { Genesis } from '@quorumscan/verifier'
import { describeFault } from '../faults/fault-spec.ts'
import { type ChaosClient, createChaosClient, type Shared } from './client.ts'
import { FINAL_READER, type HistoryEvent, type LogLine } from './history.ts'
import { createReaders, type Readers } from './readers.ts'
import type { ChaosFault, Scenario, Step } from './schedule.ts'
import { seededRandom } from './seeded-random.ts'
import type { ChaosTarget } from './target.ts'

/** Each waits for seconds where ordering takes these: with so many, payments are given back by the dozen all the same. */
const CLIENTS = 8
/** A replica that was wiped is rebuilt in seconds; this is a machine under load. */
const RECOVERY_TIMEOUT_MS = 30_000
const HEAL_TIMEOUT_MS = 60_000
const POLL_MS = 100
const FINAL_TRIES = 20
/** How many of the latest events are shown while it runs. */
const EVENTS_MAX = 1_000_000

export type RunResult = {
  readonly history: readonly HistoryEvent[]
  readonly log: readonly LogLine[]
}

export type RunOptions = {
  readonly target: ChaosTarget
  readonly genesis: Genesis
  readonly scenario: Scenario
  /** Tells users and names of different runs apart: letters, digits and dashes. */
  readonly runId: string
  readonly clock: Clock
  /** Ends the chaos early; healing and final reads follow all the same. */
  readonly signal: AbortSignal
  readonly onProgress: (sentence: string) => void
}

export async function runChaos(options: RunOptions): Promise<RunResult> {
  const { target, scenario, clock, onProgress } = options
  const startedMs = clock.monotonicMs()
  const nowMs = () => Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000
  const history: HistoryEvent[] = []
  const record = (event: HistoryEvent) => {
    if (history.length < EVENTS_MAX) history.push(event)
  }
  const trouble = (sentence: string) => record({ kind: 'trouble', atMs: nowMs(), sentence })
  const { seed, nodes, budget, durationMs, allowsUnexercised } = scenario
  record({ kind: 'run', seed, nodes, budget, durationMs, allowsUnexercised })
  const phase = (phase: 'chaos' | 'healing' | 'final' | 'end') =>
    record({ kind: 'phase', atMs: nowMs(), phase })

  const shared: Shared = {
    validatorUrl: target.validatorUrl,
    clock,
    nowMs,
    record,
    names: [],
    parties: [],
    prefix: `chaos-${options.runId}`,
  }
  let log: readonly LogLine[] = []
  try {
    onProgress('clients register')
    const clients = await createClients(options, shared)
    await using readers = await createReaders({
      shared,
      genesis: options.genesis,
      nodes: target.status().nodes,
      seed,
    })
    const reading = new AbortController()
    const read = readers.run(reading.signal)
    try {
      onProgress(`chaos for ${durationMs / 1000} s, seed ${seed}`)
      phase('chaos')
      await breakThings(options, { clients, nowMs, record, trouble })
      phase('healing')
      onProgress('healing')
      await healAll(options)
    } finally {
      reading.abort()
      await read
    }
    phase('final')
    onProgress('final reads')
    await finalReads(options, { clients, readers, shared })
    const offset = newestOffset(target)
    onProgress(`comparing replicas from offset ${offset} on`)
    const signed = await target.signedStates(offset - 1)
    for (const { node, state } of signed.states)
      record({ kind: 'signed-state', node, offset: signed.offset, state })
    for (const { node, pairs } of await target.evidence()) record({ kind: 'evidence', node, pairs })
    log = await target.readLog(signed.offset ?? offset)
    phase('end')
  } catch (error) {
    trouble(messageOf(error))
    await target.heal({}).catch(() => {}) // Already in trouble.
    // Whole, or not at all: by a part of it answers would be wrong that are not.
    const readWhole = async () => target.readLog(newestOffset(target))
    log = await readWhole().catch(() => [])
  }
  return { history, log }
}

function createClients(options: RunOptions, shared: Shared): Promise<ChaosClient[]> {
  const create = async (client: number) =>
    createChaosClient({
      shared,
      client: `client-${client}`,
      token: await options.target.token(`chaos-${options.runId}-${client}`),
      random: seededRandom(options.scenario.seed, `client ${client}`),
    })
  return Promise.all(Array.from({ length: CLIENTS }, (_, index) => create(index + 1)))
}

type Running = {
  readonly nowMs: () => number
  readonly record: (event: HistoryEvent) => void
  readonly trouble: (sentence: string) => void
}

/** Until its time is over, or the signal aborts, which it may have done before. */
export async function breakThings(
  options: Pick<RunOptions, 'target' | 'scenario' | 'clock' | 'onProgress' | 'signal'>,
  running: Running & { readonly clients: readonly ChaosClient[] },
): Promise<void> {
  const { scenario, clock } = options
  const over = new AbortController()
  const signal = anySignal([options.signal, over.signal])
  const acting = running.clients.map((client) => client.run(signal))
  const breaking = runSchedule(options, { ...running, signal })
  await clock.delay(scenario.durationMs, signal).catch(() => {}) // Stopped early.
  over.abort()
  await Promise.all([...acting, breaking])
}

/** Does the steps of a scenario, each lane for itself, until the signal aborts. */
export async function runSchedule(
  options: Pick<RunOptions, 'target' | 'scenario' | 'clock' | 'onProgress'>,
  running: Running & { readonly signal: AbortSignal },
): Promise<void> {
  const { steps } = options.scenario
  const { clock } = options
  const { nowMs, signal } = running
  const beganMs = nowMs()
  const runLane = async (lane: number): Promise<void> => {
    for (const step of steps.filter((one) => one.lane === lane)) {
      const waitMs = beganMs + step.atMs - nowMs()
      if (waitMs > 0) await clock.delay(waitMs, signal).catch(() => {}) // Looked at below.
      if (signal.aborted) return
      await runStep(step, options, running)
    }
  }
  await Promise.all([...new Set(steps.map(({ lane }) => lane))].map(runLane))
}

async function runStep(
  { atMs, durationMs, fault }: Step,
  options: Pick<RunOptions, 'target' | 'clock' | 'onProgress'>,
  { nowMs, record, trouble, signal }: Running & { readonly signal: AbortSignal },
): Promise<void> {
  const { target, clock, onProgress } = options
  const startMs = nowMs()
  const watch = watchNode(options, { node: fault.node, nowMs })
  let healedMs = startMs
  let refused: string | null = null
  onProgress(`${fault.node}: ${describeChaosFault(fault)}`)
  try {
    refused = await carryOut(fault, target, async () => {
      await clock.delay(durationMs, signal).catch(() => {}) // Healed early.
      healedMs = nowMs()
    })
    await untilWhole(options, [fault.node], RECOVERY_TIMEOUT_MS)
  } catch (error) {
    trouble(`${fault.node} did not recover from ${fault.kind}: ${messageOf(error)}`)
  }
  const { seenMs, upMs } = await watch.stop(healedMs)
  const times = { plannedMs: atMs, startMs, seenMs, healedMs, upMs, endMs: nowMs() }
  record({ kind: 'fault', ...times, refused, fault })
}

/** Breaks, waits and heals; or says why it cannot be done here. */
async function carryOut(
  fault: ChaosFault,
  target: ChaosTarget,
  untilHealed: () => Promise<void>,
): Promise<string | null> {
  if (fault.kind === 'wipe') {
    await target.wipe(fault)
    return null
  }
  let id: string
  try {
    id = (await target.inject(fault, null)).id
  } catch (error) {
    if (error instanceof CommandError) return error.message
    throw error
  }
  await untilHealed()
  await target.heal({ id })
  return null
}

export function describeChaosFault(fault: ChaosFault): string {
  if (fault.kind !== 'wipe') return describeFault(fault)
  return fault.disk ? 'disk deleted' : 'replica deleted'
}

/** When the control plane saw a node go, and come back. */
function watchNode(
  options: Pick<RunOptions, 'target' | 'clock'>,
  { node, nowMs }: { readonly node: string; readonly nowMs: () => number },
) {
  const seen: { readonly atMs: number; readonly isUp: boolean }[] = []
  const lackingBefore = lackingOf(servicesOf(options.target, node))
  let seenMs: number | null = null
  const look = () => {
    const services = servicesOf(options.target, node)
    const isUp = services.every(({ state }) => state === 'up')
    const lacking = lackingOf(services)
    if (seen.at(-1)?.isUp !== isUp) seen.push({ atMs: nowMs(), isUp })
    if (!isUp || (lacking !== '' && lacking !== lackingBefore)) seenMs ??= nowMs()
  }
  const watching = repeat(look, { clock: options.clock, everyMs: POLL_MS, onError: () => {} })
  return {
    async stop(healedMs: number) {
      await watching[Symbol.asyncDispose]()
      look()
      const last = seen.at(-1)
      const upMs = last?.isUp === true ? Math.max(healedMs, last.atMs) : null
      return { seenMs, upMs }
    },
  }
}

/** What runs under a name: of a node that orders as well, its synchronizer, too. */
function servicesOf(target: ChaosTarget, name: string): readonly ServiceStatus[] {
  const { nodes, members, validator, synchronizer } = target.status()
  if (name === 'validator') return [validator]
  if (name === 'synchronizer') return [synchronizer]
  return [...nodes, ...members].filter((service) => service.name === name)
}

/** What services say of themselves that do their work all the same, such as that a disk is full. */
function lackingOf(services: readonly ServiceStatus[]): string {
  return services.map(({ detail }) => detail ?? '').join('')
}

/** Up, and as far as some node is now: the log goes on meanwhile, by whole blocks of entries. */
async function untilWhole(
  { target, clock }: Pick<RunOptions, 'target' | 'clock'>,
  names: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const reached = newestOffset(target)
  const isWhole = (name: string) => {
    const node = target.status().nodes.find((one) => one.name === name)
    const isLevel = node === undefined || (node.offset ?? 0) >= reached
    return isLevel && servicesOf(target, name).every(({ state }) => state === 'up')
  }
  const what = `${names.length === 1 ? names[0] : 'everything'} to be up again`
  const options = { clock, timeoutMs, intervalMs: POLL_MS, what }
  await waitFor(() => (names.every(isWhole) ? true : undefined), options)
}

function newestOffset(target: ChaosTarget): number {
  return Math.max(...target.status().nodes.map((node) => node.offset ?? 0))
}

async function healAll(options: RunOptions): Promise<void> {
  const { target } = options
  await target.heal({})
  const names = target.status().nodes.map(({ name }) => name)
  await untilWhole(options, [...names, 'validator', 'synchronizer'], HEAL_TIMEOUT_MS)
}

/** Everything that was asked for, again, strongly; a refusal is asked again. */
async function finalReads(
  options: RunOptions,
  {
    clients,
    readers,
    shared,
  }: { clients: readonly ChaosClient[]; readers: Readers; shared: Shared },
): Promise<void> {
  const subjects = [
    ...shared.names.map((name) => ({ name })),
    ...shared.parties.map((party) => ({ party })),
  ]
  for (const subject of subjects)
    for (let attempt = 0; attempt < FINAL_TRIES; attempt++) {
      if (await readers.read(subject, 'strong', FINAL_READER)) break
      await options.clock.delay(POLL_MS)
    }
  for (const client of clients) await client.stream()
}
