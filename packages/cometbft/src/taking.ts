/** Which entries this member takes for blocks that it proposes, and so keeps and passes on, whoever offered them. */
import { type Clock, sha256Hex } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { type EntryRefusal, type Judge, type JudgedEntry, refusalByTime } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'
import { decodeBundle } from './bundles.ts'
import type { Senders } from './senders.ts'

/** Entries whose outcome is known: as many as are judged once. Who was forgotten pays again, or is proposed. */
const REMEMBERED_MAX = 10_000
const IS_ORDERED: EntryRefusal = {
  code: 'INVALID_ARGUMENT',
  message: 'the entry is in the log already',
}
const IS_OVER: EntryRefusal = {
  code: 'SUBMISSION_EXPIRED',
  message: 'every entry of the bundle is past its time: not after',
}
const NO_BUNDLE: EntryRefusal = {
  code: 'INVALID_ARGUMENT',
  message: 'this is no bundle of entries',
}

export function createTaking(options: {
  readonly judge: Judge
  readonly senders: Senders
  readonly isOrdered: (entryHash: string) => boolean
  /** Of the newest entry of the log. */
  readonly recordTime: () => Micros
  /** Takes the price of an entry from the key that signed it. @throws {ScanError} */
  readonly charge: (publicKey: string, units: number) => void
  /** @throws {ScanError} LOG_FULL. */
  readonly assertRoom: () => void
  readonly clock: Clock
}) {
  const { judge, senders, isOrdered, clock } = options
  const isTakenByHash = new LRUCache<string, boolean>({ max: REMEMBERED_MAX })

  /** What the bytes, the log and the time say. */
  const refusalOf = (judged: JudgedEntry): EntryRefusal | null => {
    if (judged.kind === 'refused') return judged.refusal
    if (isOrdered(judged.entryHash)) return IS_ORDERED
    const now = { recordTime: options.recordTime(), clockMicros: clock.nowMicros() }
    return refusalByTime(judged.notAfter, now) ?? judged.oversize
  }

  /** Why the entry is not taken, or null. Its key pays for it once. */
  const take = (bytes: Uint8Array): EntryRefusal | null => {
    const judged = judge(bytes)
    const refusal = refusalOf(judged)
    if (refusal !== null || judged.kind === 'refused') return refusal
    const { entryHash, participant, bytesPrice, contractsPrice } = judged
    if (isTakenByHash.get(entryHash) === true) return null
    try {
      options.assertRoom()
      options.charge(participant, bytesPrice + contractsPrice)
    } catch (error) {
      if (!isScanError(error)) throw error
      isTakenByHash.set(entryHash, false)
      return error
    }
    isTakenByHash.set(entryHash, true)
    return null
  }

  /** Whether an entry whose signature was verified before can still be in a block that this member proposes. */
  const waits = (bytes: Uint8Array): boolean => {
    const judged = judge.withoutSignature(bytes)
    return (
      refusalOf(judged) === null &&
      judged.kind === 'entry' &&
      isTakenByHash.get(judged.entryHash) !== false
    )
  }

  return {
    take,
    /**
     * Why the engine does not keep the bundle, or null: it keeps one as long as an entry of it waits for a block. Entries
     * beside that one which were refused are not proposed here, and hold nobody up.
     *
     * @param isRecheck - It was kept before, and there was a block since.
     */
    refuse(bundle: Uint8Array, isRecheck: boolean): EntryRefusal | null {
      const decoded = decodeBundle(bundle)
      if (decoded === null) return NO_BUNDLE
      const { entries, seal } = decoded
      if (isRecheck) return entries.some(waits) ? null : IS_ORDERED
      // From what costs least to what costs most. What another member can repeat, it does at nobody's expense.
      if (seal !== null && seal.notAfter <= options.recordTime()) return IS_OVER
      if (entries.every((bytes) => isOrdered(sha256Hex(bytes)))) return IS_ORDERED
      const refusal = senders.admit(decoded)
      if (refusal !== null) return refusal
      const read = entries.map((bytes) => ({ bytes, judged: judge.withoutSignature(bytes) }))
      const malformed = read.find(({ judged }) => judged.kind === 'refused')?.judged
      if (malformed?.kind === 'refused') return malformed.refusal
      const inTime = read.filter(({ judged }) => refusalOf(judged) === null)
      for (const { bytes } of inTime) {
        const judged = judge(bytes)
        if (judged.kind === 'refused') return judged.refusal
      }
      const refusals = inTime.map(({ bytes }) => take(bytes))
      if (refusals.includes(null)) return null
      return refusals[0] ?? read.map(({ judged }) => refusalOf(judged))[0] ?? NO_BUNDLE
    },
    /** The entries in these bundles that were not refused, each once. */
    entriesOf(bundles: readonly Uint8Array[]): Uint8Array[] {
      const seen = new Set<string>()
      return bundles
        .flatMap((bundle) => decodeBundle(bundle)?.entries ?? [])
        .filter((bytes) => {
          const entryHash = sha256Hex(bytes)
          if (seen.has(entryHash)) return false
          seen.add(entryHash)
          return waits(bytes)
        })
    },
  }
}

export type Taking = ReturnType<typeof createTaking>
