/**
 * One seeded run of certified readers: nodes lie, fail and lag, the log grows, and clients look up names, read lists
 * and restart. The run records their answers for the checkers.
 */
import { sha256 } from '@quorumscan/base'
import type {
  CertifiedOutcome,
  CertifiedReader,
  CertifiedReadOptions,
} from '@quorumscan/reader/certified'
import * as certified from '@quorumscan/reader/certified'
import { type SimEntry, simCrypto, simEntry } from '@quorumscan/testkit'
import {
  type CryptoPort,
  type Lookup,
  maxFaulty,
  type TrustRule,
  thresholdVotes,
  toHex,
  trustRule,
} from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/verifier/certified'
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts'
import { type Condition, createSimCluster } from '../sim-cluster.ts'
import { createStalls, type Stalls } from '../stalls.ts'
import { CERTIFIED_LIES, liesOf } from './certified-lies.ts'
import { type CertifiedWorld, createCertifiedWorld } from './certified-world.ts'

export type CertifiedRunOptions = {
  readonly seed: number
  readonly readCount: number
  /**
   * `at-most-f`: at most f nodes lie. `beyond-f`: up to 2f nodes collude. `strangers-lie`: readers have a trust rule, and
   * all other nodes lie, with as many of its members as it tolerates.
   */
  readonly mode?: 'at-most-f' | 'beyond-f' | 'strangers-lie'
  /** Drawn from the seed unless given. */
  readonly nodeCount?: number
  /** The reader: one with a mistake, to test the checkers. Its queries belong to it. Default: the real one. */
  readonly readerModule?: typeof certified
  /** The lies that may occur. Default: all. */
  readonly lies?: readonly string[]
  /** The faults of honest nodes that may occur. Default: all. */
  readonly faults?: readonly Condition['kind'][]
}

type Page = {
  readonly prefix: string
  readonly pageSize: number
  readonly pageToken: string | null
}

export type CertifiedRecord = {
  readonly client: number
  /** A restarted client has another reader, which stores only its floor. */
  readonly reader: CertifiedReader
  readonly options: CertifiedReadOptions
  readonly signersNeeded: number
  readonly startMs: number
  readonly endMs: number
  /** The reader's clock at the end, µs. */
  readonly endMicros: number
  readonly steadyCount: number
  readonly answeringCount: number
  /** Newest offset that every honest node had certified a second before the read began, if all were steady. */
  readonly heldFrom: number | null
  /** The reader knows the address of no honest node that answers, because those have moved. */
  readonly isLost: boolean
  readonly waitMs: number
  readonly stalledMs: number
} & ReadResult

type ReadResult =
  | { readonly lookup: Lookup; readonly outcome: CertifiedOutcome<CertifiedEntry | null> }
  | { readonly page: Page; readonly outcome: CertifiedOutcome<CertifiedPage> }

export type CertifiedRun = {
  readonly world: CertifiedWorld
  readonly liars: readonly number[]
  /** That of all readers; null: none. */
  readonly trust: TrustRule | null
  readonly reads: readonly CertifiedRecord[]
}

const START_MICROS = 1_700_000_000_000_000
const NAMES = Array.from({ length: 12 }, (_, index) => `n${index}.unverified.ns`)
const PARTIES = ['alice', 'bob', 'carol'].map((hint) => `${hint}::1220${'a'.repeat(64)}`)
const MALLORY = `mallory::1220${'6'.repeat(64)}`
const FAR_MICROS = 4_000_000_000_000_000
const CLIENTS = 3
const FAULTS = [
  'down',
  'hung',
  'slow',
  'sluggish',
  'notFound',
  'failing',
  'lagging',
  'wiped',
  'stuck',
] as const
/** Conditions in which a node does not even return the addresses of others. */
const MUTE: readonly Condition['kind'][] = ['down', 'hung', 'notFound', 'failing']
/** Deadlines of an SDK, and of a client with a short deadline. */
const PATIENT_MS = 10_000
const WAIT_MS = 2000
const STALL_MS_MAX = 4000

