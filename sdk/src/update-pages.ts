/** The updates of the ledger, one page of the HTTP interface at a time. */
import { invalidArgument } from './errors.ts'
import type { components } from './generated/ledger.ts'
import { isGetLedgerEndResponse, isJsGetUpdatesResponse } from './generated/ledger-checks.ts'
import type { Http } from './http.ts'

type Schemas = components['schemas']

export type UpdateElement = Schemas['JsGetUpdatesResponse']

/** What comes after `after`, up to `end`; null: for ever. */
export type UpdateRange = {
  readonly after: number
  readonly end: number | null
  readonly updateFormat: Schemas['UpdateFormat']
  readonly signal: AbortSignal | undefined
}

/** How long the server holds a page open for the first update that comes. */
const IDLE_MS = 5000
const PAGE_TIMEOUT_MS = 20_000

export async function readLedgerEnd(http: Http, signal: AbortSignal | undefined): Promise<number> {
  const request = { method: 'GET', path: '/v2/state/ledger-end', signal } as const
  return (await http.call(request, isGetLedgerEndResponse)).offset
}

export function readPage(
  http: Http,
  range: UpdateRange,
  pageSize: number,
): Promise<UpdateElement[]> {
  const { end, signal } = range
  return http.call(
    {
      method: 'POST',
      path: '/v2/updates',
      query: { limit: pageSize, ...(end === null ? { stream_idle_timeout_ms: IDLE_MS } : {}) },
      body: requestOf(range),
      isSafe: true,
      timeoutMs: PAGE_TIMEOUT_MS,
      signal,
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
