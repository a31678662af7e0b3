/**
 * One effect for each payment of a user, also after the deduplication period of the ledger (D-83).
 *
 * The ledger refuses a repeat within the period, and the records of `store` find an earlier one. They follow from the
 * completions of the participant: the submission id has the hash of the content, and the time until which a record is
 * kept. So a store that was restored from a backup, or a validator that was moved, reads what it lacks from the log.
 */
import { sha256Hex, singleFlight, utf8 } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import { changeIdOf } from '@quorumscan/ledger'
import {
  type CompletionRecord,
  type LogPosition,
  type Micros,
  type Offset,
  type PartyId,
  partyParticipant,
} from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { PaymentRecord, Payments as PaymentStore } from '@quorumscan/users'
import {
  canonicalJson,
  formatInstant,
  type Json,
  PAYMENT_EXPIRY_MICROS_MAX,
} from '@quorumscan/verifier'
import type { WalletUser } from '../ledger.ts'

/** After its expiry a payment cannot take effect. A day more covers clients with a late clock. */
const KEPT_AFTER_EXPIRY_MICROS = 86_400_000_000
const KEPT_MICROS_MAX = PAYMENT_EXPIRY_MICROS_MAX + KEPT_AFTER_EXPIRY_MICROS
/** Records of some 500 bytes. A user with more waits until the oldest expire. */
export const PAYMENTS_PER_USER_MAX = 10_000
/** Completions and parties of one read. */
const PORTION = 500

/** The log as payments read it. */
export type PaymentHistory = {
  readonly head: () => LogPosition
  /** Outcomes of the participant after an offset and up to another one, ascending. */
  readonly completions: Pick<Replica, 'completions'>['completions']
  /** The offset after which completions can be read. */
  readonly prunedOffset: () => Promise<Offset>
  /** The result of the first choice of the update; null if it is pruned, or begins with no choice. */
  readonly resultAt: (offset: Offset) => Promise<Readonly<Record<string, unknown>> | null>
  /** Whether a party of the participant exists. */
  readonly hasParties: () => Promise<boolean>
}

/** A request of a user with one effect. */
export type Payment = {
  readonly user: WalletUser
  readonly commandId: string
  /** What the request asks for. A repeat that asks for something else is refused. */
  readonly content: Json
  readonly expiresAt: Micros
}

/** The ids of the submission. */
export type PaymentIds = { readonly commandId: string; readonly submissionId: string }

export type Payments = ReturnType<typeof createPayments>

export function createPayments(deps: {
  readonly store: PaymentStore
  readonly history: PaymentHistory
  /** Public key of the participant, hex. */
  readonly participant: string
}) {
  const { store, history, participant } = deps

  /** Payments before the first offset that can be read may be missing, unless no party could make one. */
  const begin = async () => {
    const reached = (await store.reached()) ?? { offset: 0, recordTime: 0, incompleteUntil: 0 }
    const pruned = await history.prunedOffset()
    if (pruned <= reached.offset) return reached
    const isFirst = reached.offset === 0 && !(await history.hasParties())
    const { recordTime } = history.head()
    return { ...reached, offset: pruned, incompleteUntil: isFirst ? 0 : recordTime }
  }

  /** Records the payments of the log up to the head. Concurrent calls share one pass. */
  const pass = singleFlight(async (): Promise<void> => {
    const { offset: upTo, recordTime } = history.head()
    let reached = await begin()
    for (;;) {
      const { offset: after, incompleteUntil } = reached
      const page = await history.completions({ after, upTo, limit: PORTION })
      const records: PaymentRecord[] = []
      for (const completion of page) {
        const record = await recordOf(history, completion, participant)
        if (record !== null) records.push(record)
      }
      if ((await history.prunedOffset()) > after) {
        // Pruned while it was read: the page may lack some.
        reached = await begin()
        continue
      }
      const last = page.length < PORTION ? undefined : page.at(-1)
      const end = last ?? { offset: Math.max(upTo, after), recordTime }
      reached = { offset: end.offset, recordTime: end.recordTime, incompleteUntil }
      await store.record(records, reached)
      if (reached.offset >= upTo) return
    }
  })

  /** Records everything up to the head of now, also if a pass with an older head is in progress. */
  const catchUp = async (): Promise<void> => {
    const { offset } = history.head()
    while (((await store.reached())?.offset ?? -1) < offset) await pass()
  }

  const idOf = ({ user, commandId }: Payment): string =>
    changeIdOf({ participant, userId: user.userId, actAs: [user.party], commandId })

  /** @throws {ScanError} DUPLICATE_COMMAND with the first effect, or PAYMENT_DIFFERS. */
  const refuseRepeat = (record: PaymentRecord, content: string): never => {
    const { updateId, offset, recordTime, result } = record
    const details = {
      update_id: updateId,
      offset,
      record_time: formatInstant(recordTime),
      result,
    }
    if (record.content === content)
      throw new ScanError('DUPLICATE_COMMAND', `This was done before, at offset ${offset}.`, {
        details,
      })
    const { result: _, ...others } = details
    const message =
      'Another payment was made with the same id; nothing was done now. Use a new id for a new payment.'
    throw new ScanError('PAYMENT_DIFFERS', message, { details: others })
  }

  const demandFirst = async (payment: Payment, changeId: string): Promise<void> => {
    const { incompleteUntil = 0 } = (await store.reached()) ?? {}
    // Its first execution was not before this, as its expiry was at most so far ahead.
    const earliest = payment.expiresAt - PAYMENT_EXPIRY_MICROS_MAX
    if (incompleteUntil > 0 && earliest <= incompleteUntil) {
      const after = formatInstant(incompleteUntil + PAYMENT_EXPIRY_MICROS_MAX)
      const message = `The validator lacks records of payments until ${formatInstant(incompleteUntil)}, and this one may have been made before. A new payment needs a new id and an expiry after ${after}.`
      throw new ScanError('PAYMENT_RECORDS_INCOMPLETE', message, {
        details: { expires_after: after, change_id: changeId },
      })
    }
    if ((await store.count(payment.user.userId)) >= PAYMENTS_PER_USER_MAX)
      throw new ScanError(
        'LIMIT_EXCEEDED',
        `The user has made ${PAYMENTS_PER_USER_MAX} payments that have not expired, or did so within a day. Earlier expiries free them sooner.`,
        { details: { limit: 'payments', max: PAYMENTS_PER_USER_MAX } },
      )
  }

  return {
    catchUp,
    /**
     * Calls `pay` unless the payment took effect before, and returns its record, which is on disk. To be called in the
     * party's turn.
     *
     * @throws {ScanError} DUPLICATE_COMMAND, whose `details` have the first effect; PAYMENT_DIFFERS;
     *   PAYMENT_RECORDS_INCOMPLETE; LIMIT_EXCEEDED; what `pay` throws. SUBMISSION_UNKNOWN if the effect is not recorded.
     */
    async once(
      payment: Payment,
      pay: (ids: PaymentIds) => Promise<unknown>,
    ): Promise<PaymentRecord> {
      const content = sha256Hex(utf8(canonicalJson(payment.content)))
      const { commandId, expiresAt } = payment
      const changeId = idOf(payment)
      const find = async () => {
        await catchUp()
        return await store.find(changeId)
      }
      const known = await find()
      if (known !== null) return refuseRepeat(known, content)
      await demandFirst(payment, changeId)
      const submissionId = submissionIdOf(content, expiresAt + KEPT_AFTER_EXPIRY_MICROS)
      try {
        await pay({ commandId, submissionId })
      } catch (error) {
        // Another process of the user was first, through this or another interface.
        const first = isScanError(error, 'DUPLICATE_COMMAND') ? await find() : null
        if (first !== null) refuseRepeat(first, content)
        throw error
      }
      const made = await find()
      if (made !== null) return made
      throw new ScanError('SUBMISSION_UNKNOWN', 'The history of the payment was pruned at once.')
    },
    /** Deletes what is kept until now at most. */
    forgetExpired: () => store.forget(history.head().recordTime),
  }
}

