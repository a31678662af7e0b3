/**
 * The decider of certified reads. Deterministic: `step` updates the state by an event and pushes effects. Transport,
 * signatures and clock belong to the driver.
 *
 * One node is asked at a time, the fastest. Its proof shows the state at an offset. `credibility.ts` decides whether that
 * offset is recent enough: not below what the reader has seen, and not older than the caller accepts. A suspiciously
 * old answer needs f + 1 distinct consulted nodes. So f nodes can neither make an answer wrong nor hold a reader
 * in the past. When a node is late, another one is asked too. In addition, f other nodes are polled periodically for
 * their newest certificates.
 */

import { BATCH_LOOKUPS_MAX } from '@quorumscan/verifier'
import { isBelowOffset, isStale } from '@quorumscan/verifier/certified'
import { drop, NEVER, send } from '../driver/decider-protocol.ts'
import { proveTime } from '../driver/proven-time.ts'
import {
  createSource,
  hedgeMs,
  noteAnswer,
  noteFailure,
  noteLie,
  noteUnable,
  noteWaiting,
  rankSources,
  type Source,
} from '../source/source.ts'
import {
  areConflicting,
  type Call,
  type CertifiedReply,
  type CheckedAnswer,
  type Ending,
  type Read,
  type ReaderEvent,
  type ReaderState,
  type RequestInFlight,
} from './certified-state.ts'
import {
  flightsOf,
  isCredible,
  requestsWhileSuspicious,
  silentMs,
  undecided,
} from './credibility.ts'
import { requestOfLookups } from './node-request.ts'

/** How often other nodes are polled within the greatest age of an answer. */
const POLLS_PER_AGE = 4
/** The bounds of the time between two polls. */
const POLL_PERIOD_MS_MIN = 1000
const POLL_PERIOD_MS_MAX = 15_000
/** A poll that takes longer has failed. */
const POLL_WAIT_MS = 10_000
/** Certificates remembered, to detect conflicts: some seconds of a busy ledger. */
const POINTS_MAX = 64
/** More concurrent reads would wait at the node; lookups that wait here can join others. */
const READS_MAX = 8
/** While a read is in flight, lookups are delayed by this, so that they join those that its answer triggers. */
const GATHER_MS = 0.5

export function step(state: ReaderState, event: ReaderEvent): void {
  apply(state, event)
  for (const read of [...state.reads]) advance(state, read)
  gather(state, event.kind === 'woke')
}

function apply(state: ReaderState, event: ReaderEvent): void {
  const { calls, nowMs } = state
  switch (event.kind) {
    case 'began':
      for (const begun of event.reads) {
        const call: Call = { ...begun, read: null }
        calls[call.id] = call
        if (call.input.query === undefined) state.waiting.push(call)
        else begin(state, [call])
      }
      break
    case 'left':
      for (const id of event.reads) leave(state, calls[id])
      break
    case 'deadline':
      for (const id of event.reads) {
        const call = calls[id] as Call // The driver names only calls that have not ended.
        const read = call.read ?? begin(state, [call])
        read.isOverdue = true
      }
      break
    case 'reply':
      onReply(state, event.flight, event.reply)
      break
    case 'failed':
      noteFailure(event.flight.source, event.reason, nowMs)
      break
    case 'late':
      noteLate(state, event.flight)
      break
    case 'located':
      locate(state, event.name, event.url)
      break
    case 'learning':
      state.isLearning = !event.isOver
  }
}

/** Joins lookups of one moment to as few reads as possible, up to `READS_MAX` at a time. */
function gather(state: ReaderState, isDue: boolean): void {
  const { reads } = state
  if (state.waiting.length === 0 || state.wakeAtMs < NEVER) return
  let readCount = reads.filter(({ wanted }) => wanted.query === undefined).length
  if (!isDue && readCount > 0) {
    if (readCount < READS_MAX) state.wakeAtMs = state.nowMs + GATHER_MS
    return
  }
  for (; state.waiting.length > 0 && readCount < READS_MAX; readCount++) {
    const together: Call[] = []
    let room = BATCH_LOOKUPS_MAX
    for (const call of state.waiting) {
      const { lookups, key } = call.input
      const [first = call] = together
      if (first !== call && (key === null || key !== first.input.key)) continue
      if (lookups.length > room) continue
      together.push(call)
      room -= lookups.length
      if (room === 0) break
    }
    advance(state, begin(state, together))
  }
}

