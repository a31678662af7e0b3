/**
 * What a reader of certified answers does, and what it believes. Pure: `step` takes what happened and says what to
 * do; transport, signatures and clock are the driver's.
 *
 * One node is asked at a time, the quickest. What it proves was so at an offset; whether that is recent enough is
 * decided here: not behind what the reader has seen, not older than the caller takes, and where it is suspiciously
 * old not before f + 1 distinct nodes were heard. So f nodes can neither make an answer wrong nor hold a reader in
 * the past.
 */
import { doubtedCount, flightsOf, isCredible, type Moment, silentMs, undecided } from './belief.ts'
import type {
  Effect,
  Ending,
  Flight,
  Landed,
  Now,
  Read,
  ReaderEvent,
  ReaderState,
  Told,
  Wanted,
} from './reader-state.ts'
import {
  createSource,
  expectedMs,
  noteAnswer,
  noteFailure,
  noteLie,
  noteRefusal,
  noteWaiting,
  rankSources,
  type Source,
} from './sources.ts'

/** So long a node waits for an offset that it has not reached. */
const OFFSET_WAIT_MS = 1000
/** Others are asked for their certificates as often in the time that an answer may be old, */
const POLLS_PER_AGE = 4
/** within these bounds. */
const POLL_PERIOD_MS_MIN = 1000
const POLL_PERIOD_MS_MAX = 15_000
/** From then on a certificate that others were asked for does not come. */
const POLL_WAIT_MS = 10_000
/** Certificates remembered, to see two that contradict each other: some seconds of a busy ledger. */
const POINTS_KEPT = 64

type Step = Moment & { readonly effects: Effect[] }

export function step(state: ReaderState, event: ReaderEvent, now: Now): readonly Effect[] {
  const run: Step = { state, now, effects: [] }
  take(run, event)
  for (const [id, flight] of state.flights) sweep(run, id, flight)
  for (const read of state.reads.values()) advance(run, read)
  return run.effects
}

/** When something follows from the time alone; infinite: never. */
export function nextTickMs({ reads, flights }: ReaderState, now: Now): number {
  const times = [...reads.values()].map(({ endsAtMs }) => endsAtMs)
  for (const { read, sentAtMs, lateAtMs, source } of flights.values())
    times.push(read === null ? sentAtMs + POLL_WAIT_MS : lateAtMs, sentAtMs + silentMs(source))
  return Math.min(...times.filter((ms) => ms > now.ms))
}

function take(run: Step, event: ReaderEvent): void {
  const { state, now } = run
  switch (event.kind) {
    case 'asked':
      begin(run, event.read, event.wanted)
      break
    case 'left': {
      const read = state.reads.get(event.read)
      if (read !== undefined) drop(run, read)
      break
    }
    case 'located':
      locate(state, event)
      break
    case 'learning':
      state.isLearning = !event.isOver
      break
    case 'remembered':
      state.floor = Math.max(state.floor, event.offset)
      break
    case 'tick':
      break
    default: {
      const flight = state.flights.get(event.flight)
      if (flight === undefined) return
      state.flights.delete(event.flight)
      const { source } = flight
      source.heardSentAtMs = Math.max(source.heardSentAtMs, flight.sentAtMs)
      if (event.kind === 'failed') noteFailure(source, event.reason, now.ms)
      else land(run, flight, event)
    }
  }
}

function begin(run: Step, id: number, wanted: Wanted): void {
  const { state, now } = run
  const read: Read = {
    ...wanted,
    id,
    beganAtMs: now.ms,
    endsAtMs: now.ms + wanted.waitMs,
    floor: state.floor,
    asked: new Set(),
    reachedCount: 0,
    unproven: null,
    best: null,
    isBehind: false,
    isGone: false,
  }
  state.reads.set(id, read)
  if (!read.isWalk) pollOthers(run, read)
}

/** A node answered, whatever it said. */
function land(run: Step, flight: Flight, event: Landed): void {
  const { source, read } = flight
  const nowMs = run.now.ms
  if (read !== null) read.reachedCount++
  if (event.kind === 'told') hear(run, flight, event)
  else if (event.kind === 'lied') disbelieve(run, flight, event.reason)
  else if (event.why === 'unable' || event.why === 'limit')
    noteRefusal(source, { ...event, isLimit: event.why === 'limit' }, nowMs)
  else if (read !== null && event.why === 'gone') read.isGone = true
  else if (read !== null) {
    read.isBehind = true
    // Who first answers behind what we have seen, and then lets us wait for it, is not the quickest.
    if (flight.minOffset > read.minOffset) noteWaiting(source, nowMs - flight.beganAtMs)
  }
}

/** What the node sent is not believed. */
function disbelieve({ now }: Step, { source, read }: Flight, reason: string): void {
  noteLie(source, reason, now.ms)
  if (read !== null) read.unproven = reason
}

/** The node is there, and nowhere else. */
function locate(state: ReaderState, { name, url }: { name: string; url: string }): void {
  const { sources } = state
  for (const old of sources) if (old.name === name) old.name = null
  const known = sources.find((source) => source.url === url)
  const source = known ?? createSource(url, false)
  source.name = name
  const kept = [...sources, ...(known ? [] : [source])]
  sources.splice(0, sources.length, ...kept.filter((one) => one.isSeed || one.name !== null))
}

