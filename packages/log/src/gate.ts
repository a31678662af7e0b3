/**
 * Whether the synchronizer may write now: its clock is right, and its log is as long as its followers know it
 * to be. Checked before each group, so that replicas need not wait for entries.
 */

import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_TOLERANCE_MICROS,
  type ClockReading,
  describeOffset,
  freshReadings,
  judgeClock,
} from '@quorumscan/runtime'
import type { ChainEnd } from './chain.ts'
import { type Agreed, type ClockPause, stepRecordClock } from './record-clock.ts'

/** The nodes that follow the log, and their readings. */
export type Witnesses = {
  /** f + 1: one of so many is honest. */
  readonly needed: number
  /** n − f: so many answer when no more are faulty than is tolerated. */
  readonly enough: number
  /** The latest of each node. */
  readings(): readonly ClockReading[]
}

type End = Pick<ChainEnd, 'offset' | 'recordTime'>

/** How long the start waits for more nodes than it needs. They answer within a second, or not at all. */
const FOLLOWERS_WAIT_MS = 10_000

/** @param options.witnesses - Null: the clock and the log are believed. */
export function createLogGate(options: {
  readonly clock: Clock
  readonly witnesses: Witnesses | null
}) {
  const { clock, witnesses } = options
  const startedMs = clock.monotonicMs()
  let known = {
    agreed: null as Agreed,
    /** Whether enough followers reported the log to be whole. */
    isEndKnown: witnesses === null,
  }

  const look = (end: End) => {
    const now = { wallMicros: clock.nowMicros(), monotonicMs: clock.monotonicMs() }
    const readings = freshReadings(witnesses?.readings() ?? [], now)
    const verdict =
      witnesses === null
        ? ({ kind: 'agrees', offsetMicros: 0 } as const)
        : judgeClock({ readings, now, needed: witnesses.needed })
    const step = stepRecordClock(known.agreed, { now, verdict, last: end.recordTime })
    let { isEndKnown } = known
    const found = (result: Micros | ScanError) => ({
      known: { agreed: step.agreed, isEndKnown },
      result,
    })
    if (witnesses !== null && !isEndKnown) {
      const heads = readings.flatMap(({ head }) => head ?? [])
      const waitedMs = now.monotonicMs - startedMs
      const judged = judgeEnd({ heads, end: end.offset, witnesses, waitedMs })
      if (judged.kind === 'shorter') return found(shorter(end.offset, judged))
      isEndKnown = judged.kind === 'whole'
      if (step.pause === null && !isEndKnown) return found(unanswered(heads.length, witnesses))
    }
    if (step.pause === null) return found(step.recordTime)
    return found(paused(step.pause, readings.length, witnesses))
  }

  return {
    /** The record time of an entry that is appended now, or the reason why none may be written. */
    next(end: End): Micros | ScanError {
      const found = look(end)
      known = found.known
      return found.result
    },
    /** Why none may be written now; null: one may. It does not influence `next`. */
    refusal(end: End): ScanError | null {
      const { result } = look(end)
      return result instanceof ScanError ? result : null
    },
  }
}

/**
 * Whether the log is as long as its followers know it to be. A follower that reports a longer log may lie, or be the
 * only one that was not wiped: then so many must disagree that one of them is honest.
 */
export function judgeEnd(options: {
  /** What followers have applied. */
  readonly heads: readonly Offset[]
  readonly end: Offset
  readonly witnesses: Pick<Witnesses, 'needed' | 'enough'>
  readonly waitedMs: number
}):
  | { readonly kind: 'whole' | 'wait' }
  | { readonly kind: 'shorter'; readonly count: number; readonly head: Offset } {
  const { heads, end, waitedMs } = options
  const { needed, enough } = options.witnesses
  const longer = heads.filter((head) => head > end).sort((a, b) => b - a)
  // What as many as are needed have applied.
  const head = longer[needed - 1]
  if (head !== undefined) return { kind: 'shorter', count: longer.length, head }
  const others = heads.length - longer.length
  const isSettled = longer.length === 0 && waitedMs >= FOLLOWERS_WAIT_MS
  return { kind: others >= (isSettled ? needed : enough) ? 'whole' : 'wait' }
}

function shorter(end: Offset, judged: { count: number; head: Offset }): ScanError {
  return new ScanError(
    'LOG_REGRESSED',
    `The log ends at offset ${end}, but ${judged.count} nodes have applied it up to ${judged.head} or further: ` +
      'its directory was swapped, its end is lost, or another machine orders with its key: then stop one of the ' +
      'two for good. Put back the directory that has its end, or let ' +
      '`quorumscan log repair`, on a machine of its own `quorumscan restore --log`, refill it from what the nodes keep.',
    { details: { offset: end, applied: judged.head } },
  )
}

function unanswered(count: number, witnesses: Witnesses): ScanError {
  return new ScanError(
    'NOT_READY',
    `The log waits for ${witnesses.enough} nodes to say how far they have followed it; ${count} did.`,
    { details: { state: 'starting' }, retryAfterSeconds: 1 },
  )
}

function paused(pause: ClockPause, count: number, witnesses: Witnesses | null): ScanError {
  return new ScanError('CLOCK_OFF', sentenceOf(pause, count, witnesses), {
    details: { clock: pause },
    retryAfterSeconds: 1,
  })
}

function sentenceOf(pause: ClockPause, count: number, witnesses: Witnesses | null): string {
  const needed = witnesses?.needed ?? 0
  const seconds = CLOCK_TOLERANCE_MICROS / 1_000_000
  switch (pause.kind) {
    case 'unconfirmed':
      return (
        `The log waits until the clocks of ${needed} nodes agree with the synchronizer's within ${seconds} s; ` +
        `${count} answered.`
      )
    case 'off':
      return (
        `The synchronizer's clock is ${describeOffset(pause.offsetMicros, 'the time')}: nothing is ordered until ` +
        `${needed} nodes agree with it within ${seconds} s.`
      )
    case 'log-ahead':
      return (
        `The log's newest entry lies ${describeOffset(pause.byMicros, "the synchronizer's clock")}: ` +
        'nothing is ordered until the clock reaches it, or `quorumscan log repair` cuts it off, which it can ' +
        'while no node has applied it.'
      )
  }
}
