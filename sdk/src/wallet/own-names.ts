/** What registering and renewing share: names of the user, requested entries, polls, and payment states of errors. */
import { formatInstant, membersOf } from '@quorumscan/verifier'
import { isQuorumscanError, type QuorumscanError } from '../errors.ts'
import { isOwnEntriesAnswer } from '../generated/checks.ts'
import { isJsGetEventsByContractIdResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import { formatOf, readPage } from '../ledger/updates.ts'
import type { NameEntry } from '../names/lookup-types.ts'
import type { Names } from '../names/names-type.ts'
import type { Clock } from '../platform/clock.ts'
import type { ContractId } from '../platform/values.ts'
import { allPages } from './all-pages.ts'
import type { CallOptions, Contract, Wallet } from './wallet.ts'

/** A name of the user. */
export type OwnEntry = {
  readonly contractId: ContractId
  readonly name: string
  /** To the millisecond. */
  readonly expiresAt: string
} & (
  | {
      /** It can be renewed. */
      readonly renews: true
      /** The price of a renewal. */
      readonly amount: string
      /** The unit of `amount`: `USDUnit`. */
      readonly unit: string
      /** The time that a payment adds. */
      readonly paymentIntervalMs: number
      /** How long before its expiry it can be renewed. */
      readonly paymentDurationMs: number
    }
  /** Its subscription has ended: it runs out. */
  | { readonly renews: false }
)

/** A name with its owner. */
type Owned = { readonly name: string; readonly party: string }

/** Live names of the user with a subscription. */
export async function listOwnEntries(http: Http, options: CallOptions = {}): Promise<OwnEntry[]> {
  const entries = await allPages(http, options, async (asked) => {
    const request = { method: 'GET', path: '/v0/entry/all', ...asked } as const
    const page = await http.call(request, isOwnEntriesAnswer)
    return { rows: page.entries, next: page.next_page_token }
  })
  return entries.map(({ contractId, paymentInterval, paymentDuration, ...entry }) => ({
    ...entry,
    contractId: contractId as ContractId, // It was checked.
    expiresAt: formatInstant(Number(entry.expiresAt) * 1000),
    renews: true as const,
    paymentIntervalMs: Number(paymentInterval) / 1000,
    paymentDurationMs: Number(paymentDuration) / 1000,
  }))
}

/** All live names of the user: those with a subscription, and those that run out, which only the nodes list. */
export async function listNames(
  { http, wallet, names }: { readonly http: Http } & Listers,
  options: CallOptions = {},
): Promise<OwnEntry[]> {
  const { partyId } = await wallet.status(options)
  const shown: OwnEntry[] = []
  if (partyId !== '')
    for await (const { name, contractId, expiresAt } of names.namesOf(partyId, options))
      if (contractId !== null && expiresAt !== null)
        shown.push({ contractId, name, expiresAt, renews: false })
  // Read last, so that a name that is registered meanwhile does not seem to run out.
  const renewed = await listOwnEntries(http, options)
  const isRenewed = ({ name }: OwnEntry) => renewed.some((entry) => entry.name === name)
  return [...renewed, ...shown.filter((entry) => !isRenewed(entry))]
}

type Listers = { readonly wallet: Pick<Wallet, 'status'>; readonly names: Pick<Names, 'namesOf'> }

/** The entry that enough nodes show; null: they prove that the user does not own the name. */
export async function ownEntry(
  names: Pick<Names, 'lookup'>,
  { name, party }: Owned,
  call: () => CallOptions,
): Promise<NameEntry | null> {
  const outcome = await names.lookup(name, { ...call(), receipt: false })
  if (outcome.kind !== 'failed') return outcome.value?.party === party ? outcome.value : null
  if (outcome.error.code === 'NAME_EXPIRED') return null
  throw outcome.error
}

/** Whether the contract is for the name: its description ends with the name in quotes, which names do not contain. */
export function isFor(contract: Contract, { name, party }: Owned): boolean {
  const { sender, description } = membersOf(contract.payload['subscriptionData'])
  return sender === party && String(description).endsWith(`"${name}"`)
}

/** Whether it says what became of a call. The reason of the caller's signal does not, whatever it says of itself. */
export function isOfCall(
  error: unknown,
  signal: AbortSignal | undefined,
): error is QuorumscanError {
  return signal?.aborted !== true && isQuorumscanError(error)
}

/** Whether the contract is consumed. */
export function isConsumed(error: unknown): boolean {
  const codes: readonly unknown[] = ['CONTRACT_NOT_FOUND', 'CONTRACT_CONSUMED']
  return isQuorumscanError(error) && codes.includes(error.code)
}

/** The members of an entry that its owner chooses. */
export type EntryDetails = { readonly url: string; readonly description: string }

/**
 * The entry of a subscription request, which may be consumed.
 *
 * @returns null if the ledger interface does not show it.
 */
export async function requestedDetails(
  http: Http,
  asked: { readonly party: string; readonly requestCid: string },
  call: () => CallOptions,
): Promise<EntryDetails | null> {
  const updateFormat = formatOf([asked.party])
  try {
    const { eventFormat } = updateFormat.includeTransactions ?? {}
    const body = { contractId: asked.requestCid, eventFormat }
    const path = '/v2/events/events-by-contract-id'
    const request = { method: 'POST', path, body, isSafe: true, ...call() } as const
    const { created } = await http.call(request, isJsGetEventsByContractIdResponse)
    const { offset } = created.createdEvent
    const range = { after: offset - 1, end: offset, updateFormat, signal: call().signal }
    for (const { update } of await readPage(http, range, 1)) {
      if (!('Transaction' in update)) continue
      for (const event of update.Transaction.value.events) {
        const made = 'CreatedEvent' in event ? event.CreatedEvent.createArgument : null
        const { reference, url, description } = membersOf(made)
        if (reference === asked.requestCid && typeof url === 'string')
          return { url, description: String(description) }
      }
    }
  } catch (error) {
    // Pruned, forbidden or unreachable: the caller decides what that means.
    if (!isQuorumscanError(error)) throw error
  }
  return null
}

/** For all steps of a registration, renewal or cancellation together. */
export const NAME_PAYMENT_TIMEOUT_MS = 120_000
/** Confirmations take some hundred ms. Each poll costs three small reads. */
export const POLL_MS = 300

export type PollBounds = {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly endsAtMs: number
}

/**
 * Reads until `next` returns a result. Transient failures of a read are ignored, since reads cannot pay.
 *
 * @throws What `late` returns, once the time is over.
 */
export async function poll<Seen, Result>(
  read: () => Promise<Seen | null>,
  next: (seen: Seen) => Result | null | Promise<Result | null>,
  { clock, signal, endsAtMs, late }: PollBounds & { readonly late: () => unknown },
): Promise<Result> {
  for (;;) {
    const seen = await read().catch(ignoreTransient)
    const result = seen === null ? null : await next(seen)
    if (result !== null) return result
    if (clock.monotonicMs() >= endsAtMs) throw late()
    await clock.delay(POLL_MS, signal)
  }
}

/** null: the failure is transient. @throws The error, if a retry cannot change it. */
export function ignoreTransient(error: unknown): null {
  if (!isQuorumscanError(error) || !error.retryable) throw error
  return null
}

/** Options of each call: the timeout of one call, limited by the end of all. */
export function callsUntil(
  parts: { readonly clock: Clock; readonly timeoutMs: number },
  endsAtMs: number,
  signal: AbortSignal | undefined,
): () => CallOptions {
  return () => ({
    ...(signal === undefined ? {} : { signal }),
    timeoutMs: Math.max(1, Math.min(parts.timeoutMs, endsAtMs - parts.clock.monotonicMs())),
  })
}
