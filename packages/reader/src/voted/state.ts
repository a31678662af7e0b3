/** What the reader of votes knows: its nodes, and the reads in progress with their votes. Values; `step.ts` changes them. */

import type { HistoryPoint, Lookup, TrustRule } from '@quorumscan/verifier'
import { type ByRead, type DeciderContext, type Event, NEVER } from '../driver/decider-protocol.ts'
import type { NodeReply, NodeStatus, ReaderError, ReadRequest } from '../reader-options.ts'
import type { Address } from '../source/address-book.ts'
import { isAuthenticated } from '../source/node-url.ts'
import { createSource, type Flight, type Source } from '../source/source.ts'
import type { NodeRequest, TransportReply, TransportRequest } from '../source/transport.ts'
import { createHistories, type Fork, type Histories, noteHistory } from '../votes/histories.ts'
import type { Decided, Disputed, Insufficient, Lagging, VoteGroup } from '../votes/read-outcome.ts'
import { type Ballot, createBallot, isSameVote, type Vote } from '../votes/tally.ts'

export type ReadTarget =
  | { readonly kind: 'lookup'; readonly lookup: Lookup }
  | { readonly kind: 'read'; readonly request: ReadRequest }

/** The requests of one call, with checked options. */
export type CallInput = {
  readonly asked: readonly ReadTarget[]
  /** Equal votes needed. */
  readonly threshold: number
  readonly minOffset: number
  readonly maxAgeMs: number
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** As the outcome for the caller, with answers instead of their digests. */
export type Undecided =
  | Insufficient
  | Lagging
  | (Omit<Disputed, 'groups'> & { readonly groups: readonly VoteGroupWithAnswer[] })
export type VoteGroupWithAnswer = Omit<VoteGroup, 'answerDigest'> & Pick<Vote, 'answer'>

/** An outcome for each request, or an error if there is no room for the call. */
export type CallOutcome = (Decided | Undecided)[] | ReaderError

/** The items of one caller, which end together. */
export type Call = {
  readonly id: number
  readonly items: Item[]
  readonly outcomes: (Decided | Undecided)[]
  missing: number
}

/**
 * What a node did in a round. `overdue`: it was asked, and is silent for longer than usual; its vote may still come.
 * `lagging`: it has not reached the pin. `failed`: its reply is not a vote.
 */
export type NodeVoteState = 'unasked' | 'asked' | 'overdue' | 'voted' | 'lagging' | 'failed'

/** One vote at one offset; a read has at most two rounds (D-37). */
export type Round = {
  /** Null if the request names its offset itself. */
  readonly pin: number | null
  readonly startedAtMs: number
  /** When a node was last asked. */
  askedAtMs: number
  askedCount: number
  readonly ballot: Ballot
  /** By the index of the node. */
  readonly voteStates: NodeVoteState[]
  /** Why a node does not vote, by node. */
  readonly reasons: Map<number, string>
}

export type Item = Omit<CallInput, 'asked'> & {
  readonly call: Call
  /** Its place among those of the call. */
  readonly index: number
  readonly asked: ReadTarget
  readonly startedAtMs: number
  readonly rounds: Round[]
  /** The offset of its second round, until that is sent. */
  nextPin: number | null
  /** Set once the votes agreed on something older than asked. */
  staleAgeMs: number | null
  /** Decided, refused or abandoned. */
  isDone: boolean
  /** The read has waited as long as it may: nodes that have not voted count as unusable. */
  isOverdue: boolean
  /** What was decided, to count late dissent. */
  decided: Vote | null
}

export type Channel = TransportRequest['channel']

export type RequestSpec = {
  /** `probe`: an empty batch without an offset, which only asks for heads (D-37). */
  readonly kind: 'probe' | 'batch' | 'read'
  readonly channel: Channel
  readonly items: readonly Item[]
  /** The offset in the request (D-37), and the round of the items that this belongs to. Null: nodes choose it. */
  readonly pin: number | null
  /** Written once. */
  request: NodeRequest | null
  /** Answers, cut once: votes for the items, in order. */
  readonly cut: {
    readonly point: HistoryPoint
    readonly body: Uint8Array<ArrayBuffer>
    readonly votes: readonly Vote[] | undefined
  }[]
}

/** A request in flight. */
export interface Sent extends Flight<Sent> {
  readonly source: Lane
  readonly spec: RequestSpec
  /** It has waited: for longer than the node usually takes; for so long that it takes no room; or it may be lost. */
  wait: 'usual' | 'overdue' | 'late'
  /** A longer answer cannot win the vote, and need not be read. */
  bytesWanted: number
}

/** Lookups and large answers have separate connections (D-14) and fail separately. */
export interface Lane extends Source<Sent> {
  readonly node: Node
  readonly channel: Channel
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
  /** When it first reported one after the last pause. */
  freshAtMs: number
  /** Until when the node is asked last, because it was outvoted or could not answer. The sample asks it nevertheless. */
  mistrustedUntilMs: number
  /** Until when the node refuses because of its limits (D-33), by its own `retry-after`. */
  refusesUntilMs: number
  readonly lanes: Readonly<Record<Channel, Lane>>
  readonly counters: Lane['counters'] & {
    votes: number
    dissents: number
    latencyMsLast: number | null
  }
}

export type ReaderEvent =
  | Event<Sent, TransportReply, CallInput>
  /** The local replica's history at an offset; null if it has none. */
  | { readonly kind: 'compared'; readonly offset: number; readonly historyHash: string | null }
  /** A node has another address. */
  | ({ readonly kind: 'located' } & Address)
  /** All sources of addresses have answered once or failed. */
  | { readonly kind: 'learned' }

export type Fact =
  /** The local replica's history at the offset is wanted, as `compared`. */
  | { readonly kind: 'compare'; readonly offset: number }
  /** Addresses may be refreshed; urgent if nodes do not answer. */
  | { readonly kind: 'learn'; readonly isUrgent: boolean }
  | { readonly kind: 'fork'; readonly fork: Fork }
  /** How a request ended, for measurements. */
  | NodeReply

export type State = DeciderContext<Sent, CallOutcome, Fact> & {
  /** n of the genesis, or the number of members of the trust rule. */
  readonly nodeCount: number
  /** How many of them may lie. */
  readonly faultyMax: number
  readonly trust: TrustRule | null
  /** How long a read may wait (D-38). */
  readonly waitMs: number
  /** Whether a local replica exists to compare with. */
  readonly hasReplica: boolean
  /** From 0 to below 1: no node can predict the order of asking. The only input of a step that is no event. */
  readonly random: () => number
  /** Each once, so that it votes once (D-34). */
  readonly nodes: readonly Node[]
  readonly histories: Histories
  /** By offset. */
  readonly ownHistory: Map<number, Comparison>
  readonly samples: Readonly<Record<Channel, Sample>>
  /** Lowest offset to read at: the highest verified pin (D-39). */
  floor: number
  /** Whether addresses may still come. */
  isLearning: boolean
  /** When a node was last asked anything. */
  askedAtMs: number
  /** When a read last ended. */
  finishedAtMs: number
  /** Heads reported before this time no longer suffice for a first pin. */
  headsSinceMs: number
  /** Calls that wait, by the read id of the driver. */
  readonly calls: ByRead<Call>
  /** Items of these calls that are not done. */
  itemCount: number
  /** Sum of the largest answers of one node to the pages and activities among the items. */
  readBytesMax: number
  readonly unsent: Unsent
}

/** The reads of which all nodes are asked. */
export type Sample = {
  /** When all nodes were last asked, for votes or after a pause for heads. */
  atMs: number
  /** When all nodes were last asked for votes; of a new reader, when it was first used. */
  votesAtMs: number
  /** Reads since then, less those that the last sample asked in advance. */
  readCount: number
}

/** What the local replica was asked about an offset. */
export type Comparison = {
  isKnown: boolean
  isAsking: boolean
  tries: number
  askedAtMs: number
}

/** Items that wait to be sent: for a pin, or for room at enough nodes. */
export type Unsent = {
  /** Items with the same channel, pin and threshold, which are tried together. */
  readonly byKind: Record<string, Item[]>
  /** Items whose `minOffset` no pin had reached. */
  belowMinOffset: Item[]
}

/** A node that has not answered a request for this long is reported as silent. It may still answer. */
const UNRESPONSIVE_AFTER_MS = 1000

export function createState(
  config: Pick<
    State,
    'nodeCount' | 'faultyMax' | 'trust' | 'waitMs' | 'hasReplica' | 'nodes' | 'random'
  >,
): State {
  const { faultyMax } = config
  const never = Number.NEGATIVE_INFINITY
  // Field by field: V8 reads objects made by spread more slowly.
  return {
    effects: [],
    sources: config.nodes.flatMap(lanesOf),
    nowMs: 0,
    nowMicros: 0,
    clockSkewMs: null,
    deviceMicros: 0,
    monotonicMs: 0,
    provenMicros: never,
    provenAtMs: 0,
    wakeAtMs: NEVER,
    nodeCount: config.nodeCount,
    waitMs: config.waitMs,
    hasReplica: config.hasReplica,
    random: config.random,
    nodes: config.nodes,
    faultyMax,
    trust: config.trust,
    histories: createHistories(faultyMax),
    ownHistory: new Map(),
    samples: {
      lookup: { atMs: never, votesAtMs: never, readCount: 0 },
      bulk: { atMs: never, votesAtMs: never, readCount: 0 },
    },
    floor: 0,
    isLearning: true,
    askedAtMs: never,
    finishedAtMs: never,
    headsSinceMs: 0,
    calls: {},
    itemCount: 0,
    readBytesMax: 0,
    unsent: { byKind: {}, belowMinOffset: [] },
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
    freshAtMs: never,
    mistrustedUntilMs: never,
    refusesUntilMs: never,
    lanes: { lookup: lane('lookup'), bulk: lane('bulk') },
    counters,
  }
  return node
}

export function createCall(id: number, wanted: CallInput, startedAtMs: number): Call {
  const { asked, threshold, minOffset, maxAgeMs, headers } = wanted
  const call: Call = { id, items: [], outcomes: [], missing: asked.length }
  // Field by field: V8 reads objects made by spread several times more slowly.
  for (const [index, one] of asked.entries())
    call.items.push({
      call,
      index,
      asked: one,
      threshold,
      minOffset,
      maxAgeMs,
      headers,
      startedAtMs,
      rounds: [],
      nextPin: null,
      staleAgeMs: null,
      isDone: false,
      isOverdue: false,
      decided: null,
    })
  return call
}

export function createRound({ nodes, nowMs }: State, pin: number | null): Round {
  return {
    pin,
    startedAtMs: nowMs,
    askedAtMs: nowMs,
    askedCount: 0,
    ballot: createBallot(isSameVote),
    voteStates: new Array<NodeVoteState>(nodes.length).fill('unasked'),
    reasons: new Map(),
  }
}

export function lanesOf({ lanes }: Node): readonly Lane[] {
  return [lanes.lookup, lanes.bulk]
}

/** Where the item is asked. */
export function channelOf({ asked }: Pick<Item, 'asked'>): Channel {
  return asked.kind === 'lookup' ? 'lookup' : 'bulk'
}

/** Sets the address of the node. */
export function noteAddress(node: Node, { url, sequence }: Omit<Address, 'name'>): void {
  const isInsecure = !isAuthenticated(url)
  Object.assign(node, { url, sequence, isInsecure })
  for (const lane of lanesOf(node)) lane.url = url
  if (isInsecure) node.counters.lastError = 'its address is neither https nor loopback'
}

/** Whether the node is known not to answer now. A node that is slow may answer. */
export function isFailing(lane: Lane): boolean {
  return lane.failureCount > 1
}

/** Whether the node has reported its head since the last head refresh. */
export function isFresh({ headsSinceMs }: State, { headAtMs }: Node): boolean {
  return headAtMs >= headsSinceMs
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

/** Whether the node has owed an answer for too long. */
function isSilent({ flights, answeredAtMs }: Lane, nowMs: number): boolean {
  const [oldest] = flights
  return (
    oldest !== undefined && nowMs - Math.max(oldest.sentAtMs, answeredAtMs) >= UNRESPONSIVE_AFTER_MS
  )
}

/** Whether the request names its own offset, so that floor, freshness and pin do not apply (D-39). */
export function isSelfPinned({ asked }: Item): boolean {
  return asked.kind === 'read' && asked.request.pin === 'request'
}

/** Whether nodes have pruned the offset, and not only liars say so while others lag. A newer one may succeed. */
export function isPruned({ faultyMax }: State, { reasons, voteStates }: Round): boolean {
  const prunedCount = [...reasons.values()].filter((reason) => reason === 'pruned').length
  return prunedCount > faultyMax || (prunedCount > 0 && !voteStates.includes('lagging'))
}

/** The latest round at the pin. */
export function roundAt(item: Item, pin: number | null): Round | undefined {
  return item.rounds.findLast((round) => round.pin === pin)
}

/** Whether the node was asked, and its vote could still change the item. */
export function isVoteWanted(item: Item, pin: number | null, node: number): boolean {
  if (item.isDone) return false
  const voteState = roundAt(item, pin)?.voteStates[node]
  return voteState === 'asked' || voteState === 'overdue'
}

export function note({ effects }: State, fact: Fact): void {
  effects.push({ kind: 'note', fact })
}

/** The most bytes that a node may answer to the item; lookups are bounded by their number. */
export function bytesMaxOf({ asked }: Pick<Item, 'asked'>): number {
  return asked.kind === 'read' ? asked.request.bytesMax : 0
}

/** Items that are not done. */
export function openItems({ calls }: State): Item[] {
  return Object.values(calls).flatMap(({ items }) => items.filter(({ isDone }) => !isDone))
}

/** Ends the item. */
export function finish(state: State, item: Item): void {
  if (item.isDone) return
  item.isDone = true
  state.finishedAtMs = state.nowMs
  state.itemCount--
  state.readBytesMax -= bytesMaxOf(item)
}

/** Queues the item, to be sent at the end of the step. */
export function wait({ unsent }: State, item: Item): void {
  const { asked, nextPin, threshold } = item
  const kind = `${asked.kind} ${isSelfPinned(item) ? 'own' : nextPin} ${threshold}`
  const alike = unsent.byKind[kind]
  if (alike === undefined) unsent.byKind[kind] = [item]
  else alike.push(item)
}

/** Notes the history that a valid answer shows; `holder` null: the local replica. */
export function notePoint(
  state: State,
  holder: string | null,
  point: Pick<HistoryPoint, 'offset' | 'historyHash'>,
): void {
  const fork = noteHistory(state.histories, holder, point)
  if (fork !== null) note(state, { kind: 'fork', fork })
}
