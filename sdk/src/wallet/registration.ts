/**
 * Registering a name: request it, pay for it, wait until enough super-validators have confirmed. It looks
 * first what is there, so that it goes on where an earlier call, or another device, stopped; and whatever
 * goes wrong, the error says what is known of the coin.
 */

import { type EntryFields, findEntryFieldViolation } from '@quorumscan/verifier'
import {
  invalidArgument,
  isQuorumscanError,
  type PaymentState,
  QuorumscanError,
} from '../errors.ts'
import { isCreateEntryAnswer } from '../generated/checks.ts'
import type { Http } from '../http/http.ts'
import type { Names } from '../names/bound-reads.ts'
import type { NameEntry } from '../names/lookups.ts'
import { outcomeError } from '../names/outcome-error.ts'
import { assertText, parseRegistrableName } from '../names/parse-name.ts'
import type { Clock } from '../platform/clock.ts'
import type { ContractId } from '../platform/contract-id.ts'
import { listOwnEntries } from './own-entries.ts'
import { isCertain, isFor, isGone, withPayment } from './payment.ts'
import type { RegisterInput, RegisterOptions, Registration } from './registration-steps.ts'
import { type EntryDetails, requestedDetails } from './requested-fields.ts'
import type { CallOptions, Contract, Wallet } from './wallet.ts'

const TIMEOUT_MS = 120_000
/** Confirmations take some hundred ms; each poll costs three small reads. */
const POLL_MS = 300
/** How long a request whose answer was lost may take to show up. */
const APPEAR_MS = 5000

export type RegistrationParts = {
  readonly http: Http
  readonly wallet: Wallet
  readonly names: Pick<Names, 'lookup' | 'acceptChange'>
  readonly clock: Clock
  /** For one call, in ms. */
  readonly timeoutMs: number
}

type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'requested'; readonly requestCids: readonly ContractId[] }
  | { readonly kind: 'paid'; readonly paymentCid: ContractId; readonly requestCid: string }
  | { readonly kind: 'owned' }

/**
 * Walks a registration to its end.
 *
 * @throws {QuorumscanError} With `payment` set, always. The reason of an aborted signal has none: the last
 *   progress event tells how far it came, and calling again goes on from there.
 */
