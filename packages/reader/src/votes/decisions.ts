/**
 * The decisions that make a read right, as one record of functions. The reader takes them as a
 * parameter, so that a test can run the real reader with one of them broken and see that the checkers
 * of `test/sim` notice.
 */

import type { Genesis } from '@quorumscan/verifier'
import { type Threshold, thresholdVotes } from '@quorumscan/verifier'
import { isAbsence } from '../answers/batch.ts'
import { judgeReply, type Reply } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import { choosePin } from './pins.ts'
import { isSameVote, type Vote } from './tally.ts'

export type Decisions = {
  /** Equal votes needed (D-36). */
  thresholdVotes(threshold: Threshold, nodeCount: number): number | undefined
  /** Index of the node behind each connection, whose votes are one voter's (D-34): one each. */
  connections(genesis: Genesis): readonly number[]
  /** `at_offset` of a read that was pinned here (D-37). */
  atOffset(pin: number): number | null
  choosePin(
    heads: readonly number[],
    options: { readonly threshold: number; readonly floor: number },
  ): number | null
  /** What a node's answer, or its absence, amounts to (D-35). */
  judgeReply(
    reply: TransportReply | Error,
    asked: { readonly atOffset: number | null; readonly itemCount: number },
  ): Reply
  /** Whether two votes count together (D-35). */
  isSameVote(a: Vote, b: Vote): boolean
  /** Whether a vote is none of the kind that counts, after all (D-35: absence is an answer). */
  isVote(vote: Vote): boolean
  isAbsence(vote: Vote, nowMicros: number): boolean
  /** Whether a node is known not to answer now (D-38); who is only silent may still. */
  isGone(node: { readonly failureCount: number; readonly isSilent: boolean }): boolean
  /** Whether the reader itself stood still, so that what came meanwhile is read before anybody is late. */
  isStalled(missedMs: number): boolean
  /** D-39. */
  isStale(options: {
    readonly recordTime: number
    readonly nowMicros: number
    readonly maxAgeMs: number
  }): boolean
}

/** Later than that no timer of a process comes that runs. */
const STALLED_MS = 250

export const DECISIONS: Decisions = {
  thresholdVotes,
  connections: (genesis) => genesis.nodes.map((_, index) => index),
  atOffset: (pin) => pin,
  choosePin,
  judgeReply: (reply) =>
    reply instanceof Error ? { kind: 'failed', reason: reply.message } : judgeReply(reply),
  isSameVote,
  isVote: () => true,
  // D-9: by record time, never by a wall clock; so the second argument is not looked at.
  isAbsence: (vote) => isAbsence(vote.answer),
  isGone: ({ failureCount }) => failureCount > 1,
  isStalled: (missedMs) => missedMs > STALLED_MS,
  isStale: (options) => options.nowMicros - options.recordTime > options.maxAgeMs * 1000,
}
