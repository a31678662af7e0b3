/** What is known of one node, and its queues. */

import { parseOffsetText } from '../answers/reply.ts'
import type { NodeStatus } from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import { isAuthenticated } from '../source/node-url.ts'
import { createSource, type Flight, type Source } from '../source/source.ts'
import type { TransportReply } from '../source/transport.ts'
import type { Channel, RequestSpec } from './request-spec.ts'

/** A node that has not answered a request for this long is reported as silent. It may still answer. */
const UNRESPONSIVE_AFTER_MS = 1000

/** A request in flight. */
export interface Sent extends Flight<Sent> {
  readonly source: Lane
  readonly spec: RequestSpec
  /** It does not count against the limit of requests in flight. */
  isLate: boolean
  /** A longer answer cannot win the vote, and need not be read. */
  bytesWanted: number
}

/** Lookups and large answers have separate queues (D-14) and fail separately. The flights are in order, oldest first. */
export interface Lane extends Source<Sent> {
  readonly node: Node
  readonly channel: Channel
  queue: RequestSpec[]
  /** When the node last answered, ms. */
  answeredAtMs: number
  /** When a request last ended, with any result. */
  endedAtMs: number
}

export type Node = {
  /** Its position in the order of the genesis, and its number as a voter. */
  readonly index: number
  readonly name: string
  url: string | null
  sequence: number | null
  /** Its connection would not authenticate the node, so that it is not asked for votes (D-35). */
  isInsecure: boolean
  /** Newest offset that it claims to have, and when it reported that. */
  head: number | null
  headAtMs: number
  /** Until when the node refuses because of its limits (D-33), by its own `retry-after`. */
  refusesUntilMs: number
  readonly lanes: Readonly<Record<Channel, Lane>>
  readonly counters: Lane['counters'] & {
    votes: number
    dissents: number
    latencyMsLast: number | null
  }
}

export function createNode(name: string, index: number): Node {
  const never = Number.NEGATIVE_INFINITY
  const counters = {
    requests: 0,
    errors: 0,
    lastError: null,
    votes: 0,
    dissents: 0,
    latencyMsLast: null,
  }
  const lane = (channel: Channel): Lane => {
    return {
      ...createSource<Sent>(null, false),
      counters,
      get node() {
        return node
      },
      channel,
      queue: [],
      answeredAtMs: never,
      endedAtMs: never,
    }
  }
  const node: Node = {
    index,
    name,
    url: null,
    sequence: null,
    isInsecure: false,
    head: null,
    headAtMs: never,
    refusesUntilMs: never,
    lanes: { lookup: lane('lookup'), bulk: lane('bulk') },
    counters,
  }
  return node
}

export function lanesOf({ lanes }: Node): readonly Lane[] {
  return [lanes.lookup, lanes.bulk]
}

/** Sets the address of the node. */
export function noteAddress(node: Node, { url, sequence }: Omit<Address, 'name'>): void {
  const isInsecure = !isAuthenticated(url)
  Object.assign(node, { url, sequence, isInsecure })
  for (const lane of lanesOf(node)) lane.url = url
  if (isInsecure) node.counters.lastError = 'its address is neither https nor loopback'
}

/** Notes the head that an answer reports. */
export function noteHead(node: Node, reply: TransportReply, nowMs: number): void {
  const head = parseOffsetText(reply.header('x-ledger-head'))
  if (head === undefined) return
  node.head = head
  node.headAtMs = nowMs
}

/** Whether the node is known not to answer now. A node that is slow may answer. */
export function isFailing(lane: Lane): boolean {
  return lane.failureCount > 1
}

/** Whether the node has owed an answer for too long. */
export function isSilent({ flights, answeredAtMs }: Lane, nowMs: number): boolean {
  const [oldest] = flights
  return (
    oldest !== undefined && nowMs - Math.max(oldest.sentAtMs, answeredAtMs) >= UNRESPONSIVE_AFTER_MS
  )
}

/** Counters and state, which never exclude a node (D-43). */
export function nodeStatus(node: Node, nowMs: number): NodeStatus {
  const { name, url, sequence, head, counters } = node
  const { lookup, bulk } = node.lanes
  const latencyMs = lookup.latencyMs ?? bulk.latencyMs
  const known = latencyMs === null ? 'unknown' : 'live'
  const state = isFailing(lookup) ? 'failing' : isSilent(lookup, nowMs) ? 'silent' : known
  return { name, url, sequence, state, head, ...counters, latencyMs }
}
