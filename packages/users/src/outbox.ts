/**
 * Submissions that were accepted and whose outcome is not known yet (Rule 3): stored before the 200, sent
 * again after a restart, at most one for each change. Those that did not reach the log in time are stored
 * as completions, because no log has them.
 */
import type { Completion, CompletionRecord, Micros, Offset, PartyId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'
import { ADD_PENDING, END_PENDING } from './scripts.ts'

export type PendingSubmission = {
  /** SHA-256 of the bytes, hex. */
  readonly entryHash: string
  /** Hex. */
  readonly changeId: string
  /** The signed entry, base64. */
  readonly bytes: string
  /** Record time that must be reached before it is sent; 0 for none. */
  readonly notBefore: Micros
  /** Record time after which it has no effect. */
  readonly notAfter: Micros
  /** The newest offset when it was accepted: its outcome has a later one. */
  readonly head: Offset
  /** The parties whose contracts it may use as well; absent: none, or stored by an earlier release. */
  readonly readAs?: readonly PartyId[]
  readonly completion: Completion
}

/** Each holds an entry of up to 256 KiB. */
export const PENDING_MAX = 1_000
/** Completions of submissions that expired, some 500 bytes each: the oldest are deleted first. */
const EXPIRED_MAX = 10_000
const OFFSET_BYTES = 8

type Added =
  | { readonly kind: 'added' }
  | { readonly kind: 'in-flight'; readonly other: PendingSubmission }
  | { readonly kind: 'full' }

type Range = { readonly after: Offset; readonly upTo: Offset; readonly limit: number }

export type Outbox = ReturnType<typeof createOutbox>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createOutbox({ redis, write }: StoreConnection) {
  return {
    /** `in-flight`: another submission of the same change is pending; `full`: PENDING_MAX are. */
    async add(pending: PendingSubmission): Promise<Added> {
      const { entryHash, changeId } = pending
      const keys = [KEYS.pending, KEYS.inFlight] as const
      const args = [entryHash, changeId, JSON.stringify(pending), PENDING_MAX] as const
      const reply = await write(() => redis.eval(ADD_PENDING, keys.length, ...keys, ...args))
      if (reply === 1) return { kind: 'added' }
      if (reply === 0) return { kind: 'full' }
      return { kind: 'in-flight', other: decode(String(reply)) }
    },
    async list(): Promise<readonly PendingSubmission[]> {
      return (await reach(redis.hvals(KEYS.pending))).map(decode)
    },
    /** Removes a submission with a known outcome. `expired`: stored, if it did not reach the log. Idempotent. */
    async complete(pending: PendingSubmission, expired: CompletionRecord | null): Promise<void> {
      const { entryHash, changeId } = pending
      const member = expired === null ? Buffer.alloc(0) : encodeExpired(expired)
      const keys = [KEYS.pending, KEYS.inFlight, KEYS.expired] as const
      const args = [entryHash, changeId, member, -1 - EXPIRED_MAX] as const
      await write(() => redis.eval(END_PENDING, keys.length, ...keys, ...args))
    },
    /** After an offset and up to another one, ascending; several may have one offset. */
    async expired({ after, upTo, limit }: Range): Promise<readonly CompletionRecord[]> {
      const from = Buffer.concat([Buffer.from('['), offsetBytes(after + 1)])
      const to = Buffer.concat([Buffer.from('('), offsetBytes(upTo + 1)])
      const range = ['BYLEX', 'LIMIT', 0, limit] as const
      const members = await reach(redis.zrangeBuffer(KEYS.expired, from, to, ...range))
      // Written by `encodeExpired` alone.
      return members.map((member) => JSON.parse(member.toString('utf8', OFFSET_BYTES)))
    },
  }
}

function encodeExpired(record: CompletionRecord): Buffer {
  return Buffer.concat([offsetBytes(record.offset), Buffer.from(JSON.stringify(record))])
}

function offsetBytes(offset: Offset): Buffer {
  const bytes = Buffer.alloc(OFFSET_BYTES)
  bytes.writeBigUInt64BE(BigInt(offset))
  return bytes
}

function decode(text: string): PendingSubmission {
  // Written by `add` alone.
  return JSON.parse(text) as PendingSubmission
}
