/**
 * The entries that this member admits to blocks that it proposes, and so stores and passes on, from whichever member they
 * come. It also bounds how much of its time each sender of bundles may take. A sender is the engine whose key signed the
 * bundle; all bundles that no known engine signed count as one sender.
 */
import { type Clock, sha256Hex, toHex } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { unitsOfBytes } from '@quorumscan/ledger'
import { type EntryChecker, type EntryRefusal, refusalByTime } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'
import { type Bundle, decodeBundle, isBundleSigned } from './bundles.ts'
import { nodeIdOf } from './engine-files.ts'

/**
 * Charges the sender of a bundle; null is the sender of all bundles that no known engine signed.
 *
 * @throws {ScanError} RATE_LIMITED, if it is in debt.
 */
type ChargeSender = (nodeId: string | null, units: number) => void

/** Entries whose admission is cached: as many as `createEntryChecker` caches. An evicted entry pays again, or is proposed. */
const REMEMBERED_MAX = 10_000
/** Bundles that are paid for. A member may relay the bundle of another, which must not pay for it twice. */
const PAID_MAX = 10_000
const invalid = (message: string): EntryRefusal => ({ code: 'INVALID_ARGUMENT', message })
const NOT_SIGNED = invalid('the engine that the bundle names did not sign it')
const ALREADY_ORDERED = invalid('the entry is in the log already')
const NOT_A_BUNDLE = invalid('this is not a bundle of entries')
const EXPIRED: EntryRefusal = {
  code: 'SUBMISSION_EXPIRED',
  message: 'every entry of the bundle has expired: its `notAfter` has passed',
}

export type MempoolOptions = {
  readonly genesisHash: string
  /** The id of this member's engine. Its bundles cost nothing: their entries have been paid for. */
  readonly ownId: string
  readonly isPeer: (nodeId: string) => boolean
  readonly checkEntry: EntryChecker
  readonly isOrdered: (entryHash: string) => boolean
  /** The record time of the newest entry of the log. */
  readonly recordTime: () => Micros
  /** Charges the key that signed an entry for its cost. @throws {ScanError} RATE_LIMITED. */
  readonly charge: (publicKey: string, units: number) => void
  readonly chargeSender: ChargeSender
  /** @throws {ScanError} LOG_FULL, if this member has no room for an entry that adds to the state, or for any. */
  readonly assertRoom: (entry: { readonly adds: boolean }) => void
  readonly clock: Clock
}

export function createMempoolPolicy(options: MempoolOptions) {
  const { genesisHash, ownId, checkEntry, isOrdered, clock } = options
  const isAdmittedByHash = new LRUCache<string, boolean>({ max: REMEMBERED_MAX })
  const paid = new LRUCache<string, true>({ max: PAID_MAX })

  /** Why the bytes, the log or the time refuse an entry; null: they do not. */
  const refusalOf = (checked: ReturnType<EntryChecker>): EntryRefusal | null => {
    if (checked.kind === 'refused') return checked.refusal
    if (isOrdered(checked.entryHash)) return ALREADY_ORDERED
    const now = { recordTime: options.recordTime(), clockMicros: clock.nowMicros() }
    return refusalByTime(checked.notAfter, now) ?? checked.oversize
  }

  /** Why the entry is not admitted, or null. Its key pays for it once. */
  const admit = (bytes: Uint8Array): EntryRefusal | null => {
    const checked = checkEntry(bytes)
    const refusal = refusalOf(checked)
    if (refusal !== null || checked.kind === 'refused') return refusal
    const { entryHash, participant, bytesUnits, contractsUnits } = checked
    if (isAdmittedByHash.get(entryHash) === true) return null
    try {
      options.assertRoom(checked)
      options.charge(participant, bytesUnits + contractsUnits)
    } catch (error) {
      if (!isScanError(error)) throw error
      isAdmittedByHash.set(entryHash, false)
      return error
    }
    isAdmittedByHash.set(entryHash, true)
    return null
  }

  /** Whether an entry whose signature was verified before can still be in a block that this member proposes. */
  const waits = (bytes: Uint8Array): boolean => {
    const checked = checkEntry.withoutSignature(bytes)
    return (
      refusalOf(checked) === null &&
      checked.kind === 'entry' &&
      isAdmittedByHash.get(checked.entryHash) !== false
    )
  }

  /** Charges the sender of the bundle. Why this member does not check the bundle; null: its sender has paid. */
  const refusalAfterCharge = ({ entries, signature }: Bundle): EntryRefusal | null => {
    const nodeId = signature === null ? null : nodeIdOf(signature.publicKey)
    const sender = nodeId !== null && (nodeId === ownId || options.isPeer(nodeId)) ? nodeId : null
    const key = signature === null || sender === null ? null : sender + toHex(signature.contentHash)
    if (key !== null && paid.has(key)) return null
    try {
      // A sender that is in debt does not even have its signature verified.
      if (sender !== ownId) options.chargeSender(sender, 0)
      if (signature !== null && sender !== null && !isBundleSigned(signature, genesisHash))
        return NOT_SIGNED
      const units = entries.reduce((sum, { byteLength }) => sum + unitsOfBytes(byteLength), 0)
      if (sender !== ownId) options.chargeSender(sender, units)
      if (key !== null) paid.set(key, true)
      return null
    } catch (error) {
      if (isScanError(error)) return error
      throw error
    }
  }

  return {
    admit,
    /**
     * Why the engine does not keep the bundle, or null: it keeps one as long as an entry of it waits for a block. Its other
     * entries, if refused, are not proposed here, and delay no entry.
     *
     * @param options.isRecheck - The engine stored the bundle before, and a block was committed since.
     */
    check(bundle: Uint8Array, { isRecheck = false } = {}): EntryRefusal | null {
      const decoded = decodeBundle(bundle)
      if (decoded === null) return NOT_A_BUNDLE
      const { entries, signature } = decoded
      if (isRecheck) return entries.some(waits) ? null : ALREADY_ORDERED
      // The cheapest checks come first. A bundle that another member sends again costs its sender nothing.
      if (signature !== null && signature.notAfter <= options.recordTime()) return EXPIRED
      if (entries.every((bytes) => isOrdered(sha256Hex(bytes)))) return ALREADY_ORDERED
      const refusal = refusalAfterCharge(decoded)
      if (refusal !== null) return refusal
      const read = entries.map((bytes) => ({ bytes, checked: checkEntry.withoutSignature(bytes) }))
      const malformed = read.find(({ checked }) => checked.kind === 'refused')?.checked
      if (malformed?.kind === 'refused') return malformed.refusal
      const inTime = read.filter(({ checked }) => refusalOf(checked) === null)
      for (const { bytes } of inTime) {
        const checked = checkEntry(bytes)
        if (checked.kind === 'refused') return checked.refusal
      }
      const refusals = inTime.map(({ bytes }) => admit(bytes))
      if (refusals.includes(null)) return null
      return refusals[0] ?? read.map(({ checked }) => refusalOf(checked))[0] ?? NOT_A_BUNDLE
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

export type MempoolPolicy = ReturnType<typeof createMempoolPolicy>
