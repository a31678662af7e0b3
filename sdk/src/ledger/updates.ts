/** The updates of the ledger as one iterator, over a WebSocket or by pages, continued after the last offset. */

import { failure, invalidArgument, isQuorumscanError } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import { isGetLedgerEndResponse, isJsGetUpdatesResponse } from '../generated/ledger-checks.ts'
import { type Checkpoint, follow } from '../http/follow.ts'
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { createSocketReads, retryPauseMs, type WebSocketConstructor } from '../http/stream.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import type { Clock } from '../platform/clock.ts'
import type { Random } from '../platform/random.ts'

type Schemas = components['schemas']

/** An update with the member names of the ledger interface. Offsets only grow. */
export type Update =
  | ({ readonly kind: 'transaction' } & Schemas['JsTransaction'])
  | ({ readonly kind: 'topology' } & Schemas['JsTopologyTransaction'])

/** Which updates to read, where to begin, and whether to follow. */
export type UpdatesOptions = {
  /** All transactions that these parties can see. The token must allow it. */
  readonly parties?: readonly string[]
  /** Instead of `parties`: the exact filter. */
  readonly updateFormat?: Schemas['UpdateFormat']
  /** Only updates after this offset. Default: the offset of the checkpoint, else 0, the beginning. */
  readonly after?: number
  /** Whether to wait for more at the end. Default true. */
  readonly follow?: boolean
  /** Used without a WebSocket: from 1 to 200. Default 100. */
  readonly pageSize?: number
  readonly checkpoint?: Checkpoint
  readonly signal?: AbortSignal | undefined
}

/**
 * Yields every update once, in order, over a WebSocket if the platform has one, else page by page. After a transient
 * failure, a followed stream continues after the last update. Leave the loop or abort the signal to stop.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT, PERMISSION_DENIED, …; without `follow` also transient failures.
 */
export type Updates = (options: UpdatesOptions) => AsyncIterableIterator<Update>

type UpdateElement = Schemas['JsGetUpdatesResponse']

const PAGE_SIZE_MAX = 200
/** Consecutive failures of a stream that does not follow. */
const FAILURES_MAX = 3

export function createUpdates(parts: {
  readonly http: Http
  readonly clock: Clock
  readonly random: Random
  /** null: pages only. */
  readonly WebSocket: WebSocketConstructor | null
  /** URL of the ledger interface. */
  readonly url: string
}): Updates {
  const { http, clock, random } = parts
  const never = new AbortController().signal
  const readSocket = createSocketReads(parts.WebSocket, clock)
  let expired: string | null = null

  /** Reads over a socket (D-28). If none opens, reads a page, whose failure has a reason. */
  async function* read(range: UpdateRange, pageSize: number) {
    const { end, signal } = range
    if (parts.WebSocket !== null) {
      const token = await http.token(expired, signal ?? never)
      const protocols = ['daml.ws.auth', ...(token === null ? [] : [`jwt.token.${token}`])]
      const frames = readSocket(token, {
        url: `${parts.url}/v2/updates`,
        protocols,
        signal,
        what: 'updates',
        request: requestOf(range),
        isFrame: isJsGetUpdatesResponse,
        isFinite: end !== null,
      })
      try {
        if (yield* frames) return
      } catch (error) {
        if (isQuorumscanError(error) && error.code === 'ACCESS_TOKEN_EXPIRED') expired = token
        throw error
      }
    }
    const frames = await readPage(http, range, pageSize)
    // A page that is not full reaches the end.
    yield { frames, isDone: end !== null && frames.length < pageSize }
  }

  return async function* updates(options) {
    const { follow: isFollowing = true, checkpoint, signal } = options
    const pageSize = pageSizeOf(options, PAGE_SIZE_MAX)
    const updateFormat = options.updateFormat ?? formatOf(options.parties ?? [])
    const end = isFollowing ? null : await readLedgerEnd(http, signal)
    let last = 0
    yield* follow({
      checkpoint,
      after: options.after === undefined ? undefined : String(options.after),
      clock,
      signal,
      async *read(position) {
        const after = Number(position() ?? 0)
        last = after
        if (end !== null && after >= end) yield { frames: [], isDone: true }
        else yield* read({ after, end, updateFormat, signal }, pageSize)
      },
      toItem(element) {
        last = nextOffset(element, last)
        return { position: String(last), item: itemOf(element) }
      },
      pauseMs: (failures) =>
        isFollowing || failures < FAILURES_MAX ? retryPauseMs(failures, random) : null,
    })
  }
}