/** A certificate, and what it proves of the question. */
function hear(run: Step, flight: Flight, { point, answer }: Told): void {
  const { state, now } = run
  const { source, read } = flight
  const { decisions, faultyMax } = state
  if (!decisions.hasSigners(point.signers.length, read?.signerCount ?? faultyMax + 1)) {
    // Of a state that others signed a node may know fewer signatures than the one that was asked before.
    if (read?.isWalk) read.isGone = true
    else disbelieve(run, flight, 'too few signers')
    return
  }
  for (const known of state.points.values()) {
    if (state.fork !== null || !decisions.contradicts(known, point)) continue
    state.fork = [known, point]
    run.effects.push({ kind: 'forked', points: state.fork })
  }
  state.points.set(point.offset, point)
  if (state.points.size > POINTS_KEPT) state.points.delete(Math.min(...state.points.keys()))
  state.floor = Math.max(state.floor, point.offset)
  source.head = Math.max(source.head ?? 0, point.offset)
  const tookMs = now.ms - flight.beganAtMs
  if (read === null || read.isWalk) {
    noteAnswer(source, tookMs)
    if (read !== null) read.best = { point, answer }
  } else if (decisions.isBehind(point.offset, flight.minOffset))
    disbelieve(run, flight, 'an older answer than was asked for')
  else if (decisions.isBehind(point.offset, Math.max(read.minOffset, read.floor)))
    // Out of a cache, or of a node that is a moment behind others: held against nobody.
    send(run, source, { read, minOffset: read.floor, beganAtMs: flight.beganAtMs })
  else {
    noteAnswer(source, read.minOffset > 0 ? null : tookMs)
    if (read.best === null || read.best.point.offset < point.offset) read.best = { point, answer }
  }
}

/** What time does to a request. */
function sweep(run: Step, id: number, flight: Flight): void {
  const { now, state } = run
  const { source, read } = flight
  if (read === null) {
    if (now.ms < flight.sentAtMs + POLL_WAIT_MS) return
    state.flights.delete(id)
    run.effects.push({ kind: 'cancel', flight: id })
    noteFailure(source, 'no answer', now.ms)
  } else if (!flight.isLate && now.ms >= flight.lateAtMs) {
    flight.isLate = true
    noteWaiting(source, now.ms - flight.beganAtMs)
  }
}

/** Believes, gives up, or asks further. */
function advance(run: Step, read: Read): void {
  const { state, now } = run
  const { best } = read
  const freshness = { nowMicros: now.micros, maxAgeMs: read.maxAgeMs }
  const isRecent = best !== null && !state.decisions.isStale(best.point.recordTime, freshness)
  if (state.fork !== null) end(run, read, { kind: 'disputed', points: state.fork })
  else if (best !== null && (read.isWalk || (isRecent && isCredible(run, read, best))))
    end(run, read, { kind: 'answered', ...best })
  else if (now.ms >= read.endsAtMs) end(run, read, undecided(run, read))
  else askFurther(run, read, isRecent ? best : null)
}

/** @param doubtful - An answer that would do, were it certain that there is nothing newer. */
function askFurther(run: Step, read: Read, doubtful: Told | null): void {
  const { state, now } = run
  const others = rankSources(state.sources, now.ms).filter((source) => !read.asked.has(source))
  const openCount = flightsOf(run, read).filter((flight) => !flight.isLate).length
  // Nodes that have not reached what the caller wants let it wait: then all do so at a time.
  const oneOrAll = read.isBehind && read.minOffset > 0 ? others.length + openCount : 1
  const wantedCount = doubtful === null ? oneOrAll : doubtedCount(run, read, doubtful)
  // Where others have shown that there is something newer, it is asked for.
  const minOffset = doubtful === null ? read.minOffset : state.floor
  for (const source of others.slice(0, Math.max(0, wantedCount - openCount)))
    send(run, source, { read, minOffset, beganAtMs: now.ms })
  if (others.length === 0 && flightsOf(run, read).length === 0 && !state.isLearning)
    end(run, read, undecided(run, read))
}

function end(run: Step, read: Read, ending: Ending): void {
  drop(run, read)
  run.effects.push({ kind: 'ended', read: read.id, ending, reachedCount: read.reachedCount })
}

function drop(run: Step, read: Read): void {
  run.state.reads.delete(read.id)
  for (const [id, flight] of run.state.flights) {
    if (flight.read !== read) continue
    run.state.flights.delete(id)
    run.effects.push({ kind: 'cancel', flight: id })
    noteWaiting(flight.source, run.now.ms - flight.beganAtMs)
  }
}

/** Asks f nodes beside the first for their newest certificates, if it is time to. */
function pollOthers(run: Step, { maxAgeMs }: Read): void {
  const { state, now } = run
  const periodMs = Math.min(
    Math.max(maxAgeMs / POLLS_PER_AGE, POLL_PERIOD_MS_MIN),
    POLL_PERIOD_MS_MAX,
  )
  if (state.faultyMax === 0 || now.ms - state.polledAtMs < periodMs) return
  const [, ...others] = rankSources(state.sources, now.ms)
  const nodes = others.filter(({ name }) => name !== null)
  // While addresses are learned the next read tries again.
  if (nodes.length < state.faultyMax) return
  state.polledAtMs = now.ms
  nodes.sort((a, b) => a.polledAtMs - b.polledAtMs)
  for (const source of nodes.slice(0, state.faultyMax)) {
    source.polledAtMs = now.ms
    send(run, source, { read: null, minOffset: 0, beganAtMs: now.ms })
  }
}

function send(
  { state, now, effects }: Step,
  source: Source,
  asked: { readonly read: Read | null; readonly minOffset: number; readonly beganAtMs: number },
): void {
  const { read, minOffset } = asked
  const waitMs = minOffset > 0 ? OFFSET_WAIT_MS : 0
  const lateAtMs = now.ms + state.decisions.hedgeMs(expectedMs(source)) + waitMs
  const flight = state.flightCount++
  state.flights.set(flight, { source, ...asked, sentAtMs: now.ms, lateAtMs, isLate: false })
  read?.asked.add(source)
  source.counters.requests++
  effects.push({ kind: 'send', flight, source, read: read?.id ?? null, minOffset })
}
