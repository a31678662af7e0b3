/**
 * What can be said of an entry by its bytes and a time alone. Pure: the same for everybody, on every machine.
 * What an entry does is not looked at; replicas check everything again.
 */
import { sha256Hex } from '@quorumscan/base'
import type { ErrorCode } from '@quorumscan/errors'
import {
  isEntrySigned,
  KNOWN_RULES,
  priceOfBytes,
  priceOfContracts,
  type Rules,
  readEntry,
  weigh,
} from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'

/** Why an entry is not taken, for whoever offers it. */
export type EntryRefusal = { readonly code: ErrorCode; readonly message: string }

export type JudgedEntry =
  | { readonly kind: 'refused'; readonly refusal: EntryRefusal }
  | {
      readonly kind: 'entry'
      /** SHA-256 of the bytes, hex. */
      readonly entryHash: string
      /** Public key, hex. */
      readonly participant: string
      readonly notAfter: Micros
      /** Units of its bytes, and of the contracts that it names at most (`price.ts` of the ledger). */
      readonly bytesPrice: number
      readonly contractsPrice: number
      /** By each version of the protocol that this software knows: contracts that it makes replicas read. */
      readonly contractCounts: ReadonlyMap<number, number>
      /** Why every replica would refuse it for what it holds, whichever of these versions is in force, or null. */
      readonly oversize: EntryRefusal | null
    }

export type Judge = {
  /** Judges form, signature and network, and weighs what the entry names. */
  (bytes: Uint8Array): JudgedEntry
  /** The same without the signature, which is most of the work. */
  withoutSignature(bytes: Uint8Array): JudgedEntry
}

/** Entries come again: to a member when they are offered, proposed, and passed on by others. Some seconds, 4 MiB. */
const JUDGED_MAX = 10_000

const BAD_SIGNATURE: JudgedEntry = {
  kind: 'refused',
  refusal: {
    code: 'INVALID_ARGUMENT',
    message: 'every replica would ignore this entry: bad signature',
  },
}

/**
 * Remembers the entries whose signature it has verified, and no others: those cost whoever sends them nothing to make.
 *
 * @param known - Versions of the protocol, in ascending order.
 */
export function createJudge(
  genesisHash: string,
  known: readonly [Rules, ...Rules[]] = KNOWN_RULES,
): Judge {
  const judgedByHash = new LRUCache<string, JudgedEntry>({ max: JUDGED_MAX })
  /** Not verified yet: the next that is done with the same bytes. */
  const readByBytes = new WeakMap<Uint8Array, JudgedEntry>()
  const withoutSignature = (bytes: Uint8Array): JudgedEntry => {
    const verified = judgedByHash.get(sha256Hex(bytes))
    if (verified !== undefined) return verified
    const read = weighEntry(bytes, genesisHash, known)
    readByBytes.set(bytes, read)
    return read
  }
  const judge = (bytes: Uint8Array): JudgedEntry => {
    const verified = judgedByHash.get(sha256Hex(bytes))
    if (verified !== undefined) return verified
    const read = readByBytes.get(bytes) ?? weighEntry(bytes, genesisHash, known)
    if (read.kind === 'refused') return read
    if (!isEntrySigned(bytes, genesisHash)) return BAD_SIGNATURE
    judgedByHash.set(read.entryHash, read)
    return read
  }
  return Object.assign(judge, { withoutSignature })
}

function weighEntry(
  bytes: Uint8Array,
  genesisHash: string,
  known: readonly [Rules, ...Rules[]],
): JudgedEntry {
  const decoded = readEntry(bytes, genesisHash)
  if (decoded.kind !== 'submission')
    return {
      kind: 'refused',
      refusal: {
        code: 'INVALID_ARGUMENT',
        message:
          decoded.kind === 'ignored'
            ? `every replica would ignore this entry: ${decoded.reason}`
            : 'checkpoints are made by the synchronizer itself',
      },
    }
  const { submission, entryHash } = decoded
  const weights = known.map((rules) => ({ rules, ...weigh(submission, rules) }))
  const contractCounts = weights.map(({ contractCount }) => contractCount)
  const isAllowed = weights.some(({ refusal }) => refusal === null)
  const refusal = isAllowed ? null : (weights.at(-1)?.refusal ?? null)
  return {
    kind: 'entry',
    entryHash,
    participant: submission.participant,
    notAfter: submission.notAfter,
    bytesPrice: priceOfBytes(bytes.byteLength),
    contractsPrice: priceOfContracts(Math.max(...contractCounts)),
    contractCounts: new Map(
      weights.map(({ rules, contractCount }) => [rules.version, contractCount]),
    ),
    oversize:
      refusal === null
        ? null
        : {
            code: 'LIMIT_EXCEEDED',
            message: `every replica would refuse this entry: ${refusal.message}`,
          },
  }
}

/**
 * Why an entry with this `notAfter` is not offered to the log, or null. Record time may come near one that lies too
 * far ahead: it is refused now, not for good.
 *
 * @param now.recordTime - Of the newest entry of the log.
 * @param now.clockMicros - An idle log stands still; an entry ignored as too early could act when it is appended again.
 */
export function refusalByTime(
  notAfter: Micros,
  now: { readonly recordTime: Micros; readonly clockMicros: Micros },
): EntryRefusal | null {
  if (notAfter <= now.recordTime)
    return {
      code: 'SUBMISSION_EXPIRED',
      message: 'every replica would ignore this entry: not after',
    }
  if (notAfter > Math.max(now.recordTime, now.clockMicros) + NOT_AFTER_MICROS_MAX)
    return {
      code: 'CLOCK_OFF',
      message:
        'every replica would ignore this entry: not after lies more than 10 min ahead of the log, by whose ' +
        "clock the participant's is fast",
    }
  return null
}

/** Whether every replica looks into an entry with this `notAfter` that has this record time (Rule 4). */
export function isInTime(notAfter: Micros, recordTime: Micros): boolean {
  return notAfter > recordTime && notAfter <= recordTime + NOT_AFTER_MICROS_MAX
}
