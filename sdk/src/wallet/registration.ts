/**
 * Registers a name: makes the calls of the steps in `registration-steps.ts`. It first looks for an earlier registration,
 * and continues where that call, or another device, stopped. Every error has the state of the payment.
 */

import { type EntryFields, findEntryFieldViolation } from '@quorumscan/verifier'
import { failure, invalidArgument, isQuorumscanError, type PaymentState } from '../errors.ts'
import { isCreateEntryAnswer } from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import type { MetadataInput, NameEntry } from '../names/lookup-types.ts'
import { formatMetadata } from '../names/metadata.ts'
import type { Names } from '../names/names-type.ts'
import { parseRegistrableName } from '../names/parse-name.ts'
import { assertText } from '../platform/arguments.ts'
import type { Clock } from '../platform/clock.ts'
import type { Party } from '../platform/party.ts'
import { shownValue } from '../platform/shown-value.ts'
import { hasEnded } from '../platform/times.ts'
import { told } from '../platform/told.ts'
import type { ContractId } from '../platform/values.ts'
import { ensureParty } from './ensure-party.ts'
import {
  callsUntil,
  type EntryDetails,
  isConsumed,
  isFor,
  listOwnEntries,
  NAME_PAYMENT_TIMEOUT_MS,
  ownEntry,
  requestedDetails,
} from './own-names.ts'
import { withPayment } from './payment-state.ts'
import { type Calls, type Found, type RegisterProgress, runSteps } from './registration-steps.ts'
import type { CallOptions, Contract, Wallet } from './wallet.ts'

/**
 * What to register. A user without a party gets one. An earlier request for the name that is not paid yet continues if it has the same url and
 * description. Otherwise it is rejected and made again. If the name is paid for with another url or description, the
 * error is REGISTRATION_DIFFERS.
 */
export type RegisterInput = {
  /** As people type it: `alice` is `alice.unverified.ns`. */
  readonly name: string
  /** Empty, or http or https, at most 255 characters. Default: empty, or the url of a name that is paid for. */
  readonly url?: string
  /** At most 140 UTF-16 units. Default as for `url`. */
  readonly description?: string
  /**
   * Instead of `description`: what the party states about itself (CIP-0056), such as
   * `{ registryUrls: ['https://registry.example'] }`. It is written into the description, which has room for about 100
   * characters. A wrong form is INVALID_DESCRIPTION.
   */
  readonly metadata?: MetadataInput
  /** Whether the wallet pays renewals automatically. Default: false, or as it is for a name that is paid for. */
  readonly autoRenew?: boolean
}

/** Options of a registration. */
export type RegisterOptions = {
  /** Called after each step. An error that it throws ends the call, not the registration. */
  readonly onProgress?: (event: RegisterProgress) => void
  /** For all steps together, in ms. Default 120 000. */
  readonly timeoutMs?: number
  /** Ends the call with the signal's reason, not the registration. Call again to continue. */
  readonly signal?: AbortSignal | undefined
}

/** A registered name, and what took effect. */
export type Registration = {
  readonly name: string
  /** The party of the user, which now owns the name. */
  readonly party: Party
  /** The entry that enough scan nodes show: url, description, and expiry. */
  readonly entry: NameEntry
  /** Whether the wallet pays renewals automatically; null: the subscription has ended, the name remains until it expires. */
  readonly autoRenew: boolean | null
  /** The user owned the name already: nothing was paid now. */
  readonly wasOwned: boolean
}

export type RegistrationParts = {
  readonly http: Http
  readonly wallet: Wallet
  readonly names: Pick<Names, 'lookup' | 'acceptChange'>
  readonly clock: Clock
  /** For one call, in ms. */
  readonly timeoutMs: number
}

/** Where a registration or renewal is stored before it is sent. */
export type Journal = {
  /**
   * Called with the user's party before anything is sent.
   *
   * @param period - The due date that a renewal pays for.
   * @returns Contracts that a payment of an earlier call may still consume.
   */
  open(party: Party, period?: string): Promise<readonly string[]>
  /** Stores what is requested, before a request that pays nothing. */
  begin(): Promise<void>
  /** Stores the contract that a payment consumes, before it is sent. */
  beforeSend(contractId: ContractId): Promise<void>
}

