/**
 * The decisions that make a read right, as one record of functions. The reader takes them as a
 * parameter, so that a test can run the real reader with one of them broken and see that the checkers
 * of `test/sim` notice.
 */

import type { Genesis } from '@quorumscan/verifier'
import { thresholdVotes } from '@quorumscan/verifier'
import { isAbsence } from '../answers/batch.ts'
import { judgeReply, type Reply } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import { choosePin } from './pins.ts'
import { isSameVote, type Vote } from './tally.ts'

/** Later than that no timer of a process comes that runs. */
const STALLED_MS = 250

export const DECISIONS = {
  /** Equal votes needed (D-36). */
  thresholdVotes,
  /** Index of the node behind each connection, whose votes are one voter's (D-34): one each. */
  connections: ({ nodes }: Genesis): readonly number[] => nodes.map((_, index) => index),
  /** `at_offset` of a read that was pinned here (D-37). */
  atOffset: (pin: number): number | null => pin,
  choosePin,
  /** What a node's answer, or its absence, amounts to (D-35). */
  judgeReply: (
    reply: TransportReply | Error,
    _asked: { readonly atOffset: number | null; readonly itemCount: number },
  ): Reply =>
    reply instanceof Error ? { kind: 'failed', reason: reply.message } : judgeReply(reply),
  /** Whether two votes count together (D-35). */
  isSameVote,
  /** Whether a vote is none of the kind that counts, after all (D-35: absence is an answer). */
  isVote: (_vote: Vote): boolean => true,
  // D-9: by record time, never by a wall clock; so the second argument is not looked at.
  isAbsence: (vote: Vote, _nowMicros: number): boolean => isAbsence(vote.answer),
  /** Whether a node is known not to answer now (D-38); one that is only silent may still. */
  isGone: ({ failureCount }: { readonly failureCount: number; readonly isSilent: boolean }) =>
    failureCount > 1,
  /** Whether the reader itself stalled, so that what came meanwhile is read before any node is late. */
  isStalled: (missedMs: number): boolean => missedMs > STALLED_MS,
  /** D-39. */
  isStale: (options: {
    readonly recordTime: number
    readonly nowMicros: number
    readonly maxAgeMs: number
  }): boolean => options.nowMicros - options.recordTime > options.maxAgeMs * 1000,
}
export type Decisions = typeof DECISIONS
