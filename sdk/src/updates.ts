/** The updates of the ledger as one iterator: pages of the HTTP interface, resumed from the last offset. */
import { type Checkpoint, createProgress } from './checkpoint.ts'
import type { Clock } from './clock.ts'
import { invalidArgument, isQuorumscanError } from './errors.ts'
import type { components } from './generated/ledger.ts'
import { isGetLedgerEndResponse, isJsGetUpdatesResponse } from './generated/ledger-checks.ts'
import type { Http } from './http.ts'

type Schemas = components['schemas']

/** As the ledger interface shows them (its own names); offsets only grow. */
export type Update =
  | ({ readonly kind: 'transaction' } & Schemas['JsTransaction'])
  | ({ readonly kind: 'topology' } & Schemas['JsTopologyTransaction'])

export type UpdatesOptions = {
  /** Whose transactions: all that these parties may see. The token has to allow it. */
  readonly parties?: readonly string[]
  /** In place of `parties`: exactly what to deliver. */
  readonly updateFormat?: Schemas['UpdateFormat']
  /** Only what comes after this offset. Default: that of the checkpoint, else 0, the beginning. */
  readonly after?: number
  /** Whether to wait for more at the end. Default true. */
  readonly follow?: boolean
  /** From 1 to 200. Default 100. */
  readonly pageSize?: number
  readonly checkpoint?: Checkpoint
  readonly signal?: AbortSignal
}

/**
 * Every update once, in order. While following, failures that may pass are waited out and the stream goes
 * on after the last update. Leaving the loop or aborting the signal ends it.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT, PERMISSION_DENIED, …; without `follow` also what may pass.
 */
export type Updates = (options: UpdatesOptions) => AsyncIterableIterator<Update>

const PAGE_SIZE = 100
const PAGE_SIZE_MAX = 200
/** How long the server holds a page open for the first update that comes. */
const IDLE_MS = 5000
const PAGE_TIMEOUT_MS = 20_000
const RETRY_MS = 1000

export function createUpdates(parts: { readonly http: Http; readonly clock: Clock }): Updates {
  const { http, clock } = parts
  return async function* updates(options) {
    const { follow = true, pageSize = PAGE_SIZE, signal } = options
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
      throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
    const updateFormat = options.updateFormat ?? formatOf(options.parties ?? [])
    const progress = createProgress(options.checkpoint)
    let after = options.after ?? Number((await progress.load()) ?? 0)
    const end = follow ? null : await readLedgerEnd(http, signal)
    try {
      while (end === null || after < end) {
        let page: Schemas['JsGetUpdatesResponse'][] = []
        try {
          page = await readPage(http, { after, end, pageSize, updateFormat, signal })
        } catch (error) {
          if (!follow || !isQuorumscanError(error) || !error.retryable) throw error
          await clock.delay(RETRY_MS, signal)
        }
        for (const { update } of page) {
          const shown = shownOf(update)
          if (shown !== null) yield shown
          after = offsetOf(update)
          progress.note(String(after))
        }
        await progress.save()
        // All that there is up to the end was in a page that is not full.
        if (end !== null && page.length < pageSize) return
      }
    } finally {
      await progress.save()
    }
  }
}

export async function readLedgerEnd(http: Http, signal: AbortSignal | undefined): Promise<number> {
  const request = { method: 'GET', path: '/v2/state/ledger-end', signal } as const
  return (await http.call(request, isGetLedgerEndResponse)).offset
}

export function readPage(
  http: Http,
  page: {
    readonly after: number
    readonly end: number | null
    readonly pageSize: number
    readonly updateFormat: Schemas['UpdateFormat']
    readonly signal: AbortSignal | undefined
  },
): Promise<Schemas['JsGetUpdatesResponse'][]> {
  const { after, end, pageSize, updateFormat, signal } = page
  return http.call(
    {
      method: 'POST',
      path: '/v2/updates',
      query: { limit: pageSize, ...(end === null ? { stream_idle_timeout_ms: IDLE_MS } : {}) },
      body: {
        beginExclusive: after,
        updateFormat,
        ...(end === null ? {} : { endInclusive: end }),
      },
      isSafe: true,
      timeoutMs: PAGE_TIMEOUT_MS,
      signal,
    },
    isPage,
  )
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

function isPage(body: unknown): body is Schemas['JsGetUpdatesResponse'][] {
  return Array.isArray(body) && body.every(isJsGetUpdatesResponse)
}

/** null: an OffsetCheckpoint, which only says how far the stream is. */
function shownOf(update: Schemas['Update']): Update | null {
  if ('Transaction' in update) return { kind: 'transaction', ...update.Transaction.value }
  if ('TopologyTransaction' in update)
    return { kind: 'topology', ...update.TopologyTransaction.value }
  return null
}

function offsetOf(update: Schemas['Update']): number {
  if ('Transaction' in update) return update.Transaction.value.offset
  if ('TopologyTransaction' in update) return update.TopologyTransaction.value.offset
  return update.OffsetCheckpoint.value.offset
}
