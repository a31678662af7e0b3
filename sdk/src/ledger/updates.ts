/** The updates of the ledger as one iterator, over WebSocket or by pages, resumed from the last offset. */

import { isQuorumscanError } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import { isJsGetUpdatesResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import type { FrameBatch, WebSocketConstructor } from '../http/socket.ts'
import { createSocketReads, follow, retryPauseMs } from '../http/stream.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import type { Checkpoint } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'
import {
  formatOf,
  readLedgerEnd,
  readPage,
  requestOf,
  type UpdateElement,
  type UpdateRange,
} from './update-pages.ts'

type Schemas = components['schemas']

/** As the ledger interface shows them (its own names); offsets only grow. */
export type Update =
  | ({ readonly kind: 'transaction' } & Schemas['JsTransaction'])
  | ({ readonly kind: 'topology' } & Schemas['JsTopologyTransaction'])

/** Which updates, from where on, and whether to wait for more. */
export type UpdatesOptions = {
  /** Whose transactions: all that these parties may see. The token has to allow it. */
  readonly parties?: readonly string[]
  /** In place of `parties`: exactly what to deliver. */
  readonly updateFormat?: Schemas['UpdateFormat']
  /** Only what comes after this offset. Default: that of the checkpoint, else 0, the beginning. */
  readonly after?: number
  /** Whether to wait for more at the end. Default true. */
  readonly follow?: boolean
  /** From 1 to 200, where there is no WebSocket. Default 100. */
  readonly pageSize?: number
  readonly checkpoint?: Checkpoint
  readonly signal?: AbortSignal
}

/**
 * Every update once, in order: over a WebSocket where there is one, else page by page. While following, failures that may pass are waited out and the stream goes
 * on after the last update. Leaving the loop or aborting the signal ends it.
 *
 * @throws {QuorumscanError} INVALID_ARGUMENT, PERMISSION_DENIED, …; without `follow` also what may pass.
 */
export type Updates = (options: UpdatesOptions) => AsyncIterableIterator<Update>

const PAGE_SIZE_MAX = 200
/** Failures in a row, where nothing is followed. */
const FAILURES_MAX = 3

export function createUpdates(parts: {
  readonly http: Http
  readonly clock: Clock
  readonly random: Random
  /** null: pages only. */
  readonly WebSocket: WebSocketConstructor | null
  /** Of the ledger interface. */
  readonly url: string
}): Updates {
  const { http, clock, random } = parts
  const never = new AbortController().signal
  const readSocket = createSocketReads(parts.WebSocket, clock)
  let expired: string | null = null

  /** Over a socket (D-28); where none opens, a page, which works or tells why. */
  async function* read(
    range: UpdateRange,
    pageSize: number,
  ): AsyncGenerator<FrameBatch<UpdateElement>> {
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
    // All that there is up to the end was in a page that is not full.
    yield { frames, isDone: end !== null && frames.length < pageSize }
  }

  return async function* updates(options) {
    const { follow: isFollowing = true, checkpoint, signal } = options
    const pageSize = pageSizeOf(options, PAGE_SIZE_MAX)
    const updateFormat = options.updateFormat ?? formatOf(options.parties ?? [])
    const end = isFollowing ? null : await readLedgerEnd(http, signal)
    yield* follow({
      checkpoint,
      after: options.after === undefined ? undefined : String(options.after),
      clock,
      signal,
      async *read(position) {
        const after = Number(position() ?? 0)
        if (end !== null && after >= end) yield { frames: [], isDone: true }
        else yield* read({ after, end, updateFormat, signal }, pageSize)
      },
      take: ({ update }: UpdateElement) => ({
        position: String(offsetOf(update)),
        item: shownOf(update),
      }),
      pauseMs: (failures) =>
        isFollowing || failures < FAILURES_MAX ? retryPauseMs(failures, random) : null,
    })
  }
}

/** null: an OffsetCheckpoint, which only says how far the stream is. */
function shownOf(update: UpdateElement['update']): Update | null {
  if ('Transaction' in update) return { kind: 'transaction', ...update.Transaction.value }
  if ('TopologyTransaction' in update)
    return { kind: 'topology', ...update.TopologyTransaction.value }
  return null
}

function offsetOf(update: UpdateElement['update']): number {
  if ('Transaction' in update) return update.Transaction.value.offset
  if ('TopologyTransaction' in update) return update.TopologyTransaction.value.offset
  return update.OffsetCheckpoint.value.offset
}