/**
 * Runs a registration to its end.
 *
 * @throws {QuorumscanError} Always with `payment`. The reason of an aborted signal has none: the last progress event
 *   shows the step, and another call continues from there.
 */
export async function register(
  parts: RegistrationParts,
  typed: RegisterInput,
  options: RegisterOptions & { readonly journal: Journal },
): Promise<Registration> {
  const { wallet, clock } = parts
  const { signal, journal } = options
  const onProgress = told(options.onProgress)
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? NAME_PAYMENT_TIMEOUT_MS)
  const call = callsUntil(parts, endsAtMs, signal)
  let payment: PaymentState = 'not-paid'
  const onPayment = (state: PaymentState) => {
    payment = state
  }
  try {
    const { input, fields } = checkedRegistration(typed)
    const { name } = fields
    onPayment('unknown') // An earlier call may have paid.
    const party = await ensureParty(wallet, call)
    await journal.open(party)
    const calls = createCalls(parts, { input, fields, party, call, journal })
    const context = { name, clock, signal, endsAtMs, onProgress, onPayment }
    const { entry, wasOwned } = await runSteps(calls, context)
    const autoRenew = await calls.finish(entry)
    onProgress({ step: 'active', party, isResumed: wasOwned })
    return { name, party, entry, autoRenew, wasOwned }
  } catch (error) {
    throw withPayment(error, payment)
  }
}

/** The calls of each step, and of the end. */
function createCalls(
  { http, wallet, names, clock }: RegistrationParts,
  about: {
    readonly input: RegisterInput
    readonly fields: EntryFields
    readonly party: Party
    readonly call: () => CallOptions
    readonly journal: Journal
  },
): Calls & { finish(entry: NameEntry): Promise<boolean | null> } {
  const { input, fields, party, call, journal } = about
  const { name, url, description } = fields
  const isDefect = (contract: Contract) => isFor(contract, { name, party })
  let madeNow: ContractId | null = null

  const own = () => ownEntry(names, { name, party }, call)
  const detailsOf = (requestCid: string) => requestedDetails(http, { party, requestCid }, call)
  const owns = async (): Promise<boolean> =>
    (await listOwnEntries(http, call())).some((entry) => entry.name === name)

  /** The state of the registration. The reads follow the order of its steps, so that no step is missed. */
  const readState = async (): Promise<Found> => {
    const requests = (await wallet.subscriptionRequests(call())).filter(isDefect)
    const [paid] = (await wallet.initialPayments(call())).filter(isDefect)
    if (await owns()) return { kind: 'owned' }
    if (paid !== undefined) {
      const requestCid = String(paid.payload['reference'])
      return { kind: 'paid', paymentCid: paid.contractId, requestCid }
    }
    const requestCids = requests.map(({ contractId }) => contractId)
    return requestCids.length > 0 ? { kind: 'requested', requestCids } : { kind: 'nothing' }
  }

  const reject = async (requestCid: ContractId): Promise<void> => {
    await wallet.rejectSubscriptionRequest(requestCid, call()).catch((error: unknown) => {
      if (!isConsumed(error)) throw error // Otherwise the next read shows the reason.
    })
  }

  /** @throws {QuorumscanError} If the paid entry differs from the members that this call passes. */
  const assertSameDetails = (effective: EntryDetails): void => {
    const { url = effective.url, description = effective.description } = input
    if (url === effective.url && description === effective.description) return
    const details = {
      requested: { url, description },
      effective: { url: effective.url, description: effective.description },
    }
    const message = `${name} is paid for with another url or description: pass those that took effect, or none.`
    throw failure('REGISTRATION_DIFFERS', message, { details })
  }

  return {
    readState,
    isShown: async () => (await own()) !== null,
    async request() {
      await journal.begin()
      const body = { name, url, description }
      const entry = { method: 'POST', path: '/v0/entry/create', body, ...call() } as const
      const answer = await http.call(entry, isCreateEntryAnswer).catch((error: unknown) => {
        throw unlessExpired(error, clock)
      })
      madeNow = answer.subscriptionRequestCid as ContractId // It was checked.
      return madeNow
    },
    /** Chooses the request with the same entry. The others are rejected, which costs nothing. */
    async choose(requestCids) {
      let chosen: ContractId | null = null
      for (const requestCid of requestCids) {
        const asked = requestCid === madeNow ? fields : await detailsOf(requestCid)
        const isSame = asked?.url === url && asked.description === description
        if (isSame && chosen === null) chosen = requestCid
        else await reject(requestCid)
      }
      return chosen
    },
    reject,
    async pay(requestCid) {
      await journal.beforeSend(requestCid)
      const { autoRenew = false } = input
      const answer = await wallet.acceptSubscriptionRequest(requestCid, { autoRenew, ...call() })
      return answer.initialPaymentContractId
    },
    async compare(requestCid) {
      const paid = await detailsOf(requestCid)
      if (paid !== null) assertSameDetails(paid)
    },
    async confirm(paymentCid) {
      const payments = await wallet.initialPayments(call())
      if (payments.some(({ contractId }) => contractId === paymentCid)) return null
      // Read after the payment ended, so that its result is visible.
      return (await owns()) || (await own()) !== null
    },
    /** The nodes lag the validator by a moment. */
    resolve: own,
    /** Sets the automatic renewal if this call passes it, also if it is so: a paused one is listed as off. */
    async finish(entry) {
      // The user requested the name, so that a former owner is no reason to warn.
      await names.acceptChange(name, party)
      assertSameDetails(entry)
      const subscriptions = await wallet.subscriptions(call())
      const paid = subscriptions.find(({ subscription }) => isDefect(subscription))
      if (paid === undefined) return null
      const { autoRenew } = input
      if (autoRenew === undefined) return paid.autoRenew
      await wallet.setAutoRenew(paid.subscription.contractId, autoRenew, call())
      return autoRenew
    },
  }
}

