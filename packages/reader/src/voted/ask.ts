/**
 * Whom to ask, and when to ask more.
 *
 * A read asks as many nodes as must agree. It asks more as soon as the nodes that it has asked cannot decide it: one is
 * silent for longer than it usually is, fails, lags, or disagrees. The order is drawn anew each time, so that no node can
 * predict its place or earn the first one. Of a sample of the reads all nodes are asked, so that a node is noticed that
 * would be outvoted.
 *
 * A dead or hung node costs only its vote, and the requests sent to it per second are bounded. A failing node is asked
 * again by single probes. A lost or hung request never blocks the next one.
 */
import { BATCH_LOOKUPS_MAX, backoffMs, type Lookup } from '@quorumscan/verifier'
import { batchRequest } from '../answers/batch.ts'
import { send, wakeBy } from '../driver/decider-protocol.ts'
import type { ReadRequest } from '../reader-options.ts'
import { expectedMs, hedgeMs, noteError } from '../source/source.ts'
import type { NodeRequest } from '../source/transport.ts'
import { largestGroup } from '../votes/tally.ts'
import {
  type Channel,
  channelOf,
  type Item,
  isFailing,
  isFresh,
  isVoteWanted,
  type Lane,
  lanesOf,
  type Node,
  openItems,
  type RequestSpec,
  type Round,
  roundAt,
  type Sample,
  type Sent,
  type State,
} from './state.ts'

/** Requests in flight per node, of those sent within `LATE_MS`. A higher limit sends more to hung nodes. */
const FLIGHTS_MAX: Readonly<Record<Channel, number>> = { lookup: 4, bulk: 8 }
/**
 * While so many batches wait for nodes, other lookups gather for the next one: a request costs a node more than the
 * lookups in it, and each batch goes to some of the nodes only. They wait so long at most, which matters if nodes are far.
 */
const GATHERED_WHILE = 2
const GATHER_MS = 20
/** After this time a request does not count as in flight. */
const LATE_MS = 1000
/** After this time it is sent again, as it may be lost. The first may still be answered. */
const LOST_MS = 1500
/** The pause after which a request that may be lost is tried again, if the node had no room. */
const ROOM_WAIT_MS = 25
/** Nodes that are quicker are alike: a clock of milliseconds sees no difference. */
const USUAL_MS_MIN = 1
/** A node that usually takes long is silent after this many times its usual time. */
const FAR_HEDGE_FACTOR = 1.5
/** Reads do not wait for the room of a node that takes so many times as long as the median. */
const SLOW_FACTOR = 2
/** Requests in flight to a failing node. */
const PROBES_MAX = 1
const BACKOFF = { minMs: 50, maxMs: 1000 }
/** Of one read in so many, all nodes are asked. */
const SAMPLED_OF = 64
/** All nodes are asked at least this often while reads are sent. Their heads follow from it (D-37). */
const SAMPLE_MS = 1000
/** And at least this often however few reads there are: a read after a pause. */
const SAMPLE_MS_MAX = 60_000
/** The most reads that a sample may ask in advance of its share. */
const SAMPLED_AHEAD_MAX = SAMPLED_OF * BATCH_LOOKUPS_MAX

export const PROBE: RequestSpec = createRequestSpec('probe', [], null)

/**
 * How many more nodes to ask so that a read can be decided; 0 if those that are expected to answer may suffice.
 *
 * The first time that is one for each vote that does not come or does not agree. If that did not decide the read, twice as
 * many each time: the largest group may be liars, and each single step would cost the time of an answer.
 */
export function countToAsk(round: {
  readonly threshold: number
  readonly largestGroupSize: number
  /** Nodes that were asked, and are not silent for longer than usual. */
  readonly expectedCount: number
  readonly askedCount: number
}): number {
  const { threshold, largestGroupSize, expectedCount, askedCount } = round
  const missingCount = threshold - largestGroupSize - expectedCount
  return missingCount <= 0 ? 0 : Math.max(missingCount, askedCount - threshold + 1)
}