/** Verifies each signature once and caches the result, because most are seen by all clients. */
function createMemoCrypto(): CryptoPort {
  const known = new Map<string, Promise<boolean>>()
  return {
    ...simCrypto,
    verifyEd25519(input) {
      const { publicKey, signature, message } = input
      const id = [publicKey, signature, sha256(message)].map(toHex).join()
      const checking = known.get(id) ?? simCrypto.verifyEd25519(input)
      known.set(id, checking)
      return checking
    },
  }
}

export async function runCertified(options: CertifiedRunOptions): Promise<CertifiedRun> {
  const random = createSeededRandom(options.seed)
  const nodeCount = options.nodeCount ?? random.integer(4, 10)
  const trust = options.mode === 'strangers-lie' ? chooseTrust(random, nodeCount) : null
  const liars = chooseLiars(random, nodeCount, { ...options, trust })
  const state: { world?: CertifiedWorld; isOver: boolean } = { isOver: false }
  const cluster = createSimCluster({
    random: random.split(),
    nodeCount,
    liars,
    startMicros: START_MICROS,
    lies: liesOf(() => state.world as CertifiedWorld, liars),
  })
  const world = createCertifiedWorld(cluster, sha256)
  state.world = world
  const { clock } = cluster
  for (let count = 0; count < 5; count++) appendRandomEntry(world, random)
  for (const index of liars) cluster.change(index, lying(random, options))
  scheduleAppends(world, random.split(), state)
  scheduleFaults(world, random.split(), { options, state })
  await clock.advance(600)
  const reads: CertifiedRecord[] = []
  const crypto = createMemoCrypto()
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    runClient({
      world,
      random: random.split(),
      client,
      reads,
      options,
      trust,
      crypto,
    }),
  )
  await clock.run(Promise.all(clients))
  state.isOver = true
  return { world, liars, trust, reads }
}

function chooseTrust(random: SeededRandom, nodeCount: number): TrustRule {
  const names = Array.from({ length: nodeCount }, (_, index) => `sv-${index + 1}`)
  const members = names.filter(() => random.chance(0.5))
  const listed = members.length === 0 ? names.slice(0, 1) : members
  const threshold = random.chance(0.5) ? random.integer(1, listed.length) : undefined
  return trustRule({ members: listed, threshold }, names)
}

function chooseLiars(
  random: SeededRandom,
  nodeCount: number,
  { mode, trust }: CertifiedRunOptions & { readonly trust: TrustRule | null },
): readonly number[] {
  if (trust !== null) {
    const tolerated = trust.members.slice(0, random.integer(0, trust.threshold - 1))
    const isLiar = (name: string) => tolerated.includes(name) || !trust.members.includes(name)
    const indexes = Array.from({ length: nodeCount }, (_, index) => index)
    return indexes.filter((index) => isLiar(`sv-${index + 1}`))
  }
  const faultyMax = maxFaulty(nodeCount)
  const count =
    mode === 'beyond-f'
      ? random.integer(faultyMax + 1, 2 * faultyMax)
      : random.integer(0, faultyMax)
  const order = Array.from({ length: nodeCount }, (_, index) => ({ index, key: random.fraction() }))
  return order
    .sort((a, b) => a.key - b.key)
    .slice(0, count)
    .map(({ index }) => index)
}

function lying(random: SeededRandom, options: CertifiedRunOptions): Condition {
  const names = options.lies ?? Object.keys(CERTIFIED_LIES)
  const count = random.integer(1, 3)
  const lies = Array.from({ length: count }, () => random.pick(names))
  return {
    kind: 'lying',
    lies: (options.mode ?? 'at-most-f') !== 'at-most-f' && random.chance(0.5) ? ['invent'] : lies,
  }
}

function appendRandomEntry(world: CertifiedWorld, random: SeededRandom): void {
  const { ledger, clock } = world.cluster
  const name = random.pick(NAMES)
  const expiresAt = clock.nowMicros() + random.integer(500, 15_000) * 1000
  const contractId = `00${random.integer(0, 0xffffff).toString(16).padStart(6, '0')}`
  const present = ledger.find({ name }, ledger.head())
  const entry = simEntry(name, { user: random.pick(PARTIES), contractId, expiresAt })
  const stolen: SimEntry = { ...entry, user: MALLORY, expiresAt: FAR_MICROS }
  if (present === null) world.append({ put: [entry] }, { remove: [name] })
  else if (random.chance(0.2)) world.append({ remove: [name] }, { put: [stolen] })
  else world.append({}, { put: [stolen] })
}

