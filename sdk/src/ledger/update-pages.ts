/** The updates of the ledger, one page of the HTTP interface at a time. */
import { invalidArgument } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import { isGetLedgerEndResponse, isJsGetUpdatesResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/request.ts'

type Schemas = components['schemas']

export type UpdateElement = Schemas['JsGetUpdatesResponse']

/** What comes after `after`, up to `end`; null: for ever. */
export type UpdateRange = {
  readonly after: number
  readonly end: number | null
  readonly updateFormat: Schemas['UpdateFormat']
  readonly signal: AbortSignal | undefined
}

/** How long the server waits for the first update that comes. */
const IDLE_MS = 5000
const PAGE_TIMEOUT_MS = 20_000

export async function readLedgerEnd(http: Http, signal: AbortSignal | undefined): Promise<number> {
  const request = { method: 'GET', path: '/v2/state/ledger-end', signal } as const
  return (await http.call(request, isGetLedgerEndResponse)).offset
}

/**
 * The next updates, at most `pageSize`. Without an end it waits for the first that comes, some seconds.
 *
 * A page without an end is complete when nothing came for a while, which on a busy ledger is never: so what
 * is there is asked for up to the end of now, and only where that is nothing, the one that comes next.
 */
export async function readPage(
  http: Http,
  range: UpdateRange,
  pageSize: number,
): Promise<UpdateElement[]> {
  if (range.end !== null) return ask(http, range, { limit: pageSize })
  const end = await readLedgerEnd(http, range.signal)
  if (end > range.after) {
    const page = await ask(http, { ...range, end }, { limit: pageSize })
    if (page.length > 0) return page
  }
  const after = Math.max(range.after, end)
  return ask(http, { ...range, after }, { limit: 1, stream_idle_timeout_ms: IDLE_MS })
}

function ask(
  http: Http,
  range: UpdateRange,
  query: NonNullable<HttpRequest['query']>,
): Promise<UpdateElement[]> {
  return http.call(
    {
      method: 'POST',
      path: '/v2/updates',
      query,
      body: requestOf(range),
      isSafe: true,
      timeoutMs: PAGE_TIMEOUT_MS,
      signal: range.signal,
    },
    isPage,
  )
}

/** The same for a page and for a WebSocket. */
export function requestOf({ after, end, updateFormat }: UpdateRange): object {
  return { beginExclusive: after, updateFormat, ...(end === null ? {} : { endInclusive: end }) }
}

/** Everything about transactions that the parties may see, effects included. */
export function formatOf(parties: readonly string[]): Schemas['UpdateFormat'] {
  if (parties.length === 0) throw invalidArgument('Name parties, or pass an updateFormat.')
  return {
    includeTransactions: {
      eventFormat: {
        filtersByParty: Object.fromEntries(parties.map((party) => [party, {}])),
      },
      transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
    },
  }
}

function isPage(body: unknown): body is UpdateElement[] {
  return Array.isArray(body) && body.every(isJsGetUpdatesResponse)
}
