/** Transfers between parties by transfer offers: creates, accepts, rejects and withdraws them (D-20). */
import type { BodyOf, QueryOf, ResponseOf, validatorRoutes } from '@quorumscan/api'
import { mapInTurns, sha256, toHex, utf8 } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import {
  acceptTransferCommand,
  createTransferInstructionCommand,
  disclose,
  isOf,
  OPEN_OFFERS_MAX,
  payloadOf,
  rejectTransferCommand,
  toWireContract,
  transferCommand,
  transferInstruction,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import {
  type Amount,
  type Contract,
  formatAmount,
  type Micros,
  type PartyId,
  readAmount,
} from '@quorumscan/model'
import { PAYMENT_EXPIRY_MICROS_MAX } from '@quorumscan/verifier'
import {
  type ContractCall,
  contractNotFound,
  type KeyedLedger,
  type OperationDeps,
  singleton,
  submitAs,
  type UserCall,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import { invalidMember } from './coins.ts'
import { invalidPageToken, readListPage } from './list-page.ts'
import type { Payment, Payments } from './payments.ts'
import { type Spending, type SpendingDeps, spend } from './spending.ts'

type CreateTransfer = (typeof validatorRoutes)['createTransfer']
type TransferOutcome = ResponseOf<CreateTransfer>

/**
 * Creates a transfer offer to another party. A transfer to the sender itself takes effect at once, and merges coins.
 * A tracking id has one effect, until its `expires_at` and a day (D-83).
 *
 * @throws {ScanError} INVALID_ARGUMENT unless the amount is positive, `expires_at` in the future and at most 30 days
 *   ahead, and the receiver a party of this network; as `Payments.once` and `spend`.
 */
export async function createTransfer(
  deps: SpendingDeps & { readonly payments: Payments; readonly now: () => Micros },
  input: UserCall & { readonly transfer: BodyOf<CreateTransfer> },
): Promise<TransferOutcome> {
  const { user, signal, transfer } = input
  const { receiver_party_id: receiver, tracking_id: trackingId, description } = transfer
  const amount = readAmount(transfer.amount)
  if (amount === undefined || amount <= 0n)
    throw invalidMember('amount', 'must be a positive decimal, small enough for the ledger')
  const { expires_at: executeBefore } = transfer
  const { party: sender } = user
  const offer = { sender, receiver, amount, executeBefore, description, trackingId }
  const payment: Payment = {
    user,
    commandId: transferCommandId(trackingId),
    content: { transfer: { ...offer, amount: formatAmount(amount) } },
    expiresAt: executeBefore,
  }
  const prepare = () => prepareTransfer(deps.ledger, offer)
  const { result } = await deps.queue.run(user.party, signal, () =>
    deps.payments.once(payment, (ids) => {
      // A repeat of what was done is one also after its expiry.
      const now = deps.now()
      if (executeBefore <= now) throw invalidMember('expires_at', 'must be in the future')
      if (executeBefore > now + PAYMENT_EXPIRY_MICROS_MAX)
        throw invalidMember('expires_at', 'must be at most 30 days ahead')
      return spend(deps, {
        user,
        signal,
        prepare: async () => ({ ...(await prepare()), ...ids }),
      })
    }),
  )
  return result as TransferOutcome // `Payments` made it.
}

/** Any text may be a tracking id, not so a command id. */
function transferCommandId(trackingId: string): string {
  return `transfer-${toHex(sha256(utf8(trackingId)))}`
}

/** A transfer as `spend` submits it: once for each tracking id. */
export async function prepareTransfer(
  ledger: KeyedLedger,
  offer: {
    readonly sender: PartyId
    readonly receiver: PartyId
    readonly amount: Amount
    readonly executeBefore: Micros
    readonly description: string
    readonly trackingId: string
  },
): Promise<Spending> {
  const { sender, receiver, amount, trackingId } = offer
  const rules = await singleton(ledger, 'CoinRules')
  const coinRules = rules.contractId
  return {
    needed: amount,
    disclosed: [disclose(rules)],
    command: (inputs) =>
      receiver === sender
        ? transferCommand({ coinRules, sender, inputs, outputs: [{ receiver, amount }] })
        : createTransferInstructionCommand({ coinRules, inputs, ...offer }),
    commandId: transferCommandId(trackingId),
  }
}

/**
 * A page of the open transfer offers of the user and to the user. With `sender`, those of one sender: at most 100, which
 * the ledger allows a party, in one page.
 *
 * @throws {ScanError} INVALID_PAGE_TOKEN.
 */
export async function listTransfers(
  ledger: WalletLedger,
  { party }: Pick<WalletUser, 'party'>,
  query: QueryOf<(typeof validatorRoutes)['listTransfers']>,
) {
  const { sender, order = 'newest' } = query
  if (sender !== undefined && query.page_token !== undefined) throw invalidPageToken()
  const { contracts, nextPageToken } =
    sender === undefined
      ? await readListPage(ledger, { templates: [transferInstruction], party, query })
      : { contracts: await offersBetween(ledger, sender, party), nextPageToken: null }
  const sorted =
    sender === undefined || order === 'newest'
      ? contracts
      : contracts.toSorted((a, b) => Number(amountOf(b) - amountOf(a)))
  const transfers = await mapInTurns(sorted, toWireContract)
  return { transfers, next_page_token: nextPageToken }
}

/** The newest first. */
async function offersBetween(ledger: KeyedLedger, sender: PartyId, party: PartyId) {
  const offers = await ledger.contractsByKey(`offers:${sender}`, { limit: OPEN_OFFERS_MAX })
  return offers.filter((offer) => sender === party || offer.observers.includes(party))
}

function amountOf(offer: Contract): Amount {
  return payloadOf(transferInstruction, offer).transfer.amount
}

export type Answer = 'accept' | 'reject' | 'withdraw'

/**
 * Ends a transfer offer: the receiver accepts or rejects it, or the sender withdraws it.
 *
 * @throws {ScanError} PERMISSION_DENIED for the wrong one of the two, CHOICE_REFUSED for an offer that has
 *   ended, CONTRACT_NOT_FOUND; as `Payments.once`: DUPLICATE_COMMAND if the user did it before.
 */
export async function answerTransfer(
  deps: OperationDeps & { readonly payments: Payments; readonly now: () => Micros },
  input: ContractCall & { readonly answer: Answer },
): Promise<TransferOutcome> {
  const { contractId, answer, user } = input
  const [contract] = await deps.ledger.contracts([contractId])
  if (contract != null && !isOf(transferInstruction, contract)) throw contractNotFound(contractId)
  const payment: Payment = {
    user,
    commandId: `${answer}-transfer-${contractId}`,
    content: { [answer]: contractId },
    // That of an ended offer is unknown. A repeat then has no contract to act on.
    expiresAt: deps.now() + PAYMENT_EXPIRY_MICROS_MAX,
  }
  const command = commandOf[answer]({ instruction: contractId })
  const { result } = await deps.payments
    .once(payment, (ids) => submitAs(deps, input, { command, ...ids }))
    .catch((error: unknown) => {
      throw isScanError(error, 'CONTRACT_NOT_FOUND') ? contractNotFound(contractId) : error
    })
  return result as TransferOutcome // `Payments` made it.
}

const commandOf = {
  accept: acceptTransferCommand,
  reject: rejectTransferCommand,
  withdraw: withdrawTransferCommand,
} as const
