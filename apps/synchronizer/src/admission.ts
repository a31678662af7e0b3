/**
 * Which entries get into the log: well-formed, signed for this network, in time, within the bounds of one
 * entry, and not more than who sends and who signs may make the replicas work. What they do is not looked at;
 * replicas check everything again.
 */

import { type Clock, sha256, toHex } from '@quorumscan/base'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import {
  decodeEntry,
  ENTRY_BYTES_MAX,
  priceOfBytes,
  priceOfContracts,
  weigh,
} from '@quorumscan/ledger'
import type { LogWriter } from '@quorumscan/log'
import { LRUCache } from 'lru-cache'
import type { Budgets, Submitter } from './budgets.ts'
import type { DiskSpace } from './disk-space.ts'

/** Hashes of 10 min at 50 entries a second, 2 MiB. One that was forgotten is appended again: no harm. */
const REMEMBERED_MAX = 30_000

export type Admission = {
  /**
   * Resolves when the entry is in the log.
   *
   * @throws {ScanError} INVALID_ARGUMENT, LIMIT_EXCEEDED, BODY_TOO_LARGE, RATE_LIMITED, SUBMISSION_EXPIRED, CLOCK_OFF,
   *   LOG_FULL, or what `LogWriter.append` throws.
   */
  submit(bytes: Uint8Array, submitter: Submitter): Promise<void>
}

export function createAdmission(options: {
  readonly writer: Pick<LogWriter, 'append' | 'head' | 'refusal'>
  /** Hex. */
  readonly genesisHash: string
  readonly budgets: Budgets
  readonly clock: Clock
  readonly disk: Pick<DiskSpace, 'assertRoom' | 'note'>
}): Admission {
  const { writer, genesisHash, budgets, clock, disk } = options
  /** In the log already: repeating them fills it, and would use up the budget of the key's owner. */
  const appended = new LRUCache<string, true>({ max: REMEMBERED_MAX })

  return {
    async submit(bytes, submitter) {
      if (bytes.byteLength > ENTRY_BYTES_MAX)
        throw new ScanError('BODY_TOO_LARGE', `an entry has at most ${ENTRY_BYTES_MAX} bytes`)
      const bytesPrice = priceOfBytes(bytes.byteLength)
      // Before it is hashed and decoded, which takes as long as what a replica does with refused bytes.
      budgets.admit(submitter, bytesPrice)
      const entryHash = toHex(sha256(bytes))
      if (appended.has(entryHash)) return
      const decoded = decodeEntry(bytes, genesisHash)
      if (decoded.kind !== 'submission')
        throw new ScanError(
          'INVALID_ARGUMENT',
          decoded.kind === 'ignored'
            ? `every replica would ignore this entry: ${decoded.reason}`
            : 'checkpoints are made by the synchronizer itself',
        )
      const { participant, notAfter } = decoded.submission
      const pause = writer.refusal()
      if (pause !== null) throw pause
      const { recordTime } = writer.head()
      // An idle log stands still. An entry that is ignored as too early could act when it is appended again.
      const newest = Math.max(recordTime, clock.nowMicros())
      if (notAfter <= recordTime)
        throw new ScanError(
          'SUBMISSION_EXPIRED',
          'every replica would ignore this entry: not after',
        )
      // Record time may come near it: the entry is refused now, not for good.
      if (notAfter > newest + NOT_AFTER_MICROS_MAX)
        throw new ScanError(
          'CLOCK_OFF',
          'every replica would ignore this entry: not after lies more than 10 min ahead of the log, by whose ' +
            "clock the participant's is fast",
        )
      const { refusal } = weigh(decoded.submission)
      if (refusal !== null)
        throw new ScanError(
          'LIMIT_EXCEEDED',
          `every replica would refuse this entry: ${refusal.message}`,
        )
      disk.assertRoom()
      const contractsPrice = priceOfContracts(decoded.submission)
      budgets.charge(submitter, contractsPrice)
      budgets.admitKey(submitter, participant, bytesPrice + contractsPrice)
      disk.note(bytes.byteLength)
      await writer.append(bytes)
      appended.set(entryHash, true)
    },
  }
}