/** null: an OffsetCheckpoint, which only has a position. */
function itemOf({ update }: UpdateElement): Update | null {
  if ('OffsetCheckpoint' in update) return null
  return 'Transaction' in update
    ? { kind: 'transaction', ...update.Transaction.value }
    : { kind: 'topology', ...update.TopologyTransaction.value }
}

/**
 * The offset of the next element after an offset. A checkpoint may repeat the offset.
 *
 * @throws {QuorumscanError} INVALID_RESPONSE if the list goes back, which would make it endless.
 */
function nextOffset({ update }: UpdateElement, last: number): number {
  if ('OffsetCheckpoint' in update) {
    const { offset } = update.OffsetCheckpoint.value
    if (offset >= last) return offset
  } else {
    const { offset } =
      'Transaction' in update ? update.Transaction.value : update.TopologyTransaction.value
    if (offset > last) return offset
  }
  throw notInOrder()
}

function notInOrder() {
  return failure('INVALID_RESPONSE', 'The validator answers with updates that are not in order.')
}

/** Updates after `after`, up to `end`; null: without end. */
type UpdateRange = {
  readonly after: number
  readonly end: number | null
  readonly updateFormat: Schemas['UpdateFormat']
  readonly signal: AbortSignal | undefined
}

/** How long the server waits for the next update. */
const IDLE_MS = 5000
const PAGE_TIMEOUT_MS = 20_000

export async function readLedgerEnd(http: Http, signal: AbortSignal | undefined): Promise<number> {
  const request = { method: 'GET', path: '/v2/state/ledger-end', signal } as const
  return (await http.call(request, isGetLedgerEndResponse)).offset
}

/**
 * The next updates, at most `pageSize`. Without an end it waits some seconds for the first one.
 *
 * On a busy ledger a page without an end would never complete. So it reads existing updates up to the current end, and
 * waits for the next one only if nothing is left to read.
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

/**
 * Searches the updates of a range for the first that `pick` wants; null: it wants none.
 *
 * @throws {QuorumscanError} INVALID_RESPONSE if a page does not advance.
 */
export async function findUpdate<Found>(
  http: Http,
  range: UpdateRange & { readonly end: number },
  pick: (update: UpdateElement['update']) => Found | null,
): Promise<Found | null> {
  let { after } = range
  while (after < range.end) {
    const page = await readPage(http, { ...range, after }, PAGE_SIZE_MAX)
    const first = after
    for (const element of page) {
      after = nextOffset(element, after)
      const found = pick(element.update)
      if (found !== null) return found
    }
    // A page that is not full reaches the end.
    if (page.length < PAGE_SIZE_MAX) return null
    if (after === first) throw notInOrder()
  }
  return null
}

function ask(http: Http, range: UpdateRange, query: NonNullable<HttpRequest['query']>) {
  const { signal } = range
  const safely = { isSafe: true, timeoutMs: PAGE_TIMEOUT_MS, signal }
  const body = requestOf(range)
  return http.call({ method: 'POST', path: '/v2/updates', query, body, ...safely }, isPage)
}

/** The request of a page and of a WebSocket. */
function requestOf({ after, end, updateFormat }: UpdateRange): object {
  return { beginExclusive: after, updateFormat, ...(end === null ? {} : { endInclusive: end }) }
}

/** A filter for all transactions that the parties can see, with their effects. */
export function formatOf(parties: readonly string[]): Schemas['UpdateFormat'] {
  if (parties.length === 0) throw invalidArgument('Pass `parties` or `updateFormat`.')
  const filtersByParty = Object.fromEntries(parties.map((party) => [party, {}]))
  const transactionShape = 'TRANSACTION_SHAPE_LEDGER_EFFECTS'
  return { includeTransactions: { eventFormat: { filtersByParty }, transactionShape } }
}

function isPage(body: unknown): body is UpdateElement[] {
  return Array.isArray(body) && body.every(isJsGetUpdatesResponse)
}
