/** What a request for a name asks for. The wallet shows only what it costs; the ledger keeps the rest beside it. */
import { isQuorumscanError } from '../errors.ts'
import { isJsGetEventsByContractIdResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import { formatOf, readPage } from '../ledger/update-pages.ts'
import type { CallOptions } from './wallet.ts'

/** Beside a name. */
export type EntryDetails = { readonly url: string; readonly description: string }

/**
 * What was asked for together with a subscription request, which may be used up.
 *
 * @returns null where the ledger interface does not tell.
 */
export async function requestedDetails(
  http: Http,
  asked: { readonly party: string; readonly requestCid: string },
  call: () => CallOptions,
): Promise<EntryDetails | null> {
  const updateFormat = formatOf([asked.party])
  try {
    const body = {
      contractId: asked.requestCid,
      eventFormat: updateFormat.includeTransactions?.eventFormat,
    }
    const path = '/v2/events/events-by-contract-id'
    const { created } = await http.call(
      { method: 'POST', path, body, isSafe: true, ...call() },
      isJsGetEventsByContractIdResponse,
    )
    const { offset } = created.createdEvent
    const range = { after: offset - 1, end: offset, updateFormat, signal: call().signal }
    for (const { update } of await readPage(http, range, 1)) {
      if (!('Transaction' in update)) continue
      for (const event of update.Transaction.value.events) {
        const made = 'CreatedEvent' in event ? Object(event.CreatedEvent.createArgument) : {}
        const { reference, url, description } = made as Readonly<Record<string, unknown>>
        if (reference === asked.requestCid && typeof url === 'string')
          return { url, description: String(description) }
      }
    }
  } catch (error) {
    // Pruned, forbidden, or out of reach: whoever asks decides what that means.
    if (!isQuorumscanError(error)) throw error
  }
  return null
}