export async function register(
  parts: RegistrationParts,
  input: RegisterInput,
  options: RegisterOptions = {},
): Promise<Registration> {
  const { wallet, names, clock } = parts
  const { signal, onProgress = () => {} } = options
  const endsAtMs = clock.monotonicMs() + (options.timeoutMs ?? TIMEOUT_MS)
  const remainingMs = () => endsAtMs - clock.monotonicMs()
  const call = callsUntil(parts, endsAtMs, signal)
  /** Known of the coin at any time; errors carry it. */
  let payment: PaymentState = 'not-paid'
  let name = ''

  const walk = async (): Promise<Registration> => {
    const fields = checkedInput(input)
    name = fields.name
    // An earlier call may have paid: nothing is known before somebody looked.
    payment = 'unknown'
    const { partyId: party } = await wallet.status(call())
    if (party === '') {
      payment = 'not-paid'
      throw new QuorumscanError('The user has no party yet: call `wallet.register()` first.', {
        code: 'WALLET_NOT_FOUND',
        definite: true,
        retryable: false,
      })
    }
    let found = await find(party)
    payment = 'not-paid' // What else it may be follows below.
    if (found.kind === 'nothing' && (await entryNow())?.party === party) found = { kind: 'owned' }
    const wasThere = found.kind
    while (found.kind === 'nothing' || found.kind === 'requested') {
      const isResumed = found.kind === 'requested'
      if (found.kind === 'nothing') found = await request(party, fields)
      if (found.kind !== 'requested') break // Lost the answer, and somebody went on meanwhile.
      const requestCid = await choose(party, found.requestCids, fields)
      if (requestCid === null) {
        found = await find(party)
        continue
      }
      onProgress({ step: 'requested', subscriptionRequestCid: requestCid, isResumed })
      found = await pay(party, requestCid)
    }
    if (found.kind === 'paid') {
      payment = 'locked'
      const { paymentCid, requestCid } = found
      if (wasThere === 'paid') {
        const paid = await requestedDetails(parts.http, { party, requestCid }, call)
        if (paid !== null) demandSame(paid, payment)
      }
      onProgress({ step: 'paid', paymentCid, isResumed: wasThere === 'paid' })
      await confirmed(party, paymentCid)
    }
    payment = 'paid'
    const entry = await resolvable(party)
    demandSame(entry, payment)
    const autoRenew = await settleAutoRenew(party)
    onProgress({ step: 'active', party, isResumed: wasThere === 'owned' })
    return { name, party, entry, autoRenew, wasOwned: wasThere === 'owned' }
  }

  /** What there is of the name. In the order in which one becomes the next, so that none is missed. */
  const find = async (party: string): Promise<Found> => {
    const isOurs = (contract: Contract) => isFor(contract, { name, party })
    const requests = (await wallet.subscriptionRequests(call())).filter(isOurs)
    const payments = (await wallet.initialPayments(call())).filter(isOurs)
    const isOwned = await owns()
    if (isOwned) return { kind: 'owned' }
    if (payments[0] !== undefined) {
      const { contractId: paymentCid, payload } = payments[0]
      return { kind: 'paid', paymentCid, requestCid: String(payload['reference']) }
    }
    const requestCids = requests.map(({ contractId }) => contractId)
    return requestCids.length > 0 ? { kind: 'requested', requestCids } : { kind: 'nothing' }
  }

  /** The request that asks for the same. The others are rejected, which costs nothing. */
  const choose = async (
    party: string,
    requestCids: readonly ContractId[],
    fields: EntryDetails,
  ): Promise<ContractId | null> => {
    let chosen: ContractId | null = null
    for (const requestCid of requestCids) {
      // What the answer to this very call names is what it asked for.
      const asked =
        requestCid === madeNow
          ? fields
          : await requestedDetails(parts.http, { party, requestCid }, call)
      const isSame = asked?.url === fields.url && asked.description === fields.description
      if (isSame && chosen === null) chosen = requestCid
      else
        await wallet.rejectSubscriptionRequest(requestCid, call()).catch((error: unknown) => {
          if (!isGone(error)) throw error // Paid or rejected elsewhere: that is found below.
        })
    }
    return chosen
  }

  /** Of what is paid for only what this call names has to be as it names it. */
  const demandSame = (effective: EntryDetails, paid: PaymentState): void => {
    const { url = effective.url, description = effective.description } = input
    if (url === effective.url && description === effective.description) return
    throw new QuorumscanError(
      `${name} is paid for with another url or description: pass those that took effect, or none.`,
      {
        code: 'REGISTRATION_DIFFERS',
        definite: true,
        retryable: false,
        payment: paid,
        details: {
          requested: { url, description },
          effective: { url: effective.url, description: effective.description },
        },
      },
    )
  }

  /** What the wallet does from now on; it is only told where this call says so. */
  const settleAutoRenew = async (party: string): Promise<boolean | null> => {
    const subscriptions = await wallet.subscriptions(call())
    const own = subscriptions.find(({ subscription }) => isFor(subscription, { name, party }))
    if (own === undefined) return null
    const { autoRenew = own.autoRenew } = input
    if (autoRenew !== own.autoRenew)
      await wallet.setAutoRenew(own.subscription.contractId, autoRenew, call())
    return autoRenew
  }

  /** As enough nodes have it; null: they prove that there is none. */
  const entryNow = async (): Promise<NameEntry | null> => {
    const outcome = await names.lookup(name, { ...call(), receipt: false })
    if (outcome.kind === 'expired') return null
    if ('entry' in outcome) return outcome.entry
    throw outcomeError(name, outcome)
  }

  const owns = async (): Promise<boolean> => {
    const entries = await listOwnEntries(parts.http, call())
    return entries.some((entry) => entry.name === name)
  }

  /** The request that this call made, if it knows. */
  let madeNow: ContractId | null = null
  const request = async (party: string, fields: EntryFields): Promise<Found> => {
    try {
      const { name, url, description } = fields
      const answer = await parts.http.call(
        { method: 'POST', path: '/v0/entry/create', body: { name, url, description }, ...call() },
        isCreateEntryAnswer,
      )
      madeNow = answer.subscriptionRequestCid as ContractId // It was checked.
      return { kind: 'requested', requestCids: [madeNow] }
    } catch (error) {
      if (isCertain(error, signal)) throw error
      // Asking twice costs nothing, but leaves a second request behind.
      const found = await until(APPEAR_MS, async () => {
        const now = await find(party)
        return now.kind === 'nothing' ? undefined : now
      })
      if (found === undefined) throw error
      return found
    }
  }

  const pay = async (party: string, requestCid: ContractId): Promise<Found> => {
    const { autoRenew = false } = input
    const accept = async (): Promise<Found> => {
      const answer = await wallet.acceptSubscriptionRequest(requestCid, { autoRenew, ...call() })
      return { kind: 'paid', paymentCid: answer.initialPaymentContractId, requestCid }
    }
    try {
      return await accept()
    } catch (error) {
      if (isCertain(error, signal) && !isGone(error)) throw error
      if (!isCertain(error, signal)) payment = 'unknown'
      return await afterLostAnswer({ party, requestCid, accept, error })
    }
  }

  /**
   * The answer to the payment is lost, or the request is used up. Accepting uses the request up, so that a
   * second try can never pay a second time.
   */
  const afterLostAnswer = async (lost: {
    readonly party: string
    readonly requestCid: ContractId
    readonly accept: () => Promise<Found>
    readonly error: unknown
  }): Promise<Found> => {
    let mayRepeat = !isGone(lost.error)
    const found = await until(remainingMs(), async () => {
      const now = await find(lost.party)
      if (now.kind === 'paid' || now.kind === 'owned') return now
      // Used up, and nothing came of it that is still there.
      if (now.kind === 'nothing' || !now.requestCids.includes(lost.requestCid)) return null
      if (!mayRepeat) return undefined
      try {
        return await lost.accept()
      } catch (error) {
        mayRepeat = !isCertain(error, signal)
        if (mayRepeat) throw error
        return undefined // Refused now; the first one may still arrive.
      }
    })
    if (found !== undefined && found !== null) return found
    if (found === null && payment === 'not-paid') throw lost.error
    const { error: cause } = lost
    if (found === null) payment = 'refunded'
    throw found === null
      ? new QuorumscanError(
          `The request for ${name} is used up, and no coin is locked: the payment came back in full, or never happened.`,
          { code: 'PAYMENT_REFUNDED', definite: true, retryable: true, cause },
        )
      : new QuorumscanError(
          `Whether the coin for ${name} was locked could not be found out. Call register again: it looks first and never pays twice for one request.`,
          { code: 'PAYMENT_UNKNOWN', definite: false, retryable: true, cause },
        )
  }

  const confirmed = async (party: string, paymentCid: string): Promise<void> => {
    const isDone = await until(remainingMs(), async () => {
      const payments = await wallet.initialPayments(call())
      if (payments.some((contract) => contract.contractId === paymentCid)) return undefined
      // Read after the payment had ended, so that what it led to is there.
      return (await owns()) || (await entryNow())?.party === party
    })
    if (isDone === true) return
    payment = isDone === false ? 'refunded' : 'locked'
    throw isDone === false
      ? new QuorumscanError(
          `The coin for ${name} came back in full: somebody else was first, or the lock ended before enough super-validators confirmed.`,
          { code: 'PAYMENT_REFUNDED', definite: true, retryable: true },
        )
      : new QuorumscanError(
          `The coin for ${name} is locked, and the super-validators have not decided yet. Call register again to go on waiting.`,
          { code: 'PAYMENT_PENDING', definite: false, retryable: true },
        )
  }

  /** The validator is ahead of the nodes by a moment; a wallet that shows the name asks the nodes. */
  const resolvable = async (party: string): Promise<NameEntry> => {
    const entry = await until(remainingMs(), async () => {
      const now = await entryNow()
      return now?.party === party ? now : undefined
    })
    if (entry === undefined)
      throw new QuorumscanError(
        `${name} is registered, but not enough scan nodes say so yet. It needs no second call.`,
        { code: 'CONSENSUS_LAGGING', definite: false, retryable: true },
      )
    // Whoever had it before: the user asked for it.
    await names.acceptChange(name, party)
    return entry
  }

  /** Polls until there is a value, undefined at the end; what may pass is waited out. */
  const until = async <T>(
    waitMs: number,
    probe: () => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const lastAtMs = Math.min(endsAtMs, clock.monotonicMs() + waitMs)
    for (;;) {
      try {
        const value = await probe()
        if (value !== undefined) return value
      } catch (error) {
        if (!isQuorumscanError(error) || !error.retryable) throw error
      }
      if (clock.monotonicMs() >= lastAtMs) return undefined
      await clock.delay(POLL_MS, signal)
    }
  }

  try {
    return await walk()
  } catch (error) {
    throw withPayment(error, payment)
  }
}

