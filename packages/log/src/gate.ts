/**
 * Decides whether the synchronizer may write now: its clock is right, and its log is as long as the nodes know it to be.
 * The writer asks the gate before each group, so that no replica has to wait until an entry's record time is reached.
 */

import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { LogPosition, Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_TOLERANCE_MICROS,
  type ClockReading,
  compareClock,
  describeClockSkew,
  freshReadings,
} from '@quorumscan/runtime'
import { type ClockPause, type LastAgreement, stepRecordClock } from './record-clock.ts'

/** The nodes that follow the log. They confirm its length and the synchronizer's clock. */
export type ConfirmingNodes = {
  /** f + 1: of so many nodes at least one is honest. */
  readonly confirmationsMin: number
  /** n − f: so many nodes answer if no more are faulty than is tolerated. */
  readonly answersExpected: number
  /** The latest reading of each node. */
  readings(): readonly ClockReading[]
}

/** How long the start waits for more nodes than it needs. A node answers within a second, or not at all. */
const NODES_WAIT_MS = 10_000

/** @param options.confirmingNodes - Null: the gate trusts the clock and the log. */
export function createLogGate(options: {
  readonly clock: Clock
  readonly confirmingNodes: ConfirmingNodes | null
}) {
  const { clock, confirmingNodes: nodes } = options
  const startedMs = clock.monotonicMs()
  let known = {
    agreed: null as LastAgreement,
    /** Whether enough nodes have confirmed that the log is whole. */
    isEndKnown: nodes === null,
  }

  const look = (end: LogPosition) => {
    const now = { wallMicros: clock.nowMicros(), monotonicMs: clock.monotonicMs() }
    const readings = freshReadings(nodes?.readings() ?? [], now)
    const verdict =
      nodes === null
        ? ({ kind: 'agrees', skewMicros: 0 } as const)
        : compareClock({ readings, now, needed: nodes.confirmationsMin })
    const step = stepRecordClock(known.agreed, { now, verdict, last: end.recordTime })
    const { agreed } = step
    let { isEndKnown } = known
    const found = (result: Micros | ScanError) => ({ known: { agreed, isEndKnown }, result })
    if (nodes !== null && !isEndKnown) {
      const heads = readings.flatMap(({ head }) => head ?? [])
      const waitedMs = now.monotonicMs - startedMs
      const judged = judgeEnd({ heads, end: end.offset, confirmingNodes: nodes, waitedMs })
      if (judged.kind === 'shorter') return found(shorter(end.offset, judged))
      isEndKnown = judged.kind === 'whole'
      if (step.pause === null && !isEndKnown) return found(unconfirmed(heads.length, nodes))
    }
    if (step.pause === null) return found(step.recordTime)
    const sentence = sentenceOf(step.pause, readings.length, nodes?.confirmationsMin ?? 0)
    const details = { clock: step.pause }
    return found(new ScanError('CLOCK_OFF', sentence, { details, retryAfterSeconds: 1 }))
  }

  return {
    /** The record time for an entry that is appended now, or the reason why the writer may append none. */
    next(end: LogPosition): Micros | ScanError {
      const found = look(end)
      known = found.known
      return found.result
    },
    /** Why the writer may append no entry now; null: it may. A call does not influence `next`. */
    refusal(end: LogPosition): ScanError | null {
      const { result } = look(end)
      return result instanceof ScanError ? result : null
    },
  }
}

/**
 * Judges whether the log is as long as the nodes know it to be. A node that reports a longer log may lie, or may be the
 * only node that was not wiped. So the log counts as shorter only if so many nodes report more that one of them is honest.
 */
export function judgeEnd(options: {
  /** The offset up to which each node has applied the log. */
  readonly heads: readonly Offset[]
  readonly end: Offset
  readonly confirmingNodes: Pick<ConfirmingNodes, 'confirmationsMin' | 'answersExpected'>
  readonly waitedMs: number
}):
  | { readonly kind: 'whole' | 'wait' }
  | { readonly kind: 'shorter'; readonly count: number; readonly head: Offset } {
  const { heads, end, waitedMs } = options
  const { confirmationsMin, answersExpected } = options.confirmingNodes
  const longer = heads.filter((head) => head > end).sort((a, b) => b - a)
  // At least `confirmationsMin` nodes have applied this offset.
  const head = longer[confirmationsMin - 1]
  if (head !== undefined) return { kind: 'shorter', count: longer.length, head }
  const others = heads.length - longer.length
  const isSettled = longer.length === 0 && waitedMs >= NODES_WAIT_MS
  return { kind: others >= (isSettled ? confirmationsMin : answersExpected) ? 'whole' : 'wait' }
}

function shorter(end: Offset, judged: { count: number; head: Offset }): ScanError {
  return new ScanError(
    'LOG_REGRESSED',
    `The log ends at offset ${end}, but ${judged.count} nodes have applied it up to offset ${judged.head} or further. ` +
      'Its directory was replaced, its end was lost, or another machine orders with the same key. If another machine ' +
      'orders, stop one of the two for good. Otherwise restore the directory that has the end, or run ' +
      '`quorumscan log repair` (on a machine of its own `quorumscan restore --log`), which refills the log from the ' +
      'groups that the nodes store.',
    { details: { offset: end, applied: judged.head } },
  )
}

function unconfirmed(count: number, nodes: ConfirmingNodes): ScanError {
  const message = `The log waits for ${nodes.answersExpected} nodes to report how far they have applied it; ${count} have reported.`
  return new ScanError('NOT_READY', message, {
    details: { state: 'starting' },
    retryAfterSeconds: 1,
  })
}

function sentenceOf(pause: ClockPause, count: number, needed: number): string {
  const seconds = CLOCK_TOLERANCE_MICROS / 1_000_000
  switch (pause.kind) {
    case 'unconfirmed':
      return (
        `The log waits until the clocks of ${needed} nodes agree with the synchronizer's clock within ${seconds} s; ` +
        `${count} nodes have answered.`
      )
    case 'off':
      return (
        `The synchronizer's clock is ${describeClockSkew(pause.skewMicros, 'the time')}. Correct the clock: nothing is ` +
        `ordered until ${needed} nodes agree with it within ${seconds} s.`
      )
    case 'log-ahead':
      return (
        `The newest entry of the log is ${describeClockSkew(pause.byMicros, "the synchronizer's clock")}. ` +
        'Nothing is ordered until the clock reaches it. While no node has applied the entry, ' +
        '`quorumscan log repair` can cut it off.'
      )
  }
}