/** NAME_TAKEN by an entry that has expired on this device: the ledger frees the name at its next record time. */
function unlessExpired(error: unknown, clock: Clock): unknown {
  if (!isQuorumscanError(error) || error.code !== 'NAME_TAKEN') return error
  const { code, details } = error
  const expiresAt = details?.['expiresAt']
  if (typeof expiresAt !== 'string' || !hasEnded(expiresAt, clock)) return error
  const message = `The entry of ${details?.['name']} expired at ${expiresAt}, and the ledger has not freed the name yet. Try again.`
  const { name: _, message: __, ...facts } = error
  return failure(code, message, { ...facts, retryable: true, cause: error })
}

/**
 * The input with its metadata as description, and the entry with its defaults.
 *
 * @throws {QuorumscanError} INVALID_NAME and others, with the payment state `not-paid`.
 */
export function checkedRegistration(typed: RegisterInput): {
  readonly input: RegisterInput
  readonly fields: EntryFields
} {
  try {
    const input = withMetadata(typed)
    return { input, fields: checkedInput(input) }
  } catch (error) {
    throw withPayment(error, 'not-paid')
  }
}

/** The input with its metadata as description. @throws {QuorumscanError} INVALID_DESCRIPTION, INVALID_ARGUMENT. */
function withMetadata(typed: RegisterInput): RegisterInput {
  if (typeof typed !== 'object' || typed === null)
    throw invalidArgument(`What to register must be an object, not ${shownValue(typed)}.`)
  const { metadata, ...input } = typed
  if (metadata === undefined) return input
  if (input.description !== undefined)
    throw invalidArgument('Pass either `description` or `metadata`: metadata is the description.')
  return { ...input, description: formatMetadata(metadata) }
}

/**
 * The checked input with its defaults.
 *
 * @throws {QuorumscanError} INVALID_NAME, NAME_SUFFIX_MISSING, INVALID_URL, INVALID_DESCRIPTION, INVALID_ARGUMENT.
 */
function checkedInput(input: RegisterInput): EntryFields {
  const { url = '', description = '', autoRenew = false, ...more } = input
  const name = parseRegistrableName(more.name)
  assertText('`url`', url)
  assertText('`description`', description)
  if (typeof autoRenew !== 'boolean')
    throw invalidArgument(`\`autoRenew\` must be true or false, not ${shownValue(autoRenew)}.`)
  const fields = { name, url, description }
  const violation = findEntryFieldViolation(fields)
  if (violation === undefined) return fields
  const { code, rule } = violation
  throw failure(code, `The request violates a rule: ${rule}.`, { details: { rule } })
}