function scheduleAppends(
  world: CertifiedWorld,
  random: SeededRandom,
  state: { readonly isOver: boolean },
): void {
  if (state.isOver) return
  appendRandomEntry(world, random)
  // Sometimes the log stalls for longer than some readers accept, or than any reader accepts without suspicion.
  const pauseMs = random.chance(0.02) ? random.integer(3000, 16_000) : random.integer(10, 400)
  world.cluster.clock.schedule(pauseMs, () => scheduleAppends(world, random, state))
}

function scheduleFaults(
  world: CertifiedWorld,
  random: SeededRandom,
  input: { readonly options: CertifiedRunOptions; readonly state: { readonly isOver: boolean } },
): void {
  if (input.state.isOver || input.options.faults?.length === 0) return
  const { cluster } = world
  const member = random.pick(cluster.members)
  const drawFault = (): Condition => {
    const kind = random.pick(input.options.faults ?? FAULTS)
    const lagMs = random.integer(100, 12_000)
    return (kind === 'lagging' || kind === 'wiped' ? { kind, lagMs } : { kind }) as Condition
  }
  if (member.isLiar) cluster.change(member.index, lying(random, input.options))
  else if (random.chance(0.1)) cluster.move(member.index)
  else if (random.chance(0.07)) {
    const condition = drawFault()
    for (const one of cluster.members) {
      if (one.isLiar || random.chance(0.15)) continue
      cluster.change(one.index, condition)
      cluster.clock.schedule(random.integer(3000, 16_000), () => {
        if (one.condition === condition) cluster.change(one.index, { kind: 'up' })
      })
    }
  } else cluster.change(member.index, random.chance(0.6) ? { kind: 'up' } : drawFault())
  cluster.clock.schedule(random.integer(100, 2500), () => scheduleFaults(world, random, input))
}

type Client = {
  readonly world: CertifiedWorld
  readonly random: SeededRandom
  readonly client: number
  readonly reads: CertifiedRecord[]
  readonly options: CertifiedRunOptions
  readonly trust: TrustRule | null
  readonly crypto: CryptoPort
}

async function runClient(input: Client): Promise<void> {
  const { world, random, options } = input
  const { cluster } = world
  let { client } = input
  let stored = 0
  const waitMs = client === 0 ? PATIENT_MS : WAIT_MS
  const stalls = createStalls()
  const { createCertifiedReader } = options.readerModule ?? certified
  const start = () =>
    createCertifiedReader(
      stalls.through({
        waitMs,
        genesis: cluster.genesis,
        genesisHash: cluster.genesisHash,
        trust: input.trust,
        seeds: random.chance(0.5) ? cluster.urls : [random.pick(cluster.urls)],
        transport: cluster.network,
        clock: cluster.clock,
        crypto: input.crypto,
        sha256,
        allowPrivateAddresses: true,
        floorStore: {
          load: async () => stored,
          save: (offset: number) => {
            stored = offset
          },
        },
        // The cluster's current addresses, because seeds also move.
        addressStore: { load: async () => cluster.members[0]?.node.records ?? [], save: () => {} },
      }),
    )
  let reader = start()
  const countMax = Math.ceil(options.readCount / CLIENTS)
  for (let done = 0; done < countMax; ) {
    const together = random.integer(1, 4)
    const reading = Array.from({ length: together }, () => {
      if (random.chance(0.15)) return walk({ ...input, client, reader, waitMs, stalls })
      const name = random.pick(NAMES)
      const lookup = random.chance(0.8) ? { name } : { party: random.pick(PARTIES) }
      return recorded({ ...input, client, reader, waitMs, stalls }, async (read) => {
        const [outcome] = await reader.lookup([lookup], read)
        return { lookup, outcome: outcome as CertifiedOutcome<CertifiedEntry | null> } // One lookup.
      })
    })
    if (random.chance(0.02)) stalls.begin(cluster.clock, random.integer(300, STALL_MS_MAX))
    await Promise.all(reading)
    done += together
    const pauseMs = random.chance(0.1) ? random.integer(500, 20_000) : random.integer(0, 300)
    await cluster.clock.delay(pauseMs)
    if (!random.chance(0.05)) continue
    await reader[Symbol.asyncDispose]()
    if (random.chance(0.5)) {
      // Another device, without a stored floor.
      client += CLIENTS
      stored = 0
    }
    reader = start()
  }
  await reader[Symbol.asyncDispose]()
}

