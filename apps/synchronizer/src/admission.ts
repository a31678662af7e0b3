/**
 * Which entries are admitted to the log: well-formed, signed for this network, in time, within the bounds of one
 * entry, and within the rate budgets of sender and signer. Nodes say whether the state refuses an entry; replicas check
 * everything again.
 */

import { type Clock, sha256Hex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { ENTRY_BYTES_MAX, unitsOfBytes } from '@quorumscan/ledger'
import { type EntryChecker, type OrderedLog, refusalByTime } from '@quorumscan/log'
import { LRUCache } from 'lru-cache'
import type { RateBudgets, Submitter } from './budgets.ts'
import type { Room } from './room.ts'
import type { StateJudge } from './state-judge.ts'

/** Hashes of 10 min at 50 entries per second, 2 MiB. An evicted hash causes a second append, which has no effect. */
const REMEMBERED_MAX = 30_000

/** What an entry takes in the log next to its own bytes: its place in the group, its hash, and its id until `notAfter`. */
const OVERHEAD_BYTES = 400
/**
 * Bytes that stay without an effect, for a unit: the budget of an address, 50 units per second, leaves 280 MB of them a
 * day at most.
 */
const REFUSED_BYTES_PER_UNIT = 64

/** What a refused entry costs its sender, afterwards: the bytes that it leaves (D-95). */
export function refusedUnits(bytes: number): number {
  return Math.ceil((bytes + OVERHEAD_BYTES) / REFUSED_BYTES_PER_UNIT)
}

/** Counts what operators and tests want to know of entries of anonymous clients. */
export type EntryCounts = {
  /** An entry is admitted whose judgement was late. */
  unjudged(): void
  /** The sender of a refused entry that is in the log owes so many units. */
  refusedUnits(units: number): void
}

export function createAdmission(options: {
  readonly log: Pick<OrderedLog, 'append' | 'head' | 'refusal'>
  readonly checkEntry: EntryChecker
  readonly budgets: RateBudgets
  readonly clock: Clock
  readonly room: Pick<Room, 'assertRoom' | 'note'>
  /** What the state says about the entry of an anonymous client. */
  readonly judge: Pick<StateJudge, 'before' | 'wasRefused'>
  readonly count: EntryCounts
}) {
  const { log, checkEntry, budgets, clock, room, judge, count } = options
  /** Hashes of entries that the log has. Repeating them would fill the log and use up the rate budget of the key. */
  const appended = new LRUCache<string, true>({ max: REMEMBERED_MAX })

  /** What is not known costs nothing. */
  const chargeIfRefused = async (bytes: Uint8Array, submitter: Submitter): Promise<void> => {
    const isRefused = await judge.wasRefused(bytes, submitter.client)
    if (!isRefused) return
    const units = refusedUnits(bytes.byteLength)
    budgets.settle(submitter, units)
    count.refusedUnits(units)
  }

  return {
    /**
     * Resolves when the entry is in the log. Empty bytes ask for a checkpoint, as `OrderedLog.append` does.
     *
     * @throws {ScanError} INVALID_ARGUMENT, LIMIT_EXCEEDED, BODY_TOO_LARGE, RATE_LIMITED, SUBMISSION_EXPIRED,
     *   CLOCK_OFF, LOG_FULL, or what `OrderedLog.append` throws.
     */
    async submit(bytes: Uint8Array, submitter: Submitter): Promise<void> {
      if (bytes.byteLength > ENTRY_BYTES_MAX)
        throw new ScanError('BODY_TOO_LARGE', `an entry has at most ${ENTRY_BYTES_MAX} bytes`)
      const bytesUnits = unitsOfBytes(bytes.byteLength)
      // The sender pays before hashing and decoding, which cost as much as a replica's refusal of the bytes.
      budgets.spend(submitter, bytesUnits)
      if (bytes.byteLength === 0) {
        const reason = log.refusal()
        if (reason !== null) throw reason
        await log.append(bytes, submitter.client)
        return
      }
      const entryHash = sha256Hex(bytes)
      if (appended.has(entryHash)) return
      const checked = checkEntry(bytes)
      if (checked.kind === 'refused') throw toScanError(checked.refusal)
      const pause = log.refusal()
      if (pause !== null) throw pause
      const now = { recordTime: log.head().recordTime, clockMicros: clock.nowMicros() }
      const refusal = refusalByTime(checked.notAfter, now) ?? checked.oversize
      if (refusal !== null) throw toScanError(refusal)
      room.assertRoom(checked)
      budgets.charge(submitter, checked.contractsUnits)
      budgets.spendOfKey(checked.participant, bytesUnits + checked.contractsUnits)
      // A peer has asked its own replica. The loser of a race between peers must reach the log, which states the outcome.
      if (!submitter.isPeer) {
        const judgement = await judge.before(bytes, submitter.client)
        if (judgement.refusal !== null) throw toScanError(judgement.refusal)
        if (judgement.isLate) count.unjudged()
        // Unknown bytes count as those of the entry.
        budgets.chargeGrowth(submitter, judgement.growth ?? bytes.byteLength)
      }
      room.note(bytes.byteLength)
      await log.append(bytes, submitter.client)
      appended.set(entryHash, true)
      if (!submitter.isPeer) void chargeIfRefused(bytes, submitter)
    },
  }
}

function toScanError({ code, message }: Pick<ScanError, 'code' | 'message'>): ScanError {
  return new ScanError(code, message)
}