/**
 * What to ask for, whole.
 *
 * @throws {QuorumscanError} INVALID_NAME, NAME_SUFFIX_MISSING, INVALID_URL, INVALID_DESCRIPTION, INVALID_ARGUMENT.
 */
function checkedInput(input: RegisterInput): EntryFields {
  const {
    name: typed,
    url = '',
    description = '',
    autoRenew = false,
  } = Object(input) as RegisterInput
  const name = parseRegistrableName(typed)
  assertText('the url', url)
  assertText('the description', description)
  if (typeof autoRenew !== 'boolean') throw invalidArgument('autoRenew is true or false.')
  const fields = { name, url, description }
  const violation = findEntryFieldViolation(fields)
  if (violation === undefined) return fields
  const { code, rule } = violation
  const facts = { code, definite: true, retryable: false, details: { rule } }
  throw new QuorumscanError(`The request breaks a rule: ${rule}.`, facts)
}

/** Of each call: as long as any may take, and not beyond the end of all. */
export function callsUntil(
  parts: Pick<RegistrationParts, 'clock' | 'timeoutMs'>,
  endsAtMs: number,
  signal: AbortSignal | undefined,
): () => CallOptions {
  return () => ({
    ...(signal === undefined ? {} : { signal }),
    timeoutMs: Math.max(1, Math.min(parts.timeoutMs, endsAtMs - parts.clock.monotonicMs())),
  })
}