type Reading = Client & {
  readonly reader: CertifiedReader
  readonly waitMs: number
  readonly stalls: Stalls
}

/** Reads a list page by page. */
async function walk(input: Reading): Promise<void> {
  const { random, reader, options } = input
  const { requestOfEntriesPage } = options.readerModule ?? certified
  const page = { prefix: random.pick(['n', 'n1', '']), pageSize: random.integer(1, 5) }
  for (let pageToken: string | null = null; ; ) {
    const current: Page = { ...page, pageToken }
    const subject = { kind: 'prefix', prefix: page.prefix } as const
    const record: CertifiedRecord = await recorded(input, async (read) => ({
      page: current,
      outcome: await reader.read(requestOfEntriesPage({ ...current, subject }), read),
    }))
    const { outcome } = record
    if (!('answer' in outcome) || outcome.answer === null) return
    pageToken = (outcome.answer as CertifiedPage).next_page_token
    if (pageToken === null) return
  }
}

async function recorded(
  input: Reading,
  read: (options: CertifiedReadOptions) => Promise<ReadResult>,
): Promise<CertifiedRecord> {
  const { world, random, stalls } = input
  const { cluster } = world
  const { clock } = cluster
  const options = chooseOptions(random, world, input.trust)
  const startMs = clock.monotonicMs()
  const stalledBeforeMs = stalls.totalMs()
  const heldFrom = heldOffset(world, input.options)
  const known = new Set(input.reader.status().nodes.map(({ url }) => url))
  const isLost = !cluster.members.some(
    ({ isLiar, url, condition }) => !isLiar && known.has(url) && !MUTE.includes(condition.kind),
  )
  const result = await read(options)
  const record: CertifiedRecord = {
    ...result,
    client: input.client,
    reader: input.reader,
    options,
    signersNeeded: thresholdVotes(
      options.threshold ?? 'weak',
      cluster.members.length,
      input.trust,
    ) as number,
    startMs,
    endMs: clock.monotonicMs(),
    endMicros: clock.nowMicros(),
    steadyCount: cluster.steadyCount(startMs),
    answeringCount: cluster.answeringCount(startMs),
    heldFrom,
    isLost,
    waitMs: input.waitMs,
    stalledMs: stalls.totalMs() - stalledBeforeMs,
  }
  input.reads.push(record)
  return record
}

/** The offset that each reader must reach while all honest nodes are up. */
function heldOffset(world: CertifiedWorld, { mode }: CertifiedRunOptions): number | null {
  const { members, ledger, clock } = world.cluster
  const honest = members.filter(({ isLiar }) => !isLiar)
  const nowMs = clock.monotonicMs()
  const areUp = honest.every(
    ({ condition, changedAtMs }) => condition.kind === 'up' && changedAtMs < nowMs - 5000,
  )
  if (!areUp || mode === 'beyond-f' || mode === 'strangers-lie') return null
  const untilMicros = clock.nowMicros() - 1_000_000
  const offset = world.certifiable.findLast((one) => ledger.pointAt(one).recordTime <= untilMicros)
  return offset ?? null
}

function chooseOptions(
  random: SeededRandom,
  world: CertifiedWorld,
  trust: TrustRule | null,
): CertifiedReadOptions {
  const nodeCount = world.cluster.members.length
  const [least, most] = [
    thresholdVotes('weak', nodeCount, trust),
    thresholdVotes('all', nodeCount, trust),
  ] as [number, number]
  const threshold = random.chance(0.85)
    ? random.pick(['weak', 'weak', 'strong', 'strong', 'all'] as const)
    : random.integer(least, most)
  return {
    threshold,
    maxAgeMs: random.pick([2500, 10_000, 60_000]),
    ...(random.chance(0.15) ? { minOffset: world.certifiable.at(-1) ?? 0 } : {}),
    ...(random.chance(0.1) ? { isShared: false } : {}),
  }
}
