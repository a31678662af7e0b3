/**
 * Payments that took effect, by change id, so that a repeat after the deduplication period of the ledger is recognised.
 * They follow from the log: a store that is restored from a backup reads the part of the log that it lacks.
 */
import type { LogPosition, Micros, UserId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'
import { FORGET_PAYMENTS, RECORD_PAYMENTS } from './scripts.ts'

/** The first effect of a payment. */
export type PaymentRecord = LogPosition & {
  /** Of the submission: participant, user, party and command id, as a hash. */
  readonly changeId: string
  readonly userId: UserId
  /** SHA-256 of what the request asked for, hex. */
  readonly content: string
  readonly updateId: string
  /** The body of the first answer. */
  readonly result: unknown
  /** Record time after which the record is deleted. */
  readonly keptUntil: Micros
}

/** How far the records follow the log. */
export type PaymentsReached = LogPosition & {
  /** Record time up to which payments may be missing, since no history of them is left; 0: none is missing. */
  readonly incompleteUntil: Micros
}

/** Records deleted by one script: well under a millisecond of Redis. */
const PORTION = 500

export type Payments = ReturnType<typeof createPayments>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createPayments({ redis, write }: StoreConnection, genesisHash: string) {
  return {
    async find(changeId: string): Promise<PaymentRecord | null> {
      const text = await reach(redis.hget(KEYS.payments, changeId))
      // Written by `record` alone.
      return text === null ? null : (JSON.parse(text) as PaymentRecord)
    },
    /** The number of records of the user. */
    async count(userId: UserId): Promise<number> {
      return Number((await reach(redis.hget(KEYS.paymentCounts, userId))) ?? 0)
    },
    /** null: nothing was recorded yet. */
    async reached(): Promise<PaymentsReached | null> {
      const text = await reach(redis.hget(KEYS.paymentsReached, genesisHash))
      return text === null ? null : (JSON.parse(text) as PaymentsReached)
    },
    /** Adds those that are missing, and moves the end of what was read. Atomic and idempotent. */
    async record(records: readonly PaymentRecord[], reached: PaymentsReached): Promise<void> {
      const keys = [KEYS.payments, KEYS.paymentExpiries, KEYS.paymentCounts, KEYS.paymentsReached]
      const args = records.flatMap((record) => [
        record.changeId,
        JSON.stringify(record),
        record.userId,
        expiryMember(record),
      ])
      await write(() =>
        redis.eval(
          RECORD_PAYMENTS,
          keys.length,
          ...keys,
          genesisHash,
          JSON.stringify(reached),
          ...args,
        ),
      )
    },
    /** Deletes the records that are kept until an earlier record time. */
    async forget(recordTime: Micros): Promise<void> {
      const keys = [KEYS.payments, KEYS.paymentExpiries, KEYS.paymentCounts]
      const end = Buffer.concat([Buffer.from('('), microsBytes(recordTime)])
      let deleted: unknown
      do {
        deleted = await write(() =>
          redis.eval(FORGET_PAYMENTS, keys.length, ...keys, end, PORTION, MICROS_BYTES),
        )
      } while (Number(deleted) === PORTION)
    },
  }
}

const MICROS_BYTES = 8

/** The time (8 bytes, big-endian), the change id (64 hex digits) and the user. */
function expiryMember({ keptUntil, changeId, userId }: PaymentRecord): Buffer {
  return Buffer.concat([microsBytes(keptUntil), Buffer.from(changeId + userId)])
}

function microsBytes(micros: Micros): Buffer {
  const bytes = Buffer.alloc(MICROS_BYTES)
  bytes.writeBigUInt64BE(BigInt(micros))
  return bytes
}