/** A node that may be asked. */
export type Candidate = {
  /** 0: nothing is known against it. 1: it may be late. 2: it was outvoted, or could not answer. */
  readonly doubt: 0 | 1 | 2
  readonly usualMs: number
}

/**
 * Draws the order of asking: those without doubts first, at random, and the slower, the later. A node that is quicker than
 * the median of all nodes gains nothing by it, so that a liar cannot earn the first place.
 */
export function drawOrder<C extends Candidate>(
  candidates: readonly C[],
  { medianMs, random }: { readonly medianMs: number; readonly random: () => number },
): C[] {
  const leastMs = Math.max(medianMs, USUAL_MS_MIN)
  return candidates
    .map((candidate) => {
      const share = Math.min(1, leastMs / candidate.usualMs)
      // The smallest of exponential times: each candidate is the first with a probability in proportion to its weight.
      return { candidate, atTime: -Math.log(1 - random()) / (share * share) }
    })
    .sort((a, b) => a.candidate.doubt - b.candidate.doubt || a.atTime - b.atTime)
    .map(({ candidate }) => candidate)
}

/** Whether all nodes are asked these reads, which is noted. */
export function takeSample(sample: Sample, readCount: number, nowMs: number): boolean {
  sample.readCount += readCount
  const isDue = nowMs - sample.atMs >= SAMPLE_MS || nowMs - sample.votesAtMs >= SAMPLE_MS_MAX
  if (!isDue && sample.readCount < SAMPLED_OF) return false
  sample.atMs = sample.votesAtMs = nowMs
  sample.readCount = Math.max(-SAMPLED_AHEAD_MAX, sample.readCount - SAMPLED_OF * readCount)
  return true
}

/** Sends each item to as many nodes as it needs, or to all if they are sampled. */
export function askFirst(state: State, items: readonly Item[], pin: number | null): void {
  const [first] = items
  if (first === undefined) return
  const channel = channelOf(first)
  const isSampled = takeSample(state.samples[channel], items.length, state.nowMs)
  const countOf = ({ threshold }: Item) => (isSampled ? state.nodes.length : threshold)
  askWhere(state, { items, pin }, (round, item) => countOf(item) - round.askedCount)
  if (channel === 'bulk') probeByRead(state, first, pin)
}

/** Asks more nodes for those items that the nodes asked so far cannot decide. */
export function askMore(state: State, items: readonly Item[], pin: number | null): void {
  askWhere(state, { items, pin }, (round, item) => countMissing(state, round, item))
}

/** How many more nodes to ask, because those asked so far cannot decide the round. */
function countMissing(state: State, round: Round, item: Item): number {
  const channel = channelOf(item)
  let expectedCount = 0
  for (const { index, lanes } of state.nodes)
    if (round.voteStates[index] === 'asked' && !isFailing(lanes[channel])) expectedCount++
  const { threshold } = item
  const largestGroupSize = largestGroup(round.ballot)?.voters.length ?? 0
  return countToAsk({ threshold, largestGroupSize, expectedCount, askedCount: round.askedCount })
}

/** Asks more nodes for all items whose nodes cannot decide them. */
export function askMoreForAll(state: State): void {
  const lookupsByPin = new Map<number | null, Item[]>()
  for (const item of openItems(state)) {
    const round = item.rounds.at(-1)
    // Otherwise it waits to be sent.
    if (round === undefined || item.nextPin !== null) continue
    if (countMissing(state, round, item) === 0) continue
    if (item.asked.kind === 'read') askMore(state, [item], round.pin)
    else {
      const alike = lookupsByPin.get(round.pin)
      if (alike === undefined) lookupsByPin.set(round.pin, [item])
      else alike.push(item)
    }
  }
  for (const [pin, items] of lookupsByPin) askMore(state, items, pin)
}

