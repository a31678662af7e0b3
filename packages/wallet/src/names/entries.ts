/** The names of a user: requests one, and lists the user's entries (D-17, D-19). */
import { ScanError } from '@quorumscan/errors'
import {
  ansEntry,
  ansEntryContext,
  disclose,
  isOf,
  type Ledger,
  payloadOf,
  requestEntryCommand,
  subscriptionIdleState,
  subscriptionPayment,
} from '@quorumscan/ledger'
import { type Contract, type ContractId, formatAmount } from '@quorumscan/model'
import { type EntryFields, findEntryFieldViolation, formatInstant } from '@quorumscan/verifier'
import {
  type OperationDeps,
  resultContractId,
  singleton,
  submitAs,
  type UserCall,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'
import { type PageRequest, readSubscriptions, referenceOf } from '../wallet/subscriptions.ts'

/** `expiresAt` of the answer is in ms. The ledger has µs, as do the intervals of the answer (D-19). */
const MICROS_PER_MS = 1000

/**
 * Requests a name for the user.
 *
 * @throws {ScanError} NAME_SUFFIX_MISSING, INVALID_NAME, INVALID_URL, INVALID_DESCRIPTION (`details.rule`),
 *   NAME_TAKEN, OPEN_REQUEST_LIMIT, and what any submission can meet.
 */
export async function createEntry(
  deps: OperationDeps,
  input: UserCall & { readonly fields: EntryFields },
): Promise<{ entryContextCid: ContractId; subscriptionRequestCid: ContractId } & EntryFields> {
  const { name, url, description } = input.fields
  const fields = { name, url, description }
  const violation = findEntryFieldViolation(fields)
  if (violation !== undefined)
    throw new ScanError(violation.code, `The request breaks a rule: ${violation.rule}.`, {
      details: { rule: violation.rule },
    })
  await assertNameFree(deps.ledger, name)
  const { user } = input
  const rules = await singleton(deps.ledger, 'AnsRules')
  const command = requestEntryCommand({ ansRules: rules.contractId, user: user.party, ...fields })
  const update = await submitAs(deps, input, { command, disclosed: [disclose(rules)] })
  return {
    entryContextCid: resultContractId(update, 'entryCid'),
    subscriptionRequestCid: resultContractId(update, 'requestCid'),
    ...fields,
  }
}

/** D-17: a live entry blocks its name; a pending request does not. Live is by record time (D-9). */
async function assertNameFree(ledger: Ledger, name: string): Promise<void> {
  const entries = await ledger.contractsByKey(`name:${name}`)
  const now = ledger.head().recordTime
  const live = entries
    .map((contract) => payloadOf(ansEntry, contract))
    .find(({ expiresAt }) => expiresAt > now)
  if (live === undefined) return
  const details = { name, expires_at: formatInstant(live.expiresAt) }
  throw new ScanError('NAME_TAKEN', `The name ${name} is taken.`, { details })
}

/**
 * A page of the user's live entries with what they cost, by the age of their subscriptions, the newest first: of each
 * subscription its request, and of its request the entry of the name. An entry whose subscription ended is left out, as
 * upstream; it stays resolvable until it expires.
 *
 * @throws {ScanError} INVALID_PAGE_TOKEN.
 */
export async function listOwnEntries(
  ledger: Pick<WalletLedger, 'contractsByKeys' | 'listContracts'>,
  { party }: Pick<WalletUser, 'party'>,
  request: PageRequest,
) {
  const page = await readSubscriptions(ledger, party, request)
  const contexts = await ledger.contractsByKeys(
    page.subscriptions.map(({ contract }) => `context:${referenceOf(contract)}`),
    { limit: 1 },
  )
  const paid = page.subscriptions.flatMap(({ state }, index) => {
    const context = contexts.contracts[index]?.[0]
    return context === undefined ? [] : [{ state, name: payloadOf(ansEntryContext, context).name }]
  })
  // Under the name of an entry that expired there may be a later one, also of another party.
  const found = await ledger.contractsByKeys(
    paid.map(({ name }) => `name:${name}`),
    { limit: 1 },
  )
  const entries = paid.flatMap(({ state, name }, index) => {
    const contract = found.contracts[index]?.[0]
    if (contract === undefined) return []
    const { user, expiresAt } = payloadOf(ansEntry, contract)
    const { payData, dueAt } = renewalOfState(state)
    // A subscription that was not renewed in time stays for a moment, next to one that was made for the name again.
    if (user !== party || expiresAt <= found.recordTime || dueAt <= found.recordTime) return []
    return [
      {
        contractId: contract.contractId,
        name,
        amount: formatAmount(payData.paymentAmount.amount),
        unit: payData.paymentAmount.unit,
        expiresAt: String(Math.floor(expiresAt / MICROS_PER_MS)),
        paymentInterval: String(payData.paymentInterval),
        paymentDuration: String(payData.paymentDuration),
      },
    ]
  })
  request.countRows(paid.length + entries.length)
  return { entries, next_page_token: page.nextPageToken }
}

/** The price of the next period, and when it is due. */
function renewalOfState(state: Contract) {
  if (isOf(subscriptionIdleState, state)) {
    const { payData, nextPaymentDueAt } = payloadOf(subscriptionIdleState, state)
    return { payData, dueAt: nextPaymentDueAt }
  }
  const { payData, thisPaymentDueAt } = payloadOf(subscriptionPayment, state)
  return { payData, dueAt: thisPaymentDueAt }
}
