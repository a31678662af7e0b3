/**
 * One seeded run of certified readers: nodes lie, fail and lag, the log grows, and clients look up names, read lists
 * and restart. The run records their answers for the checkers.
 */
import { sha256 } from '@quorumscan/base'
import { type SimEntry, simCrypto, simEntry } from '@quorumscan/testkit'
import { type CryptoPort, maxFaulty, type TrustRule, toHex, trustRule } from '@quorumscan/verifier'
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts'
import { type Condition, createSimCluster } from '../sim-cluster.ts'
import { CLIENTS, NAMES, PARTIES, runClient } from './certified-client.ts'
import { CERTIFIED_LIES, liesOf } from './certified-lies.ts'
import type { CertifiedRecord, CertifiedRunOptions } from './certified-record.ts'
import { type CertifiedWorld, createCertifiedWorld } from './certified-world.ts'

export type CertifiedRun = {
  readonly world: CertifiedWorld
  readonly liars: readonly number[]
  /** That of all readers; null: none. */
  readonly trust: TrustRule | null
  readonly reads: readonly CertifiedRecord[]
}

const START_MICROS = 1_700_000_000_000_000
const MALLORY = `mallory::1220${'6'.repeat(64)}`
const FAR_MICROS = 4_000_000_000_000_000
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
    lies:
      (options.mode === 'beyond-f' || options.mode === 'strangers-lie') && random.chance(0.5)
        ? ['invent']
        : lies,
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