/** The log of a validator. */
export function paymentHistory(
  replica: Pick<Replica, 'head' | 'completions' | 'history' | 'parties'>,
  participantId: string,
): PaymentHistory {
  return {
    head: replica.head,
    completions: (range) => replica.completions(range),
    prunedOffset: () => replica.history.prunedOffset(),
    async resultAt(offset) {
      const update = await replica.history.updateAt(offset)
      const first = update?.events[0]
      if (update === null || first?.kind !== 'exercised') return null
      const result: unknown = JSON.parse(update.json(first.result))
      return typeof result === 'object' && result !== null ? { ...result } : null
    },
    async hasParties() {
      for (let after: PartyId | '' = ''; ; ) {
        const page: readonly PartyId[] = await replica.parties({
          after,
          limit: PORTION,
          prefix: '',
        })
        if (page.some((party) => partyParticipant(party) === participantId)) return true
        const last = page.at(-1)
        if (last === undefined) return false
        after = last
      }
    },
  }
}

const SUBMISSION_ID = /^payment-(\d{1,16})-([0-9a-f]{64})$/

function submissionIdOf(content: string, keptUntil: Micros): string {
  return `payment-${keptUntil}-${content}`
}

/** The record of a payment that took effect; null for any other completion. */
async function recordOf(
  history: PaymentHistory,
  { completion, outcome, offset, recordTime }: CompletionRecord,
  participant: string,
): Promise<PaymentRecord | null> {
  if (outcome.kind !== 'accepted') return null
  const [, until, content] = SUBMISSION_ID.exec(completion.submissionId) ?? []
  if (until === undefined || content === undefined) return null
  const result = await history.resultAt(offset)
  if (result === null) return null
  const { userId } = completion
  return {
    changeId: changeIdOf({ ...completion, participant }),
    userId,
    content,
    updateId: outcome.updateId,
    offset,
    recordTime,
    result: answerOf(result, { updateId: outcome.updateId, offset, recordTime }),
    // The ledger interface accepts any submission id.
    keptUntil: Math.min(Number(until), recordTime + KEPT_MICROS_MAX),
  }
}

type ChoiceResult = Readonly<Record<string, unknown>>
type Place = LogPosition & { readonly updateId: string }

/** The body of the answer, by the result of the choice: to a tap, a transfer, or the end of an offer. */
function answerOf(result: ChoiceResult, { updateId, offset, recordTime }: Place) {
  const record_time = formatInstant(recordTime)
  const { coinCid, transferInstructionCid, receiverHoldings, createdCoins, senderChange } = result
  if (typeof coinCid === 'string')
    return { contract_id: coinCid, update_id: updateId, offset, record_time }
  const holdings = receiverHoldings ?? createdCoins
  const output =
    typeof transferInstructionCid === 'string'
      ? { transfer_instruction_cid: transferInstructionCid }
      : Array.isArray(holdings)
        ? { receiver_holding_cids: holdings.map(String) }
        : {}
  return {
    output,
    sender_change_cids: Array.isArray(senderChange) ? senderChange.map(String) : [],
    // Upstream's member, whose values are texts.
    meta: { update_id: updateId, offset: String(offset), record_time },
  }
}
