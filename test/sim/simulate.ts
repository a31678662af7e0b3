/**
 * One seeded run: a cluster, a growing log, faults, and clients that read. The run records their outcomes for the
 * checkers.
 */
import type { Outcome, ReadOptions } from '@quorumscan/reader'
import { createReader, type Reader } from '@quorumscan/reader/voted'
import { type SimLedger, simCrypto, simEntry } from '@quorumscan/testkit'
import { type Lookup, maxFaulty, memberSetOf, thresholdVotes } from '@quorumscan/verifier'
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { LIES } from './lies.ts'
import { type Condition, createSimCluster, type SimCluster } from './sim-cluster.ts'
import { createStalls, type Stalls } from './stalls.ts'

/**
 * `budget`: at most f nodes lie. `beyond-f`: up to 2f nodes collude. `split-log`: at most f lie, and the nodes receive
 * two different logs.
 */
export type SimMode = 'at-most-f' | 'beyond-f' | 'split-log'
export const MODES: readonly SimMode[] = ['at-most-f', 'beyond-f', 'split-log']

export type SimOptions = {
  readonly seed: number
  readonly mode: SimMode
  readonly readCount: number
  /** Drawn from the seed unless given. */
  readonly nodeCount?: number
  /** Makes the reader: one with a mistake, to test the checkers. Default: the real one. */
  readonly createReader?: typeof createReader
  /** The lies that may occur. Default: all. */
  readonly lies?: readonly string[]
  readonly faults?: readonly FaultKind[]
}

export type FaultKind = Exclude<Condition['kind'], 'up' | 'lying'>
const FAULTS: readonly FaultKind[] = [
  'down',
  'hung',
  'slow',
  'sluggish',
  'erratic',
  'notFound',
  'failing',
  'lagging',
  'wiped',
  'stuck',
]

export type ReadRecord = {
  readonly client: number
  readonly lookup: Lookup
  readonly options: ReadOptions
  /** Number of votes of the correct threshold. */
  readonly votesNeeded: number
  readonly startMs: number
  readonly endMs: number
  /** The reader's clock at the end, µs. */
  readonly endMicros: number
  /** Number of nodes that were honest and up from STEADY_MS before the read to its end. */
  readonly steadyCount: number
  /** Number of nodes that answered during that time, even if slowly. */
  readonly answeringCount: number
  /** The reader's deadline, and the time during which its own process stalled, ms. */
  readonly waitMs: number
  readonly stalledMs: number
  readonly outcome: Outcome
}

export type SimRun = {
  readonly options: SimOptions
  readonly nodeCount: number
  readonly liars: readonly string[]
  readonly logs: readonly SimLedger[]
  readonly nodeNames: readonly string[]
  readonly reads: readonly ReadRecord[]
}

const START_MICROS = 1_700_000_000_000_000
const NAMES = Array.from({ length: 12 }, (_, index) => `n${index}.unverified.ns`)
const PARTIES = ['alice', 'bob', 'carol'].map((hint) => `${hint}::1220${'a'.repeat(64)}`)
const CLIENTS = 3
const APPEND_MS_MAX = 400
const LIFETIME_MS_MAX = 15_000
const FAULT_MS_MAX = 2500
/** Lies that could be accepted as true. */
const PLAUSIBLE_LIES = [
  'invent',
  'deny',
  'invert',
  'steal',
  'selective',
  'silentAboutSome',
  'patient',
  'equivocate',
  'oldAnswer',
  'newerTime',
  'otherHistory',
  'earlyHead',
  'highHead',
]
const READS_TOGETHER_MAX = 4
/** The deadline of an SDK. The other clients have the deadline of a proxy. */
const PATIENT_MS = 10_000
const WAIT_MS = 2000
const STALL_MS_MAX = 4000

export async function simulate(options: SimOptions): Promise<SimRun> {
  const random = createSeededRandom(options.seed)
  const nodeCount = options.nodeCount ?? random.integer(4, 13)
  const liars = chooseLiars(random, nodeCount, options.mode)
  const cluster = createSimCluster({
    random: random.split(),
    nodeCount,
    liars,
    startMicros: START_MICROS,
    otherLogFor: options.mode === 'split-log' ? chooseSplit(random, nodeCount, liars) : [],
  })
  const { clock } = cluster
  const state = { isOver: false }
  for (let count = 0; count < 5; count++) appendRandomEntry(cluster, random)
  for (const index of liars) cluster.change(index, lying(random, options))
  scheduleAppends(cluster, random.split(), state)
  scheduleFaults(cluster, random.split(), { ...options, state })
  await clock.advance(100)
  const reads: ReadRecord[] = []
  const perClient = Math.ceil(options.readCount / CLIENTS)
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    runClient({ cluster, random: random.split(), client, perClient, reads, options }),
  )
  await clock.run(Promise.all(clients))
  state.isOver = true
  return {
    options,
    nodeCount,
    liars: liars.map((index) => `sv-${index + 1}`),
    logs: cluster.logs(),
    nodeNames: cluster.genesis.nodes.map(({ name }) => name),
    reads,
  }
}

