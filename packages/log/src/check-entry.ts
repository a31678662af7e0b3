/**
 * Checks an entry by its bytes and a time alone. Pure: the verdict is the same on every machine.
 * Its effects are not checked here; replicas check everything again.
 */
import { sha256Hex } from '@quorumscan/base'
import type { ErrorCode } from '@quorumscan/errors'
import {
  addsToState,
  countContracts,
  isEntrySigned,
  KNOWN_RULES,
  readEntry,
  unitsOfBytes,
  unitsOfContracts,
} from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'

/** Why an entry is refused, for the client that submits it. */
export type EntryRefusal = { readonly code: ErrorCode; readonly message: string }

export type CheckedEntry =
  | { readonly kind: 'refused'; readonly refusal: EntryRefusal }
  | {
      readonly kind: 'entry'
      /** SHA-256 of the bytes, hex. */
      readonly entryHash: string
      /** Public key, hex. */
      readonly participant: string
      readonly notAfter: Micros
      /** Units of its bytes, and of the contracts that it names at most (`entry-units.ts` of the ledger). */
      readonly bytesUnits: number
      readonly contractsUnits: number
      /** By version of the protocol that this software knows: how many contracts the entry makes replicas read. */
      readonly contractCounts: ReadonlyMap<number, number>
      /** Whether its commands may add to the state. A full log accepts only entries that do not. */
      readonly adds: boolean
      /** Why every replica would refuse it for what it holds, whichever of these versions is in force, or null. */
      readonly oversize: EntryRefusal | null
    }

export type EntryChecker = ReturnType<typeof createEntryChecker>

/** A member checks an entry several times: when it is submitted, proposed, and passed on. Some seconds, 4 MiB. */
const CHECKED_MAX = 10_000

/**
 * Caches entries whose signature it has verified, and no others: a client can make unsigned ones at no cost.
 *
 * @param rules - Versions of the protocol, in ascending order.
 */
export function createEntryChecker(genesisHash: string, rules = KNOWN_RULES) {
  const checkedByHash = new LRUCache<string, CheckedEntry>({ max: CHECKED_MAX })
  /** Entries that were decoded but not verified. Verification usually follows, with the same bytes. */
  const readByBytes = new WeakMap<Uint8Array, CheckedEntry>()
  /** Checks form and network, and measures what the entry names. The signature is most of the work. */
  const withoutSignature = (bytes: Uint8Array): CheckedEntry => {
    const known = checkedByHash.get(sha256Hex(bytes)) ?? readByBytes.get(bytes)
    if (known !== undefined) return known
    const read = measureEntry(bytes, genesisHash, rules)
    readByBytes.set(bytes, read)
    return read
  }
  /** As `withoutSignature`, and verifies the signature. */
  const checkEntry = (bytes: Uint8Array): CheckedEntry => {
    const read = withoutSignature(bytes)
    if (read.kind === 'refused' || checkedByHash.has(read.entryHash)) return read
    if (!isEntrySigned(bytes, genesisHash)) return ignored('bad signature')
    checkedByHash.set(read.entryHash, read)
    return read
  }
  return Object.assign(checkEntry, { withoutSignature })
}

type KnownRules = typeof KNOWN_RULES

function measureEntry(bytes: Uint8Array, genesisHash: string, known: KnownRules): CheckedEntry {
  const decoded = readEntry(bytes, genesisHash)
  if (decoded.kind === 'ignored') return ignored(decoded.reason)
  if (decoded.kind === 'checkpoint') {
    const message = 'checkpoints are made by the synchronizer itself'
    return { kind: 'refused', refusal: { code: 'INVALID_ARGUMENT', message } }
  }
  const { submission, entryHash } = decoded
  const weights = known.map((rules) => ({ rules, ...countContracts(submission, rules) }))
  const contractCounts = weights.map(({ contractCount }) => contractCount)
  const isAllowed = weights.some(({ refusal }) => refusal === null)
  const refusal = isAllowed ? null : (weights.at(-1)?.refusal ?? null)
  return {
    kind: 'entry',
    entryHash,
    participant: submission.participant,
    notAfter: submission.notAfter,
    bytesUnits: unitsOfBytes(bytes.byteLength),
    contractsUnits: unitsOfContracts(Math.max(...contractCounts)),
    contractCounts: new Map(weights.map((one) => [one.rules.version, one.contractCount])),
    adds: known.some((rules) => addsToState(submission, rules)),
    oversize: refusal && {
      code: 'LIMIT_EXCEEDED',
      message: `every replica would refuse this entry: ${refusal.message}`,
    },
  }
}

/**
 * Why an entry with this `notAfter` is not submitted to the log, or null. A `notAfter` too far ahead is refused only for now:
 * record time approaches it.
 *
 * @param now.recordTime - Of the newest entry of the log.
 * @param now.clockMicros - Record time of an idle log lags; an entry ignored as too early could take effect later.
 */
export function refusalByTime(
  notAfter: Micros,
  now: { readonly recordTime: Micros; readonly clockMicros: Micros },
): EntryRefusal | null {
  if (notAfter <= now.recordTime) return ignoring('SUBMISSION_EXPIRED', 'its `notAfter` has passed')
  if (notAfter <= Math.max(now.recordTime, now.clockMicros) + NOT_AFTER_MICROS_MAX) return null
  return ignoring(
    'CLOCK_OFF',
    '`notAfter` is more than 10 min ahead of record time; correct the clock of the participant',
  )
}

function ignoring(code: ErrorCode, reason: string): EntryRefusal {
  return { code, message: `every replica would ignore this entry: ${reason}` }
}

function ignored(reason: string): CheckedEntry {
  return { kind: 'refused', refusal: ignoring('INVALID_ARGUMENT', reason) }
}

/** Whether replicas interpret an entry with this `notAfter` at this record time (Rule 4). */
export function isInTime(notAfter: Micros, recordTime: Micros): boolean {
  return notAfter > recordTime && notAfter <= recordTime + NOT_AFTER_MICROS_MAX
}
