/** One effect for each payment, by records that follow from the log. */
import type { CompletionRecord, Offset } from '@quorumscan/model'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import type { PaymentRecord, PaymentsReached } from '@quorumscan/users'
import { PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import { it as base, describe, expect } from 'vitest'
import { followPayments } from './follow-payments.ts'
import {
  createPayments,
  PAYMENTS_PER_USER_MAX,
  type Payment,
  type PaymentHistory,
  type PaymentIds,
} from './payments.ts'

const DAY_MICROS = 86_400_000_000
const PARTICIPANT = 'ab'.repeat(32)
const user = { userId: 'alice', party: `alice::1220${PARTICIPANT}` }

/** A log with the completions of one participant, by offset. */
class Log {
  readonly entries: CompletionRecord[] = []
  now = DAY_MICROS
  pruned: Offset = 0
  hasParties = true

  readonly history: PaymentHistory = {
    head: () => ({ offset: this.entries.length, recordTime: this.now }),
    completions: async ({ after, upTo, limit }) =>
      this.entries
        .filter(({ offset }) => offset > Math.max(after, this.pruned) && offset <= upTo)
        .slice(0, limit),
    prunedOffset: async () => this.pruned,
    resultAt: async (offset) => ({ transferInstructionCid: `00${offset}`, senderChange: [] }),
    hasParties: async () => this.hasParties,
  }

  /** Appends an accepted submission. */
  accept({ commandId, submissionId }: PaymentIds): void {
    const offset = this.entries.length + 1
    const deduplication = { kind: 'duration', micros: 0 } as const
    const ids = { userId: user.userId, actAs: [user.party], commandId, submissionId }
    this.entries.push({
      offset,
      recordTime: this.now,
      entryHash: '',
      completion: { ...ids, deduplication },
      outcome: { kind: 'accepted', updateId: `update-${offset}` },
    })
  }
}

/** What a backup holds. */
type Stored = { records: Map<string, PaymentRecord>; reached: PaymentsReached | null }

function open(log: Log, stored: Stored = { records: new Map(), reached: null }) {
  const payments = createPayments({
    participant: PARTICIPANT,
    history: log.history,
    store: {
      find: async (changeId) => stored.records.get(changeId) ?? null,
      count: async (userId) =>
        [...stored.records.values()].filter((record) => record.userId === userId).length,
      reached: async () => stored.reached,
      async record(records, reached) {
        for (const record of records)
          if (!stored.records.has(record.changeId)) stored.records.set(record.changeId, record)
        stored.reached = reached
      },
      async forget(recordTime) {
        for (const [id, { keptUntil }] of stored.records)
          if (keptUntil < recordTime) stored.records.delete(id)
      },
    },
  })
  const pay = (changes: Partial<Payment> = {}) =>
    payments.once(
      { user, commandId: 'one', content: 'x', expiresAt: log.now + 7 * DAY_MICROS, ...changes },
      async (ids) => log.accept(ids),
    )
  return { payments, stored, pay }
}

const it = base.extend('log', () => new Log())

describe('a payment', () => {
  it('has one effect for its id, and a repeat has the first result', async ({ log }) => {
    const { pay } = open(log)
    const expiresAt = log.now + 7 * DAY_MICROS
    await pay({ expiresAt })
    await expect(pay({ expiresAt })).rejects.toMatchObject({
      code: 'DUPLICATE_COMMAND',
      details: {
        update_id: 'update-1',
        offset: 1,
        result: { output: { transfer_instruction_cid: '001' }, meta: { update_id: 'update-1' } },
      },
    })
    await expect(pay({ expiresAt, content: 'y' })).rejects.toMatchObject({
      code: 'PAYMENT_DIFFERS',
      details: { update_id: 'update-1', offset: 1 },
    })
    await pay({ commandId: 'two' })
    expect(log.entries).toHaveLength(2)
  })

  it('is known although its answer was lost, and the store is an older one', async ({ log }) => {
    const { pay, stored } = open(log)
    await pay({ commandId: 'before' })
    const backup = { ...stored, records: new Map(stored.records) }
    await pay()
    const restored = open(log, backup)
    await expect(restored.pay()).rejects.toMatchObject({ code: 'DUPLICATE_COMMAND' })
    // Without any store, such as that of a validator that was moved.
    await expect(open(log).pay()).rejects.toMatchObject({ code: 'DUPLICATE_COMMAND' })
  })

  it('is kept until a day after its expiry', async ({ log }) => {
    const { pay, payments, stored } = open(log)
    const expiresAt = log.now + 7 * DAY_MICROS
    await pay({ expiresAt })
    await payments.catchUp()
    expect([...stored.records.values()]).toMatchObject([{ keptUntil: expiresAt + DAY_MICROS }])
  })

  it('is forgotten after that, although nobody pays', async ({ log }) => {
    const { pay, payments, stored } = open(log)
    const keptUntil = log.now + 8 * DAY_MICROS
    await pay({ expiresAt: keptUntil - DAY_MICROS })
    const clock = createManualClock()
    const logger = createLogger({ name: 'validator', level: 'silent' })
    await using _ = followPayments(payments, { isLive: () => true, clock, logger })
    log.now = keptUntil
    await payments.forgetExpired()
    expect(stored.records.size).toBe(1)
    log.now++
    await untilTrue('the payment to be forgotten', async () => {
      await clock.advance(60_000)
      return stored.records.size === 0
    })
  })

  it('is refused where it may have been made before the history begins', async ({ log }) => {
    const { pay, stored } = open(log)
    await pay({ commandId: 'before' })
    const backup = { ...stored, records: new Map(stored.records) }
    await pay()
    log.pruned = 2
    log.now += DAY_MICROS
    const restored = open(log, backup)
    await expect(restored.pay()).rejects.toMatchObject({
      code: 'PAYMENT_RECORDS_INCOMPLETE',
      details: { expires_after: expect.stringMatching(/Z$/) },
    })
    // Nobody could ask for this expiry while payments were unrecorded.
    log.now += 1
    await restored.pay({ commandId: 'new', expiresAt: log.now + PAYMENT_EXPIRY_MICROS_MAX })
  })

  it('of a participant that begins after a snapshot is made at once', async ({ log }) => {
    log.accept({ commandId: 'of others', submissionId: '' })
    log.pruned = 1
    log.hasParties = false
    await open(log).pay()
  })

  it('does not believe in ids that another interface made up', async ({ log }) => {
    const { payments, stored } = open(log)
    const far = '9'.repeat(16)
    log.accept({ commandId: 'far', submissionId: `payment-${far}-${'0'.repeat(64)}` })
    log.accept({ commandId: 'none', submissionId: 'payment-x' })
    await payments.catchUp()
    const [record, ...more] = stored.records.values()
    expect(more).toEqual([])
    expect(record?.keptUntil).toBe(log.now + PAYMENT_EXPIRY_MICROS_MAX + DAY_MICROS)
  })

  it('waits until earlier ones of the user are forgotten, if there are too many', async ({
    log,
  }) => {
    const { pay, stored } = open(log)
    await pay()
    await expect(pay()).rejects.toMatchObject({ code: 'DUPLICATE_COMMAND' })
    const [known] = stored.records.values()
    for (let i = 1; i < PAYMENTS_PER_USER_MAX; i++)
      stored.records.set(String(i), { ...known, changeId: String(i) } as PaymentRecord)
    await expect(pay({ commandId: 'two' })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'payments', max: PAYMENTS_PER_USER_MAX },
    })
    expect(log.entries).toHaveLength(1)
  })
})
