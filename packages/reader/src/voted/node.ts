/** One node: what is known of it, and what it owes. */

import type { GenesisNode } from '@quorumscan/verifier'
import { parseOffsetText } from '../answers/reply.ts'
import type { NodeStatus } from '../reader-options.ts'
import { isAuthenticated } from '../source/node-url.ts'
import type { TransportReply } from '../source/transport.ts'
import type { Ask, Channel } from './ask.ts'

/** A node that owes an answer and gave none for so long is shown as silent; it may still answer. */
const SILENCE_MS = 1000

/** A request on its way. */
export type Flight = {
  readonly id: number
  readonly node: Node
  readonly lane: Lane
  readonly ask: Ask
  startedAtMs: number
  /** What it asks waits to be sent once more, or was. */
  isSentAgain: boolean
}

/** Lookups and large answers travel apart (D-14). */
export type Lane = {
  readonly channel: Channel
  queue: Ask[]
  /** Oldest first. */
  readonly flights: Set<Flight>
  /** When the node last answered, ms. */
  answeredAtMs: number
  /** When a request last ended, in whatever way. */
  endedAtMs: number
  /** Failures of the connection in a row. */
  failureCount: number
  notBeforeMs: number
}

export type Node = {
  /** Its position: the voter. */
  readonly index: number
  readonly name: string
  url: string | null
  sequence: number | null
  /** Its connection would not say who answers: it is not asked for votes (D-35). */
  isInsecure: boolean
  /** Newest offset that it claims to have, and when it said so. */
  head: number | null
  headAtMs: number
  /** Until when it refuses for its limits (D-33), as it said itself. */
  refusesUntilMs?: number
  readonly lanes: Readonly<Record<Channel, Lane>>
  readonly counters: Counters
}

/** As `NodeStatus` shows them. */
type Counters = {
  requests: number
  errors: number
  lastError: string | null
  votes: number
  dissents: number
  latencyMs: number | null
  latencyMsLast: number | null
}

export function createNode({ name }: GenesisNode, index: number): Node {
  return {
    index,
    name,
    url: null,
    sequence: null,
    isInsecure: false,
    head: null,
    headAtMs: Number.NEGATIVE_INFINITY,
    lanes: { lookup: createLane('lookup'), bulk: createLane('bulk') },
    counters: {
      requests: 0,
      errors: 0,
      lastError: null,
      votes: 0,
      dissents: 0,
      latencyMs: null,
      latencyMsLast: null,
    },
  }
}

function createLane(channel: Channel): Lane {
  return {
    channel,
    queue: [],
    flights: new Set(),
    answeredAtMs: Number.NEGATIVE_INFINITY,
    endedAtMs: Number.NEGATIVE_INFINITY,
    failureCount: 0,
    notBeforeMs: 0,
  }
}

/** Takes over where the node is. */
export function noteAddress(
  node: Node,
  { url, sequence }: { readonly url: string; readonly sequence: number },
): void {
  const isInsecure = !isAuthenticated(url)
  Object.assign(node, { url, sequence, isInsecure })
  if (isInsecure) node.counters.lastError = 'its address is neither https nor loopback'
}

/** It says to be where it is not asked. */
export function notePrivateAddress({ counters }: Node, { url }: { readonly url: string }): void {
  counters.lastError = `its address is private: ${url}`
}

/** Counts an answer that was none. */
export function noteError({ counters }: Node, reason: string): void {
  counters.errors++
  counters.lastError = reason
}

/** Takes over the head that an answer tells. */
export function noteHead(node: Node, reply: TransportReply, nowMs: number): void {
  const head = parseOffsetText(reply.header('x-ledger-head'))
  if (head === undefined) return
  node.head = head
  node.headAtMs = nowMs
}

/** Whether the node is known not to answer now. Who is slow may answer. */
export function isFailing(lane: Lane): boolean {
  return lane.failureCount > 1
}

/** Whether the node has owed an answer for too long. */
export function isSilent({ flights, answeredAtMs }: Lane, nowMs: number): boolean {
  const [oldest] = flights
  return oldest !== undefined && nowMs - Math.max(oldest.startedAtMs, answeredAtMs) >= SILENCE_MS
}

/** Counters, never a verdict that would exclude a node (D-43). */
export function nodeStatus(node: Node, isSilentLane: (lane: Lane) => boolean): NodeStatus {
  const { name, url, sequence, head, counters } = node
  return { name, url, sequence, state: stateOf(node, isSilentLane), head, ...counters }
}

function stateOf(
  { lanes, counters }: Node,
  isSilentLane: (lane: Lane) => boolean,
): NodeStatus['state'] {
  if (isFailing(lanes.lookup)) return 'failing'
  if (isSilentLane(lanes.lookup)) return 'silent'
  return counters.latencyMs === null ? 'unknown' : 'live'
}