function begin(state: ReaderState, calls: readonly Call[]): Read {
  const { input: wanted } = calls[0] as Call // One at least.
  const { stateQuery } = wanted
  const query = wanted.query ?? requestOfLookups(calls.flatMap(({ input }) => input.lookups))
  const read: Read = {
    wanted,
    calls,
    query,
    stateQuery,
    isPageWalk: typeof stateQuery?.offset === 'number',
    beganAtMs: state.nowMs,
    floor: state.floor,
    asked: new Set(),
    reached: new Set(),
    unproven: null,
    best: null,
    sawLaggingNode: false,
    sawPruned: false,
    isOverdue: false,
  }
  for (const call of calls) call.read = read
  state.waiting = state.waiting.filter((call) => call.read === null)
  state.reads.push(read)
  if (!read.isPageWalk) pollOthers(state, wanted.maxAgeMs)
  return read
}

/** A caller left. A read without callers ends. */
function leave(state: ReaderState, call: Call | undefined): void {
  if (call === undefined) return
  delete state.calls[call.id]
  state.waiting = state.waiting.filter((one) => one !== call)
  const { read } = call
  if (read?.calls.every(({ id }) => !(id in state.calls))) dropRead(state, read)
}

/** A node replied, with a proof or a refusal. */
function onReply(state: ReaderState, flight: RequestInFlight, reply: CertifiedReply): void {
  const { source, read, minOffset } = flight
  const { nowMs } = state
  const { kind } = reply
  read?.reached.add(source)
  if (kind === 'proven') onProof(state, flight, reply)
  else if (kind === 'lied') rejectProof(state, flight, reply.reason)
  else if (kind === 'unable' || kind === 'limit') {
    noteUnable(source, reply, nowMs)
    if (kind === 'limit') source.refusesUntilMs = source.awayUntilMs
  } else if (read !== null && kind === 'pruned') read.sawPruned = true
  else if (read !== null) {
    read.sawLaggingNode = true
    // A node that first answers below the floor, and then waits for it, is not the fastest.
    if (minOffset > read.wanted.minOffset) noteWaiting(source, nowMs - flight.beganAtMs)
  }
}

/** The first time, another node is asked too. The second time, this one is silent and counts as consulted. */
function noteLate({ nowMs }: ReaderState, flight: RequestInFlight): void {
  const { source, sentAtMs, beganAtMs } = flight
  if (flight.isLate) flight.isSilent = true
  else {
    flight.isLate = true
    flight.lateAtMs = sentAtMs + silentMs(source)
    noteWaiting(source, nowMs - beganAtMs)
  }
}

/** No honest node sends this. */
function rejectProof({ nowMs }: ReaderState, flight: RequestInFlight, reason: string): void {
  noteLie(flight.source, reason, nowMs)
  if (flight.read !== null) flight.read.unproven = reason
}

/** Moves the node to its newest address. */
function locate(state: ReaderState, name: string, url: string): void {
  const { sources } = state
  for (const old of sources) if (old.name === name) old.name = null
  const known = sources.find((source) => source.url === url)
  const source = known ?? createSource<RequestInFlight>(url, false)
  source.name = name
  if (known === undefined) sources.push(source)
  const index = sources.findIndex((one) => !one.isSeed && one.name === null)
  if (index < 0) return
  const [old] = sources.splice(index, 1)
  for (const flight of [...(old?.flights ?? [])]) drop(state, flight)
}

/** A certificate, with the answer that it proves. */
function onProof(state: ReaderState, flight: RequestInFlight, { point, answer }: CheckedAnswer) {
  const { faultyMax, points } = state
  const { source, read, minOffset, beganAtMs } = flight
  if (point.signers.length < (read?.wanted.threshold ?? faultyMax + 1)) {
    // A node may know fewer signatures of an older state than the node that the walk began at.
    if (read?.isPageWalk) read.sawPruned = true
    else rejectProof(state, flight, 'too few signers')
    return
  }
  for (const known of points.values()) {
    if (state.fork !== null || !areConflicting(known, point)) continue
    state.fork = [known, point]
    state.effects.push({ kind: 'note', fact: state.fork })
  }
  points.set(point.offset, point)
  if (points.size > POINTS_MAX) points.delete(Math.min(...points.keys()))
  proveTime(state, point.recordTime)
  state.floor = Math.max(state.floor, point.offset)
  source.head = Math.max(source.head ?? 0, point.offset)
  const tookMs = state.nowMs - beganAtMs
  if (read === null || read.isPageWalk) {
    noteAnswer(source, tookMs)
    if (read !== null) read.best = { point, answer }
  } else if (isBelowOffset(point.offset, minOffset)) rejectProof(state, flight, 'an older answer')
  else if (isBelowOffset(point.offset, Math.max(read.wanted.minOffset, read.floor)))
    // Out of a cache, or of a node that lags a moment: this counts against no node.
    ask(state, source, read, read.floor, beganAtMs)
  else {
    noteAnswer(source, read.wanted.minOffset > 0 ? null : tookMs)
    if (read.best === null || read.best.point.offset < point.offset) read.best = { point, answer }
  }
}