function askWhere(
  state: State,
  { items, pin }: { readonly items: readonly Item[]; readonly pin: number | null },
  countFor: (round: Round, item: Item) => number,
): void {
  const wanted = (item: Item) => {
    const round = item.rounds.at(-1)
    // No more votes are wanted for a first round once the second one has begun.
    return item.isDone || round === undefined || round.pin !== pin ? 0 : countFor(round, item)
  }
  const isAskable = (node: Node) => canAsk(node, channelOf(items[0] as Item))
  let open = items.filter((item) => wanted(item) > 0)
  while (open.length > 0 && state.nodes.some(isAskable)) {
    // Items that need few nodes share their requests with those that need more, and not the other way.
    const first = open.reduce((least, item) => (wanted(item) < wanted(least) ? item : least))
    const round = roundAt(first, pin) as Round // It is wanted.
    const nodes = chooseNodes(state, round, { channel: channelOf(first), count: wanted(first) })
    if (nodes.length === 0) open = open.filter((item) => item !== first)
    else {
      const isAlike = (item: Item) =>
        nodes.every(({ index }) => roundAt(item, pin)?.voteStates[index] === 'unasked')
      const kind = first.asked.kind === 'read' ? 'read' : 'batch'
      const together = open.filter(isAlike).slice(0, BATCH_LOOKUPS_MAX)
      const spec = createRequestSpec(kind, together, pin)
      for (const node of nodes) ask(state, node, spec)
      open = open.filter((item) => wanted(item) > 0)
    }
  }
}

/** The next nodes to ask, as many as can be asked now. */
function chooseNodes(
  state: State,
  round: Round,
  { channel, count }: { readonly channel: Channel; readonly count: number },
): Node[] {
  const candidates: (Candidate & { readonly node: Node })[] = []
  for (const node of state.nodes) {
    const lane = node.lanes[channel]
    if (round.voteStates[node.index] !== 'unasked' || !canAsk(node, channel)) continue
    candidates.push({ node, doubt: doubtOf(state, lane), usualMs: expectedMs(lane) })
  }
  if (candidates.length <= count) return candidates.map(({ node }) => node)
  const order = drawOrder(candidates, { medianMs: medianMs(state, channel), random: state.random })
  return order.slice(0, count).map(({ node }) => node)
}

/** The lower median of all nodes, also of those without room: liars among the candidates are no median. */
function medianMs({ nodes }: State, channel: Channel): number {
  const sorted = nodes.map(({ lanes }) => expectedMs(lanes[channel])).sort((a, b) => a - b)
  return sorted[(sorted.length - 1) >> 1] ?? 0
}

/** Whether the node may be asked for a vote now. */
function canAsk(node: Node, channel: Channel): boolean {
  const lane = node.lanes[channel]
  return !node.isInsecure && !isFailing(lane) && hasRoomAt(lane)
}

function doubtOf(state: State, { node, flights }: Lane): Candidate['doubt'] {
  const { nowMs } = state
  if (node.mistrustedUntilMs > nowMs || node.refusesUntilMs > nowMs) return 2
  // What was known of it is old.
  if (!isFresh(state, node)) return 1
  return flights.some(({ wait }) => wait !== 'usual') ? 1 : 0
}

function ask(state: State, node: Node, spec: RequestSpec): void {
  for (const item of spec.items) {
    const round = roundAt(item, spec.pin) as Round // The items of a request have it.
    round.voteStates[node.index] = 'asked'
    round.askedCount++
    round.askedAtMs = state.nowMs
  }
  sendTo(state, node, spec)
}

function sendTo(state: State, node: Node, spec: RequestSpec): void {
  const source = node.lanes[spec.channel]
  const { nowMs: sentAtMs } = state
  send(state, {
    source,
    spec,
    sentAtMs,
    lateAtMs: sentAtMs + silentAfterMs(source),
    endsAtMs: sentAtMs + state.waitMs,
    wait: 'usual',
    abort: null,
    bytesWanted: requestOf(spec).bytesMax,
  })
}

/** How long a node is silent until another one is asked: of a far node it is no less than what it usually takes. */
function silentAfterMs(lane: Lane): number {
  return Math.max(hedgeMs(lane), Math.min(FAR_HEDGE_FACTOR * (lane.latencyMs ?? 0), LATE_MS))
}

