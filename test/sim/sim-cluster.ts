/** The nodes of a simulation with their conditions: each node has one at a time. */
import type { TransportRequest } from '@quorumscan/reader'
import {
  createSimWorld,
  type SimHandler,
  type SimLedger,
  type SimNode,
  type SimWorld,
  signAddress,
} from '@quorumscan/testkit'
import type { SeededRandom } from '../support/seeded-random.ts'
import { LIES, type Lie } from './lies.ts'

/**
 * An `up` node is honest, runs, and applies the log within 30 ms. The other conditions except `lying` are faults of
 * honest nodes. Any number of nodes may have them.
 */
export type Condition =
  | {
      readonly kind:
        | 'up'
        | 'down'
        | 'hung'
        | 'slow'
        | 'sluggish'
        | 'erratic'
        | 'notFound'
        | 'failing'
    }
  | { readonly kind: 'lagging'; readonly lagMs: number }
  /** The node lost its state, and rebuilds it within `lagMs`. */
  | { readonly kind: 'wiped'; readonly lagMs: number }
  | { readonly kind: 'stuck' }
  /** `isFirst`: it answers before all others. */
  | { readonly kind: 'lying'; readonly lies: readonly string[]; readonly isFirst?: boolean }

const APPLY_MS_MAX = 30
const SLOW_MS = 300
/** Too slow for most reads of a proxy, but not for an SDK. */
const SLUGGISH_MS = 1500
/** For so long an erratic node is slow, and then quick. */
const ERRATIC_MS = 700
const FIRST_MS = 0.01
const HORIZON_OFFSETS = 400

export type SimMember = {
  readonly index: number
  readonly node: SimNode
  readonly isLiar: boolean
  condition: Condition
  changedAtMs: number
  url: string
}

export type SimCluster = SimWorld & {
  /** All logs of nodes: one, or two after a split. */
  logs(): readonly SimLedger[]
  readonly members: readonly SimMember[]
  change(index: number, condition: Condition): void
  /** Moves the node to another URL, and publishes a signed record. */
  move(index: number): void
  /** Appends to the log. Nodes apply it with a delay. */
  append(input: Omit<Parameters<SimWorld['ledger']['append']>[0], 'recordTime'>): void
  /** Number of nodes that were `up` from STEADY_MS before `sinceMs` until now. */
  steadyCount(sinceMs: number): number
  /** Number of nodes that answered during that time, even if slowly. */
  answeringCount(sinceMs: number): number
  /** A transport of one client. Liars use it to tell clients apart, because requests contain no client name. */
  transportFor(client: number): SimWorld['network']
}

/** Time that a reader needs to detect that a node is back: backoff, probes, addresses. */
const STEADY_MS = 5000

