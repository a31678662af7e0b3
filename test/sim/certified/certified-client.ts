/** A client of a run of certified readers: it looks up names, walks over pages and restarts, and records each answer. */
import { sha256 } from '@quorumscan/base'
import type {
  CertifiedOutcome,
  CertifiedReader,
  CertifiedReadOptions,
} from '@quorumscan/reader/certified'
import * as certified from '@quorumscan/reader/certified'
import type { SimClock } from '@quorumscan/testkit'
import { type CryptoPort, memberSetOf, type TrustRule, thresholdVotes } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage } from '@quorumscan/verifier/certified'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Condition } from '../sim-cluster.ts'
import { createStalls, type Stalls } from '../stalls.ts'
import type { CertifiedRecord, CertifiedRunOptions, Page, ReadResult } from './certified-record.ts'
import type { CertifiedWorld } from './certified-world.ts'

export const NAMES = Array.from({ length: 12 }, (_, index) => `n${index}.unverified.ns`)
export const PARTIES = ['alice', 'bob', 'carol'].map((hint) => `${hint}::1220${'a'.repeat(64)}`)
export const CLIENTS = 3
/** Conditions in which a node does not even return the addresses of others. */
const MUTE: readonly Condition['kind'][] = ['down', 'hung', 'notFound', 'failing']
/** Deadlines of an SDK, and of a client with a short deadline. */
const PATIENT_MS = 10_000
const WAIT_MS = 2000
const STALL_MS_MAX = 4000
const YEAR_MS = 365 * 24 * 3_600_000
/** A clock that is further behind is proven to be wrong also by an answer of the age that readers suspect. */
const HIDDEN_MS_MAX = 22_000
/** By how much the clocks of devices are ahead. */
const CLOCKS_AHEAD_MS = [0, -9000, -11_000, -300_000, -300_000, -10 * YEAR_MS, 5000, 300_000]

type Client = {
  readonly world: CertifiedWorld
  readonly random: SeededRandom
  readonly client: number
  readonly reads: CertifiedRecord[]
  readonly options: CertifiedRunOptions
  readonly trust: TrustRule | null
  readonly crypto: CryptoPort
}

export async function runClient(input: Client): Promise<void> {
  const { world, random, options } = input
  const { cluster } = world
  let { client } = input
  let stored = 0
  const waitMs = client === 0 ? PATIENT_MS : WAIT_MS
  const stalls = createStalls()
  const { createCertifiedReader } = options.readerModule ?? certified
  const device = createDevice(cluster.clock)
  const start = () => {
    if (options.mode === 'wrong-clocks') device.reset(random.pick(CLOCKS_AHEAD_MS))
    return createCertifiedReader(
      stalls.through({
        waitMs,
        genesis: cluster.genesis,
        genesisHash: cluster.genesisHash,
        trust: input.trust,
        seeds: random.chance(0.5) ? cluster.urls : [random.pick(cluster.urls)],
        transport: cluster.network,
        clock: device.clock,
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
  }
  let reader = start()
  const countMax = Math.ceil(options.readCount / CLIENTS)
  for (let done = 0; done < countMax; ) {
    const together = random.integer(1, 4)
    const reading = Array.from({ length: together }, () => {
      if (random.chance(0.15)) return walk({ ...input, client, reader, waitMs, stalls, device })
      const name = random.pick(NAMES)
      const lookup = random.chance(0.8) ? { name } : { party: random.pick(PARTIES) }
      return recorded({ ...input, client, reader, waitMs, stalls, device }, async (read) => {
        const [outcome] = await reader.lookup([lookup], read)
        return { lookup, outcome: outcome as CertifiedOutcome<CertifiedEntry | null> } // One lookup.
      })
    })
    if (random.chance(0.02)) stalls.begin(cluster.clock, random.integer(300, STALL_MS_MAX))
    await Promise.all(reading)
    done += together
    const pauseMs = random.chance(0.1) ? random.integer(500, 20_000) : random.integer(0, 300)
    await cluster.clock.delay(pauseMs)
    if (options.mode === 'wrong-clocks' && random.chance(0.05))
      device.set(random.pick(CLOCKS_AHEAD_MS))
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
  readonly device: Device
}

/** The clock of a device, which is wrong, and which its user sets. */
function createDevice(right: SimClock) {
  let aheadMs = 0
  let isBehind = false
  let hiddenMs = 0
  const set = (ms: number): void => {
    aheadMs = ms
    isBehind ||= ms < 0
    if (-ms <= HIDDEN_MS_MAX) hiddenMs = Math.max(hiddenMs, -ms)
  }
  return {
    clock: { ...right, nowMicros: () => right.nowMicros() + aheadMs * 1000 },
    set,
    /** As `set`, for another reader. */
    reset(ms: number): void {
      isBehind = false
      hiddenMs = 0
      set(ms)
    },
    facts: () => ({ isBehind, hiddenMs }),
  }
}

type Device = ReturnType<typeof createDevice>

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
      memberSetOf(cluster.genesis),
      input.trust,
    ) as number,
    startMs,
    endMs: clock.monotonicMs(),
    endMicros: clock.nowMicros(),
    ...input.device.facts(),
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
  const set = memberSetOf(world.cluster.genesis)
  const [least, most] = [thresholdVotes('weak', set, trust), thresholdVotes('all', set, trust)] as [
    number,
    number,
  ]
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