/** Whether the node would be sent another request at once. */
function hasRoomAt(lane: Lane): boolean {
  if (lane.url === null) return false
  const limit = isFailing(lane) ? PROBES_MAX : FLIGHTS_MAX[lane.channel]
  let count = 0
  for (const { wait } of lane.flights) if (wait !== 'late') count++
  return count < limit
}

/** Whether the node is silent for longer than usual, and has answered nothing since the request. */
function isUnanswered({ answeredAtMs }: Lane, { wait, sentAtMs }: Sent): boolean {
  return wait !== 'usual' && sentAtMs > answeredAtMs
}

/**
 * Whether enough nodes have room for the item. `soon`: enough will have it, so that others wait as well. `late`: not enough,
 * because nodes are silent or slow, for which others do not wait.
 */
export function roomFor(state: State, item: Item): 'enough' | 'soon' | 'late' {
  const channel = channelOf(item)
  const slowMs = SLOW_FACTOR * Math.max(medianMs(state, channel), USUAL_MS_MIN)
  let withCapacity = 0
  let soonCount = 0
  let usable = 0
  for (const node of state.nodes) {
    if (isUnusable(state, item, node)) continue
    usable++
    const lane = node.lanes[channel]
    if (hasRoomAt(lane)) withCapacity++
    else if (expectedMs(lane) <= slowMs && !lane.flights.some((one) => isUnanswered(lane, one)))
      soonCount++
  }
  const neededCount = Math.min(item.threshold, usable)
  if (withCapacity > 0 && withCapacity >= neededCount) return 'enough'
  return withCapacity + soonCount >= neededCount ? 'soon' : 'late'
}

/** Whether lookups should wait for others, so that they share a request. The first has waited longest. */
export function areGathered(state: State, alike: readonly Item[]): boolean {
  const [first] = alike
  if (first === undefined || alike.length >= BATCH_LOOKUPS_MAX) return false
  const leftMs = first.startedAtMs + GATHER_MS - state.nowMs
  if (leftMs <= 0 || batchCount(state) < GATHERED_WHILE) return false
  wakeBy(state, state.nowMs + leftMs)
  return true
}

/** Batches that wait for a node which is not silent. */
function batchCount({ nodes }: State): number {
  const waiting = new Set<RequestSpec>()
  for (const { lanes } of nodes) {
    const { flights } = lanes.lookup
    if (flights.some(({ wait }) => wait !== 'usual')) continue
    for (const { spec } of flights)
      if (!waiting.has(spec) && spec.items.some(({ isDone }) => !isDone)) waiting.add(spec)
  }
  return waiting.size
}

/** Whether the node's vote on the item cannot be expected. */
export function isUnusable(state: State, item: Item, node: Node): boolean {
  if (item.isOverdue) return true
  if (node.url === null) return !state.isLearning
  return node.isInsecure || isFailing(node.lanes[channelOf(item)])
}

/** Asks the node for its head. */
export function probe(state: State, node: Node): void {
  const { lookup } = node.lanes
  if (node.isInsecure || state.nowMs < lookup.awayUntilMs || !hasRoomAt(lookup)) return
  // One is enough.
  if (lookup.flights.some(({ spec, wait }) => spec === PROBE && wait !== 'late')) return
  lookup.polledAtMs = state.nowMs
  sendTo(state, node, PROBE)
}

/** Probes the nodes that fail. */
export function probeFailing(state: State): void {
  for (const node of state.nodes) if (isFailing(node.lanes.lookup)) probe(state, node)
}

/** Pages have no probes: a failing node gets the read itself, and is not expected to answer. */
function probeByRead(state: State, item: Item, pin: number | null): void {
  for (const node of state.nodes) {
    const { bulk } = node.lanes
    if (!isFailing(bulk) || node.isInsecure) continue
    if (state.nowMs < bulk.awayUntilMs || !hasRoomAt(bulk)) continue
    if (roundAt(item, pin)?.voteStates[node.index] === 'unasked')
      ask(state, node, createRequestSpec('read', [item], pin))
  }
}

