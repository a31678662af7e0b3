/**
 * The decisions on which correct reads depend, as one record of functions. The reader takes them as a parameter: a
 * test runs the real reader with one of them broken, and expects the checkers of `test/sim` to notice.
 */

import { type Genesis, thresholdVotes } from '@quorumscan/verifier'
import { isAbsence } from '../answers/batch.ts'
import { judgeReply, type Reply } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import { choosePin } from './pins.ts'
import { isSameVote, type Vote } from './tally.ts'

/** No timer of a running process is this late. */
const STALLED_MS = 250

export const DECISIONS = {
  /** Equal votes needed (D-36). */
  thresholdVotes,
  /** For each connection the index of its node. Each node has one connection, so that it votes once (D-34). */
  connections: ({ nodes }: Genesis): readonly number[] => nodes.map((_, index) => index),
  /** `at_offset` of a read that was pinned here (D-37). */
  atOffset: (pin: number): number | null => pin,
  choosePin,
  /** Judges a node's reply, or its absence (D-35). */
  judgeReply: (
    reply: TransportReply | Error,
    _asked: { readonly atOffset: number | null; readonly itemCount: number },
  ): Reply =>
    reply instanceof Error ? { kind: 'failed', reason: reply.message } : judgeReply(reply),
  /** Whether two votes count together (D-35). */
  isSameVote,
  /** Whether a vote counts. All do: absence is an answer too (D-35). */
  isVote: (_vote: Vote): boolean => true,
  // By record time, never by a wall clock (D-9), so that the second argument is unused.
  isAbsence: (vote: Vote, _nowMicros: number): boolean => isAbsence(vote.answer),
  /** Whether a node is known to fail (D-38). A silent one may still answer. */
  isDown: (lane: { readonly failureCount: number; readonly isSilent: boolean }) =>
    lane.failureCount > 1,
  /** Whether this process stalled, so that replies are read before a node counts as late. */
  isStalled: (missedMs: number): boolean => missedMs > STALLED_MS,
  /** D-39. */
  isStale: (options: {
    readonly recordTime: number
    readonly nowMicros: number
    readonly maxAgeMs: number
  }): boolean => options.nowMicros - options.recordTime > options.maxAgeMs * 1000,
}
export type Decisions = typeof DECISIONS