function chooseLiars(random: SeededRandom, nodeCount: number, mode: SimMode): number[] {
  const faultyMax = maxFaulty(nodeCount)
  const count =
    mode === 'beyond-f'
      ? random.integer(faultyMax + 1, 2 * faultyMax)
      : random.integer(0, faultyMax)
  return shuffled(random, nodeCount).slice(0, count)
}

/** About half of the honest nodes. */
function chooseSplit(random: SeededRandom, nodeCount: number, liars: readonly number[]): number[] {
  const honest = shuffled(random, nodeCount).filter((index) => !liars.includes(index))
  return honest.slice(0, Math.floor(honest.length / 2))
}

function shuffled(random: SeededRandom, count: number): number[] {
  return Array.from({ length: count }, (_, index) => ({ index, key: random.fraction() }))
    .sort((a, b) => a.key - b.key)
    .map(({ index }) => index)
}

function lying(random: SeededRandom, options: SimOptions): Condition {
  const some = random.chance(0.5) ? PLAUSIBLE_LIES : Object.keys(LIES)
  const names = options.lies ?? some
  // More than f colluding liars agree on the same inversion of the truth.
  if (options.mode === 'beyond-f' && random.chance(0.7))
    return { kind: 'lying', lies: ['invert'], isFirst: random.chance(0.3) }
  const count = random.integer(1, 3)
  const lies = Array.from({ length: count }, () => random.pick(names))
  return { kind: 'lying', lies, isFirst: random.chance(0.3) }
}

function appendRandomEntry(cluster: SimCluster, random: SeededRandom): void {
  const name = random.pick(NAMES)
  const lifetimeMicros = random.integer(500, LIFETIME_MS_MAX) * 1000
  const now = cluster.clock.nowMicros()
  const present = cluster.ledger.find({ name }, cluster.ledger.head())
  const contractId = `00${random.integer(0, 0xffffff).toString(16).padStart(6, '0')}`
  const user = random.pick(PARTIES)
  if (present === null)
    cluster.append({
      put: [simEntry(name, { user, contractId, expiresAt: now + lifetimeMicros })],
    })
  else if (random.chance(0.3))
    cluster.append({
      put: [{ ...present, contractId, expiresAt: present.expiresAt + lifetimeMicros }],
    })
  else cluster.append(random.chance(0.15) ? { remove: [name] } : {})
}

function scheduleAppends(
  cluster: SimCluster,
  random: SeededRandom,
  state: { readonly isOver: boolean },
): void {
  if (state.isOver) return
  appendRandomEntry(cluster, random)
  // Sometimes the log stalls for longer than some readers accept.
  const pauseMs = random.chance(0.02)
    ? random.integer(3000, 9000)
    : random.integer(10, APPEND_MS_MAX)
  cluster.clock.schedule(pauseMs, () => scheduleAppends(cluster, random, state))
}

function scheduleFaults(
  cluster: SimCluster,
  random: SeededRandom,
  options: SimOptions & { readonly state: { readonly isOver: boolean } },
): void {
  if (options.state.isOver) return
  const member = random.pick(cluster.members)
  if (member.isLiar) cluster.change(member.index, lying(random, options))
  else if (random.chance(0.1)) cluster.move(member.index)
  else if (random.chance(0.07)) breakMany(cluster, random, options)
  else cluster.change(member.index, drawCondition(random, options))
  const pauseMs = random.integer(100, FAULT_MS_MAX)
  cluster.clock.schedule(pauseMs, () => scheduleFaults(cluster, random, options))
}

/** Makes most nodes fail at once, so that the reader must refuse. */
function breakMany(cluster: SimCluster, random: SeededRandom, options: SimOptions): void {
  const condition = drawFault(random, options)
  for (const member of cluster.members) {
    if (member.isLiar || random.chance(0.15)) continue
    cluster.change(member.index, condition)
    cluster.clock.schedule(random.integer(3000, 9000), () => {
      if (member.condition === condition) cluster.change(member.index, { kind: 'up' })
    })
  }
}