/** Ends the read with an answer or without one, or asks further nodes. */
function advance(state: ReaderState, read: Read): void {
  const { nowMicros } = state
  const { best, isPageWalk } = read
  const freshness = { nowMicros, maxAgeMs: read.wanted.maxAgeMs }
  const isRecent = best !== null && !isStale(best.point.recordTime, freshness)
  if (state.fork !== null) end(state, read, { kind: 'disputed', points: state.fork })
  else if (best !== null && (isPageWalk || (isRecent && isCredible(state, read, best))))
    end(state, read, { kind: 'answered', ...best })
  else if (read.isOverdue) end(state, read, undecided(state, read))
  else askFurther(state, read, isRecent ? best : null)
}

/** @param doubtful - A recent answer, as long as a newer one may exist. */
function askFurther(state: ReaderState, read: Read, doubtful: CheckedAnswer | null): void {
  const { sources, nowMs, floor, asksSeeds } = state
  const others = rankSources(sources, nowMs).filter(
    (source) => !read.asked.has(source) && (asksSeeds || source.name !== null),
  )
  const flights = flightsOf(state, read)
  const openCount = flights.filter((flight) => !flight.isLate).length
  const { minOffset } = read.wanted
  // Nodes wait for an offset that they have not reached, so all of them are asked at a time.
  const oneOrAll = read.sawLaggingNode && minOffset > 0 ? others.length + openCount : 1
  const wantedCount = doubtful === null ? oneOrAll : requestsWhileSuspicious(state, read, doubtful)
  // If other nodes have proven a newer offset, the reader requests that one.
  for (const source of others.slice(0, Math.max(0, wantedCount - openCount)))
    ask(state, source, read, doubtful === null ? minOffset : floor)
  if (others.length === 0 && flights.length === 0 && !state.isLearning)
    end(state, read, undecided(state, read))
}

function end(state: ReaderState, read: Read, ending: Ending): void {
  dropRead(state, read)
  const { clockSkewMs } = state
  let first = 0
  for (const { id, input } of read.calls) {
    if (id in state.calls)
      state.effects.push({ kind: 'done', read: id, outcome: { ending, read, first, clockSkewMs } })
    delete state.calls[id]
    first += input.lookups.length
  }
}

function dropRead(state: ReaderState, read: Read): void {
  state.reads = state.reads.filter((one) => one !== read)
  for (const flight of flightsOf(state, read)) {
    drop(state, flight)
    noteWaiting(flight.source, state.nowMs - flight.beganAtMs)
  }
}

/** Asks f nodes other than the first for their newest certificates, if a poll is due. */
function pollOthers(state: ReaderState, maxAgeMs: number): void {
  const { nowMs, faultyMax } = state
  const periodMs = Math.min(
    Math.max(maxAgeMs / POLLS_PER_AGE, POLL_PERIOD_MS_MIN),
    POLL_PERIOD_MS_MAX,
  )
  if (faultyMax === 0 || nowMs - state.polledAtMs < periodMs) return
  const [, ...others] = rankSources(state.sources, nowMs)
  const nodes = others.filter(({ name }) => name !== null)
  // The next read tries again, when more addresses may be known.
  if (nodes.length < faultyMax) return
  state.polledAtMs = nowMs
  nodes.sort((a, b) => a.polledAtMs - b.polledAtMs)
  for (const source of nodes.slice(0, faultyMax)) {
    source.polledAtMs = nowMs
    ask(state, source, null, 0)
  }
}

/** @param beganAtMs - When the node was first asked for this read. */
function ask(
  state: ReaderState,
  source: Source<RequestInFlight>,
  read: Read | null,
  minOffset: number,
  beganAtMs = state.nowMs,
): void {
  const { nowMs: sentAtMs } = state
  const isPoll = read === null
  read?.asked.add(source)
  send(state, {
    source,
    read,
    minOffset,
    beganAtMs,
    sentAtMs,
    // Also of a node that waits for an offset: it looks the same as one that hangs.
    lateAtMs: sentAtMs + (isPoll ? silentMs(source) : hedgeMs(source)),
    // A read ends its requests itself.
    endsAtMs: isPoll ? sentAtMs + POLL_WAIT_MS : NEVER,
    // No caller waits for a poll.
    isLate: isPoll,
    isSilent: false,
    abort: null,
  })
}
