/** Finds a payment on the ledger, by its id or its offer, through the ledger interface of a validator. */
import { membersOf } from '@quorumscan/verifier'
import { isQuorumscanError, transient } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import { isJsGetEventsByContractIdResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import { findUpdate, formatOf, readLedgerEnd, readPage } from '../ledger/updates.ts'
import type { ContractId } from '../platform/values.ts'
import type { PaymentKind, StoredPayment } from './payment-store.ts'
import type { CallOptions, TransferResult } from './wallet.ts'

type Transaction = components['schemas']['JsTransaction']
type ChoiceResult = Readonly<Record<string, unknown>>

/** What the ledger has of a payment. */
export type Search =
  | { readonly kind: 'found'; readonly transaction: Transaction; readonly result: unknown }
  /** The offer ended in another way. */
  | { readonly kind: 'other'; readonly choice: string }
  /** No transaction up to `end` has it. */
  | { readonly kind: 'none'; readonly end: number }
  /** The history begins later. Only the records of the validator know. */
  | { readonly kind: 'pruned' }

const CHOICES: Readonly<Partial<Record<PaymentKind, string>>> = {
  accept: 'TransferInstruction_Accept',
  reject: 'TransferInstruction_Reject',
  withdraw: 'TransferInstruction_Withdraw',
}

/** @throws {QuorumscanError} If the search is incomplete, because the validator does not answer. */
export async function searchPayment(
  http: Http,
  payment: StoredPayment,
  options: CallOptions,
): Promise<Search> {
  try {
    return await search(http, payment, options)
  } catch (error) {
    if (!isQuorumscanError(error)) throw error
    const code: unknown = error.details?.['code'] ?? error.code
    if (code === 'PARTICIPANT_PRUNED_DATA_ACCESSED') return { kind: 'pruned' }
    throw error
  }
}

async function search(
  http: Http,
  payment: StoredPayment,
  { signal }: CallOptions,
): Promise<Search> {
  const choice = CHOICES[payment.kind]
  if (choice !== undefined) return searchOffer(http, payment, choice, signal)
  const end = await readLedgerEnd(http, signal)
  const updateFormat = formatOf([payment.party])
  const range = { after: payment.searchAfter, end, updateFormat, signal }
  const transaction = await findUpdate(http, range, (update) =>
    'Transaction' in update && isOf(payment, update.Transaction.value)
      ? update.Transaction.value
      : null,
  )
  return transaction === null ? { kind: 'none', end } : foundIn(transaction)
}

/** By the command id, which only the submitting validator shows, or by sender and tracking id. */
function isOf(payment: StoredPayment, transaction: Transaction): boolean {
  if (transaction.commandId === payment.id) return true
  const trackingId = payment.body?.['tracking_id']
  return (
    payment.kind === 'transfer' &&
    transaction.events.some((event) => {
      if (!('CreatedEvent' in event)) return false
      const transfer = membersOf(membersOf(event.CreatedEvent.createArgument)['transfer'])
      return transfer['sender'] === payment.party && transfer['trackingId'] === trackingId
    })
  )
}

async function searchOffer(
  http: Http,
  payment: StoredPayment,
  choice: string,
  signal: AbortSignal | undefined,
): Promise<Search> {
  const contractId = payment.path.split('/').at(-2) ?? ''
  const end = await readLedgerEnd(http, signal)
  const ended = await findEnd(http, { party: payment.party, contractId, signal })
  if (ended === null) return { kind: 'none', end }
  return ended.choice === choice
    ? foundIn(ended.transaction)
    : { kind: 'other', choice: ended.choice }
}

type ContractRead = {
  readonly party: string
  readonly contractId: string
  readonly signal: AbortSignal | undefined
}

/** How a contract was consumed. */
export type ContractEnd = {
  readonly transaction: Transaction
  readonly choice: string
  /** Of the choice, as Daml-LF JSON. */
  readonly result: ChoiceResult
}

/**
 * The end of a contract; null: it is active.
 *
 * @throws {QuorumscanError} CONTRACT_EVENTS_NOT_FOUND if the validator has not read the log so far, or has pruned it.
 */
export async function findEnd(http: Http, read: ContractRead): Promise<ContractEnd | null> {
  const { archived } = await readEvents(http, read)
  if (archived === null) return null
  const { offset } = archived.archivedEvent
  const transaction = await readTransaction(http, read, offset)
  for (const event of transaction?.events ?? []) {
    if (!('ExercisedEvent' in event)) continue
    const { contractId, consuming, choice, exerciseResult } = event.ExercisedEvent
    if (contractId === read.contractId && consuming && transaction !== null)
      return { transaction, choice, result: membersOf(exerciseResult) }
  }
  throw transient('CONTRACT_NOT_FOUND', `The end of contract ${read.contractId} is not shown.`)
}

/** The transaction that created a contract; null: the user does not see it. @throws {QuorumscanError} As `findEnd`. */
export async function findCreation(http: Http, read: ContractRead): Promise<Transaction | null> {
  const { created } = await readEvents(http, read)
  return await readTransaction(http, read, created.createdEvent.offset)
}

async function readEvents(http: Http, { party, contractId, signal }: ContractRead) {
  const { eventFormat } = formatOf([party]).includeTransactions ?? {}
  const path = '/v2/events/events-by-contract-id'
  const body = { contractId, eventFormat }
  const request = { method: 'POST', path, body, isSafe: true, signal } as const
  return await http.call(request, isJsGetEventsByContractIdResponse)
}

async function readTransaction(
  http: Http,
  { party, signal }: ContractRead,
  offset: number,
): Promise<Transaction | null> {
  const range = { after: offset - 1, end: offset, updateFormat: formatOf([party]), signal }
  for (const { update } of await readPage(http, range, 1))
    if ('Transaction' in update) return update.Transaction.value
  return null
}

function foundIn(transaction: Transaction): Search {
  const first = transaction.events.find((event) => 'ExercisedEvent' in event)
  const result = membersOf(first?.ExercisedEvent.exerciseResult)
  return { kind: 'found', transaction, result: resultOf(transaction, result) }
}

/** The result as the validator answers it: of a tap or a transfer, or of the end of an offer. */
function resultOf(transaction: Transaction, result: ChoiceResult): unknown {
  const { coinCid, transferInstructionCid, receiverHoldings, createdCoins, senderChange } = result
  if (typeof coinCid === 'string') return { contractId: coinCid as ContractId }
  const offered = typeof transferInstructionCid === 'string' ? transferInstructionCid : null
  const holdings = receiverHoldings ?? createdCoins
  const output =
    offered !== null
      ? { transferInstructionCid: offered }
      : Array.isArray(holdings)
        ? { receiverHoldingCids: holdings.map(String) }
        : {}
  const { updateId, offset, recordTime } = transaction
  return {
    output,
    senderChangeCids: Array.isArray(senderChange) ? senderChange.map(String) : [],
    meta: { updateId, offset: String(offset), recordTime },
  } as unknown as TransferResult
}