function drawCondition(random: SeededRandom, options: SimOptions): Condition {
  // Mostly up again, so that availability is tested.
  return random.chance(0.6) ? { kind: 'up' } : drawFault(random, options)
}

function drawFault(random: SeededRandom, options: SimOptions): Condition {
  const kind = random.pick(options.faults ?? FAULTS)
  if (kind === 'lagging' || kind === 'wiped') return { kind, lagMs: random.integer(100, 12_000) }
  return { kind }
}

async function runClient(input: {
  readonly cluster: SimCluster
  readonly random: SeededRandom
  readonly client: number
  readonly perClient: number
  readonly reads: ReadRecord[]
  readonly options: SimOptions
}): Promise<void> {
  const { cluster, random, client } = input
  const { clock } = cluster
  let stored = 0
  const waitMs = client === 0 ? PATIENT_MS : WAIT_MS
  const stalls = createStalls()
  // Of its own, so that the world does not depend on the order in which a reader asks.
  const order = createSeededRandom(input.options.seed + client)
  const start = (): Reader => {
    const options = stalls.through({
      waitMs,
      genesis: cluster.genesis,
      genesisHash: cluster.genesisHash,
      seeds: cluster.urls,
      transport: cluster.transportFor(client),
      clock,
      crypto: simCrypto,
      random: () => order.fraction(),
      allowPrivateAddresses: true,
      floorStore: {
        load: async () => stored,
        save: (offset: number) => {
          stored = offset
        },
      },
      // The cluster's current addresses, because seeds also move.
      addressStore: { load: async () => cluster.members[0]?.node.records ?? [], save: () => {} },
    })
    return (input.options.createReader ?? createReader)(options)
  }
  let reader = start()
  for (let done = 0; done < input.perClient; ) {
    const together = Math.min(random.integer(1, READS_TOGETHER_MAX), input.perClient - done)
    const reading = Array.from({ length: together }, () =>
      readOnce({ ...input, reader, random, waitMs, stalls }),
    )
    if (random.chance(0.02)) stalls.begin(clock, random.integer(300, STALL_MS_MAX))
    await Promise.all(reading)
    done += together
    await clock.delay(random.chance(0.1) ? random.integer(500, 3000) : random.integer(0, 300))
    if (!random.chance(0.01)) continue
    await reader[Symbol.asyncDispose]()
    reader = start()
  }
  await reader[Symbol.asyncDispose]()
}

async function readOnce(input: {
  readonly cluster: SimCluster
  readonly reader: Reader
  readonly random: SeededRandom
  readonly client: number
  readonly reads: ReadRecord[]
  readonly waitMs: number
  readonly stalls: Stalls
}): Promise<void> {
  const { cluster, random, stalls } = input
  const { clock } = cluster
  const lookup = random.chance(0.8) ? { name: random.pick(NAMES) } : { party: random.pick(PARTIES) }
  const options = chooseOptions(random, cluster)
  const startMs = clock.monotonicMs()
  const stalledBeforeMs = stalls.totalMs()
  const [outcome] = await input.reader.lookup([lookup], options)
  input.reads.push({
    client: input.client,
    lookup,
    options,
    votesNeeded: thresholdVotes(
      options.threshold ?? 'weak',
      memberSetOf(cluster.genesis),
    ) as number,
    startMs,
    endMs: clock.monotonicMs(),
    endMicros: clock.nowMicros(),
    steadyCount: cluster.steadyCount(startMs),
    answeringCount: cluster.answeringCount(startMs),
    waitMs: input.waitMs,
    stalledMs: stalls.totalMs() - stalledBeforeMs,
    outcome: outcome as Outcome, // One lookup, one outcome.
  })
}

function chooseOptions(random: SeededRandom, cluster: SimCluster): ReadOptions {
  const nodeCount = cluster.members.length
  const threshold = random.chance(0.85)
    ? random.pick(['weak', 'weak', 'strong', 'strong', 'all'] as const)
    : random.integer(maxFaulty(nodeCount) + 1, nodeCount)
  return {
    threshold,
    maxAgeMs: random.pick([2500, 10_000, 60_000]),
    ...(random.chance(0.15) ? { minOffset: cluster.ledger.head() } : {}),
  }
}
