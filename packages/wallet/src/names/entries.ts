/** The names of a user: requests one, and lists the user's entries (D-17, D-19). */
import { ScanError } from '@quorumscan/errors'
import {
  ansEntry,
  ansEntryContext,
  disclose,
  type Ledger,
  payloadOf,
  requestEntryCommand,
  subscription,
  subscriptionIdleState,
  subscriptionPayment,
} from '@quorumscan/ledger'
import { type ContractId, formatAmount } from '@quorumscan/model'
import {
  type EntryFields,
  findEntryFieldViolation,
  formatInstant as formatTime,
} from '@quorumscan/verifier'
import {
  joinedContractsOf,
  type OperationDeps,
  resultContractId,
  singleton,
  submitAs,
  type UserCall,
  type WalletLedger,
  type WalletUser,
} from '../ledger.ts'

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
  const details = { name, expires_at: formatTime(live.expiresAt) }
  throw new ScanError('NAME_TAKEN', `The name ${name} is taken.`, { details })
}

/**
 * The user's live entries with what they cost, in order of creation. An entry whose subscription ended is
 * left out, as upstream; it stays resolvable until it expires.
 */
export async function listOwnEntries(ledger: WalletLedger, user: WalletUser) {
  const templates = {
    entries: ansEntry,
    contexts: ansEntryContext,
    subscriptions: subscription,
    idle: subscriptionIdleState,
    payments: subscriptionPayment,
  }
  const found = await joinedContractsOf(ledger, templates, user.party)
  const payDataBySubscription = new Map(
    [...found.idle, ...found.payments].map(({ payload }) => [
      payload.subscription,
      payload.payData,
    ]),
  )
  const payDataByReference = new Map(
    found.subscriptions.map(({ contract, payload }) => [
      payload.reference,
      payDataBySubscription.get(contract.contractId),
    ]),
  )
  // Requests that were not paid share the name with the context that was; only that one has a subscription.
  const payDataByName = new Map(
    found.contexts.flatMap(({ payload: { name, reference } }) => {
      const payData = payDataByReference.get(reference)
      return payData === undefined ? [] : [[name, payData] as const]
    }),
  )
  return found.entries.flatMap(({ contract, payload: { name, expiresAt } }) => {
    const payData = payDataByName.get(name)
    if (expiresAt <= found.recordTime || payData === undefined) return []
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
}
