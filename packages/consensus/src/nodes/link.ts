/** One connection to a node: what is known of it, and what it owes. */

import type { Reply } from '../answers/reply.ts'
import { parseOffsetText } from '../answers/reply.ts'
import type { GenesisNode } from '../genesis/genesis.ts'
import type { TransportReply, TransportRequest } from './transport.ts'

export type Channel = TransportRequest['channel']

/** A request to one node for some items of the reader. */
export type Work = {
  readonly channel: Channel
  /** The offset that the nodes are asked for; null where they choose. */
  readonly atOffset: number | null
  /** Items asked for; the connection does not look into them. 0 is a probe. */
  readonly itemCount: number
  request(link: Link): Omit<TransportRequest, 'url' | 'signal' | 'channel' | 'isPublicOnly'>
  /** Whether any item still wants this node's vote. */
  isWanted(link: Link): boolean
  /** The node's answer, judged; called once a flight unless the flight is offered again. */
  receive(link: Link, reply: Reply): void
}

export type Flight = {
  readonly work: Work
  startedAtMs: number
  readonly abort: AbortController
  /** Its work waits to be sent once more, or was. */
  isSentAgain: boolean
}

export type Lane = {
  readonly channel: Channel
  queue: Work[]
  readonly flights: Set<Flight>
  /** When the node last answered, ms. */
  answeredAtMs: number
  /** When a request last ended, in whatever way. */
  endedAtMs: number
  /** Failures of the connection in a row. */
  failureCount: number
  notBeforeMs: number
}

export type Link = {
  /** Position among the connections: the voter. */
  readonly index: number
  readonly name: string
  /** Ed25519 public key of the node's answers, hex. */
  readonly scanKey: string
  url: string | null
  sequence: number | null
  /** Newest offset that the node claims to have, and when it said so. */
  head: number | null
  headAtMs: number
  /** Until when the node refuses for its limits (D-33), as it said itself. */
  refusesUntilMs?: number
  readonly lanes: Readonly<Record<Channel, Lane>>
  /** As `NodeStatus` shows them. */
  readonly counters: Counters
}

type Counters = {
  requests: number
  errors: number
  lastError: string | null
  votes: number
  dissents: number
  latencyMs: number | null
  latencyMsLast: number | null
}

export function createLink({ name, scanKey }: GenesisNode, index: number): Link {
  const lane = (channel: Channel): Lane => ({
    channel,
    queue: [],
    flights: new Set(),
    answeredAtMs: Number.NEGATIVE_INFINITY,
    endedAtMs: Number.NEGATIVE_INFINITY,
    failureCount: 0,
    notBeforeMs: 0,
  })
  return {
    index,
    name,
    scanKey,
    url: null,
    sequence: null,
    head: null,
    headAtMs: Number.NEGATIVE_INFINITY,
    lanes: { lookup: lane('lookup'), bulk: lane('bulk') },
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

/** Counts an answer that was none. */
export function noteError({ counters }: Link, reason: string): void {
  counters.errors++
  counters.lastError = reason
}

/** Takes over the head that an answer tells. */
export function noteHead(link: Link, reply: TransportReply, now: number): void {
  const head = parseOffsetText(reply.header('x-ledger-head'))
  if (head === undefined) return
  link.head = head
  link.headAtMs = now
}

/** Whether the node is known not to answer now; a reason for a person, or null. Who is slow may answer. */
export function whyUnusable(link: Link, channel: Channel): string | null {
  return link.lanes[channel].failureCount > 1 ? (link.counters.lastError ?? 'unreachable') : null
}
