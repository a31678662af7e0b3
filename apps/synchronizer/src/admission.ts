/**
 * Which entries are admitted to the log: well-formed, signed for this network, in time, within the bounds of one
 * entry, and within the rate budgets of sender and signer. Their commands are not interpreted; replicas check everything
 * again.
 */

import { type Clock, sha256Hex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { ENTRY_BYTES_MAX, unitsOfBytes } from '@quorumscan/ledger'
import { type EntryChecker, type OrderedLog, refusalByTime } from '@quorumscan/log'
import { LRUCache } from 'lru-cache'
import type { RateBudgets, Submitter } from './budgets.ts'
import type { DiskSpace } from './disk-space.ts'

/** Hashes of 10 min at 50 entries per second, 2 MiB. An evicted hash causes a second append, which has no effect. */
const REMEMBERED_MAX = 30_000

export function createAdmission(options: {
  readonly log: Pick<OrderedLog, 'append' | 'head' | 'refusal'>
  readonly checkEntry: EntryChecker
  readonly budgets: RateBudgets
  readonly clock: Clock
  readonly disk: Pick<DiskSpace, 'assertRoom' | 'note'>
}) {
  const { log, checkEntry, budgets, clock, disk } = options
  /** Hashes of entries that the log has. Repeating them would fill the log and use up the rate budget of the key. */
  const appended = new LRUCache<string, true>({ max: REMEMBERED_MAX })

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
        await log.append(bytes)
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
      disk.assertRoom()
      budgets.charge(submitter, checked.contractsUnits)
      budgets.spendOfKey(checked.participant, bytesUnits + checked.contractsUnits)
      disk.note(bytes.byteLength)
      await log.append(bytes)
      appended.set(entryHash, true)
    },
  }
}

function toScanError({ code, message }: Pick<ScanError, 'code' | 'message'>): ScanError {
  return new ScanError(code, message)
}
