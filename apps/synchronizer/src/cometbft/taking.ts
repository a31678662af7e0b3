/** Which entries this member takes for blocks that it proposes, and so keeps and passes on, whoever offered them. */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { Micros } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'
import { type Judge, type JudgedEntry, type Refusal, refusalByTime } from '../judge-entry.ts'
import { decodeBundle } from './bundles.ts'

export type Taking = {
  /** Why the entry is not taken, or null. Its key pays for it once. */
  take(bytes: Uint8Array): Refusal | null
  /**
   * Why the engine does not keep the bundle, or null: it keeps one as long as an entry of it waits for a block. Entries
   * beside that one which were refused are not proposed here, and hold nobody up.
   *
   * @param isRecheck - It was kept before, and there was a block since.
   */
  refuse(bundle: Uint8Array, isRecheck: boolean): Refusal | null
  /** The entries in these bundles that were not refused, each once. */
  entriesOf(bundles: readonly Uint8Array[]): Uint8Array[]
}

/** Entries whose outcome is known: as many as are judged once. Who was forgotten pays again, or is proposed. */
const REMEMBERED_MAX = 10_000
const IS_ORDERED: Refusal = { code: 'INVALID_ARGUMENT', message: 'the entry is in the log already' }
const NO_BUNDLE: Refusal = { code: 'INVALID_ARGUMENT', message: 'this is no bundle of entries' }

export function createTaking(options: {
  readonly judge: Judge
  readonly isOrdered: (entryHash: string) => boolean
  /** Of the newest entry of the log. */
  readonly recordTime: () => Micros
  /** Takes the price of an entry from the key that signed it. @throws {ScanError} */
  readonly charge: (publicKey: string, units: number) => void
  /** @throws {ScanError} LOG_FULL. */
  readonly assertRoom: () => void
  readonly clock: Clock
}): Taking {
  const { judge, isOrdered, clock } = options
  const isTakenByHash = new LRUCache<string, boolean>({ max: REMEMBERED_MAX })

  /** What the bytes, the log and the time say. */
  const refusalOf = (judged: JudgedEntry): Refusal | null => {
    if (judged.kind === 'refused') return judged.refusal
    if (isOrdered(judged.entryHash)) return IS_ORDERED
    const now = { recordTime: options.recordTime(), clockMicros: clock.nowMicros() }
    return refusalByTime(judged.notAfter, now) ?? judged.oversize
  }

  const take = (bytes: Uint8Array): Refusal | null => {
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

  const waits = (bytes: Uint8Array): boolean => {
    const judged = judge(bytes)
    return (
      refusalOf(judged) === null &&
      judged.kind === 'entry' &&
      isTakenByHash.get(judged.entryHash) !== false
    )
  }

  return {
    take,
    refuse(bundle, isRecheck) {
      const entries = decodeBundle(bundle)
      if (entries === null) return NO_BUNDLE
      if (isRecheck) return entries.some(waits) ? null : IS_ORDERED
      const malformed = entries.map(judge).find(({ kind }) => kind === 'refused')
      if (malformed?.kind === 'refused') return malformed.refusal
      const refusals = entries.map(take)
      return refusals.includes(null) ? null : (refusals[0] ?? NO_BUNDLE)
    },
    entriesOf(bundles) {
      const seen = new Set<string>()
      return bundles
        .flatMap((bundle) => decodeBundle(bundle) ?? [])
        .filter((bytes) => {
          const judged = judge(bytes)
          if (judged.kind === 'refused' || seen.has(judged.entryHash)) return false
          seen.add(judged.entryHash)
          return isTakenByHash.get(judged.entryHash) !== false
        })
    },
  }
}