/**
 * The node is silent for longer than it usually is: another is asked. Later the request takes no room, and then it is sent
 * again, while a caller waits.
 */
export function noteLate(state: State, flight: Sent): void {
  const { spec, source, sentAtMs } = flight
  const { index } = source.node
  if (flight.wait === 'usual') {
    flight.wait = 'overdue'
    flight.lateAtMs = sentAtMs + LATE_MS
    for (const item of spec.items) {
      const round = roundAt(item, spec.pin)
      if (round?.voteStates[index] === 'asked') round.voteStates[index] = 'overdue'
    }
    askMore(state, spec.items, spec.pin)
  } else if (flight.wait === 'overdue') {
    flight.wait = 'late'
    flight.lateAtMs = sentAtMs + LOST_MS
  } else if (state.itemCount > 0 && isWanted(spec, source.node)) {
    if (hasRoomAt(source)) sendTo(state, source.node, spec)
    else flight.lateAtMs = state.nowMs + ROOM_WAIT_MS
  }
}

/** Notes that the connection failed or the request timed out. Returns the reason, or null if it is sent again. */
export function noteLost(
  state: State,
  flight: Sent,
  { reason, isTimeout }: { readonly reason: string; readonly isTimeout: boolean },
): string | null {
  const { source: lane, spec, sentAtMs } = flight
  lane.endedAtMs = state.nowMs
  if (isTimeout) {
    // A node that answered later requests has lost this one, and does not fail.
    if (lane.answeredAtMs < sentAtMs) lane.failureCount = Math.max(2, lane.failureCount + 1)
    return reason
  }
  lane.failureCount++
  // The node may just have closed a kept-alive connection: the request is sent again at once.
  if (lane.failureCount === 1 && isWanted(spec, lane.node)) {
    noteError(lane, 'connection lost')
    sendTo(state, lane.node, spec)
    return null
  }
  if (isFailing(lane)) lane.awayUntilMs = state.nowMs + backoffMs(lane.failureCount - 1, BACKOFF)
  return reason
}

/** Forgets failures, which are too old to count. */
export function resetFailures({ nodes }: State): void {
  for (const lane of nodes.flatMap(lanesOf)) {
    lane.failureCount = 0
    lane.awayUntilMs = 0
  }
}

/** Batches are of lookups, reads of one item. The request is the same for all nodes. */
function createRequestSpec(
  kind: RequestSpec['kind'],
  items: readonly Item[],
  pin: number | null,
): RequestSpec {
  const channel = kind === 'read' ? 'bulk' : 'lookup'
  return { kind, channel, items, pin, request: null, cut: [] }
}

/** Whether the request may be sent again: the node's vote could still change an item. Its address may be another now. */
function isWanted({ kind, items, pin }: RequestSpec, { index, isInsecure }: Node): boolean {
  return !isInsecure && (kind === 'probe' || items.some((item) => isVoteWanted(item, pin, index)))
}

export function requestOf(spec: RequestSpec): NodeRequest {
  if (spec.request !== null) return spec.request
  const request = spec.kind === 'read' ? readRequest(spec) : lookupsRequest(spec)
  const forwarded = spec.items.find(({ headers }) => headers !== undefined)?.headers
  spec.request =
    forwarded === undefined
      ? request
      : { ...request, headers: { ...forwarded, ...request.headers } }
  return spec.request
}

function lookupsRequest({ items, pin }: RequestSpec): NodeRequest {
  // Batches hold nothing else.
  const lookups = items.map(({ asked }) => (asked as { readonly lookup: Lookup }).lookup)
  return batchRequest(lookups, pin)
}

function readRequest({ items, pin }: RequestSpec): NodeRequest {
  const [item] = items as readonly [Item]
  const { request } = item.asked as { readonly request: ReadRequest } // Its one item is a read.
  return {
    method: request.method,
    path: request.path,
    headers: {
      ...(request.body === null ? {} : { 'content-type': 'application/json' }),
      ...(pin === null ? {} : { 'x-read-at-offset': String(pin) }),
    },
    body: request.body,
    bytesMax: request.bytesMax,
  }
}