export function createSimCluster(options: {
  readonly random: SeededRandom
  readonly nodeCount: number
  readonly liars: readonly number[]
  readonly startMicros: number
  readonly network?: number
  /** From the first append on, these nodes receive another log. */
  readonly otherLogFor?: readonly number[]
  /** Lies by name. Default: `LIES`, those about votes. */
  readonly lies?: Readonly<Record<string, Lie>>
}): SimCluster {
  const { random } = options
  const latency = random.split()
  const isFirst = (url: string): boolean =>
    members.some(
      (member) =>
        member.url === url && member.condition.kind === 'lying' && member.condition.isFirst,
    )
  const world = createSimWorld({
    nodeCount: options.nodeCount,
    startMicros: options.startMicros,
    genesisMicros: options.startMicros - 1_000_000,
    network: options.network ?? 0,
    latencyMs: (url) => (isFirst(url) ? FIRST_MS : 0.5 + latency.fraction() * 2),
  })
  const { clock, ledger, network, nodes, urls, genesisHash } = world
  const lying = random.split()
  const applying = random.split()
  const clientByRequest = new WeakMap<TransportRequest, number>()
  const { otherLogFor = [] } = options
  let otherLedger: SimLedger | null = null
  const members: SimMember[] = nodes.map((node, index) => ({
    index,
    node,
    isLiar: options.liars.includes(index),
    condition: { kind: 'up' },
    changedAtMs: Number.NEGATIVE_INFINITY,
    url: urls[index] as string,
  }))
  const records = [...world.records]
  const shareRecords = () => {
    for (const { node } of members) node.records = [...records]
  }

  const handlerOf =
    (member: SimMember): SimHandler =>
    async (request) => {
      const { condition, node } = member
      const client = clientByRequest.get(request) ?? 0
      switch (condition.kind) {
        case 'hung':
          return null
        case 'slow':
        case 'sluggish':
          await clock.delay(condition.kind === 'slow' ? SLOW_MS : SLUGGISH_MS)
          return node.answer(request)
        case 'erratic':
          if (Math.floor(clock.monotonicMs() / ERRATIC_MS) % 2 === 0) await clock.delay(SLOW_MS)
          return node.answer(request)
        case 'notFound':
        case 'failing': {
          const code = condition.kind === 'failing' ? 500 : 404
          const body = new TextEncoder().encode('{"error":"no"}')
          return { status: code, headers: { 'content-type': 'application/json' }, body }
        }
        case 'lying': {
          const lie = (options.lies ?? LIES)[lying.pick(condition.lies)] as Lie
          return lie({ node, request, random: lying, client })
        }
        default:
          return node.answer(request)
      }
    }

  const apply = (member: SimMember, offset: number): void => {
    const { condition, node } = member
    if (condition.kind === 'stuck' || node.head >= offset) return
    node.head = offset
    node.horizon = Math.max(node.horizon, offset - HORIZON_OFFSETS)
  }

  const applyLater = (member: SimMember, offset: number): void => {
    const { condition } = member
    const base = applying.fraction() * APPLY_MS_MAX
    const lagMs = 'lagMs' in condition ? condition.lagMs : 0
    clock.schedule(base + lagMs, () => apply(member, offset))
  }

  const change = (index: number, condition: Condition): void => {
    const member = members[index] as SimMember
    const wasDown = member.condition.kind === 'down'
    member.condition = condition
    member.changedAtMs = clock.monotonicMs()
    if (condition.kind === 'down') network.serve(member.url, null)
    else if (wasDown) network.serve(member.url, handlerOf(member))
    if (condition.kind === 'wiped') member.node.head = 0
    if (condition.kind !== 'stuck') applyLater(member, member.node.ledger.head())
  }

  const countSince = (sinceMs: number, kinds: readonly Condition['kind'][]): number =>
    members.filter(
      ({ condition, changedAtMs }) =>
        kinds.includes(condition.kind) && changedAtMs <= sinceMs - STEADY_MS,
    ).length

  for (const member of members) {
    network.serve(member.url, handlerOf(member))
    member.node.head = ledger.head()
  }

  return {
    ...world,
    members,
    change,
    logs: () => (otherLedger === null ? [ledger] : [ledger, otherLedger]),
    move(index) {
      const member = members[index] as SimMember
      const { name, keyPair } = member.node
      const sequence = (records[index]?.sequence ?? 0) + 1
      network.serve(member.url, null)
      member.url = `http://127.0.0.1:${index + 1 + 100 * sequence}`
      member.changedAtMs = clock.monotonicMs()
      if (member.condition.kind !== 'down') network.serve(member.url, handlerOf(member))
      records[index] = signAddress(keyPair, { genesisHash, name, url: member.url, sequence })
      shareRecords()
    },
    append(input) {
      const last = ledger.pointAt(ledger.head()).recordTime
      const recordTime = Math.max(last + 1, clock.nowMicros())
      if (otherLogFor.length > 0 && otherLedger === null) {
        otherLedger = ledger.fork()
        for (const index of otherLogFor) (members[index] as SimMember).node.ledger = otherLedger
      }
      ledger.append({ ...input, recordTime })
      // The other log lacks the last name, so that the two logs contradict each other.
      otherLedger?.append({ ...input, put: input.put?.slice(0, -1) ?? [], recordTime })
      for (const member of members) applyLater(member, ledger.head())
    },
    steadyCount: (sinceMs) => countSince(sinceMs, ['up']),
    answeringCount: (sinceMs) => countSince(sinceMs, ['up', 'slow', 'sluggish', 'erratic']),
    transportFor: (client) => ({
      ...network,
      request: (request) => {
        clientByRequest.set(request, client)
        return network.request(request)
      },
    }),
  }
}
