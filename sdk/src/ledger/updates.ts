/** The updates of the ledger as one iterator, over WebSocket or by pages, resumed from the last offset. */

import { invalidArgument, isQuorumscanError } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import type { Http } from '../http/http.ts'
import { createSocketTrials, retryPauseMs } from '../http/reconnect.ts'
import { SocketRefused, type WebSocketConstructor } from '../http/socket.ts'
import { type Checkpoint, createProgress } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'
import {
  formatOf,
  readLedgerEnd,
  readPage,
  type UpdateElement,
  type UpdateRange,
} from './update-pages.ts'
import { readSocket, type UpdateBatch } from './update-socket.ts'

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

const PAGE_SIZE = 100
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
  const { http, clock, random, WebSocket } = parts
  const never = new AbortController().signal
  const trials = createSocketTrials(clock)
  let expired: string | null = null

  async function* read(range: UpdateRange, pageSize: number): AsyncGenerator<UpdateBatch> {
    if (WebSocket !== null) {
      const token = await http.token(expired, range.signal ?? never)
      if (trials.isWorthTrying(token))
        try {
          yield* readSocket({ WebSocket, url: parts.url, token, clock }, range)
          return
        } catch (error) {
          if (isQuorumscanError(error) && error.code === 'ACCESS_TOKEN_EXPIRED') expired = token
          if (!(error instanceof SocketRefused)) throw error
          // Over HTTP it tells why, or it works.
          trials.noteRefusal(token)
        }
    }
    const updates = await readPage(http, range, pageSize)
    // All that there is up to the end was in a page that is not full.
    yield { updates, isLast: range.end !== null && updates.length < pageSize }
  }

  return async function* updates(options) {
    const { follow = true, pageSize = PAGE_SIZE, signal } = options
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
      throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
    const updateFormat = options.updateFormat ?? formatOf(options.parties ?? [])
    const progress = createProgress(options.checkpoint)
    let after = options.after ?? Number((await progress.load()) ?? 0)
    const end = follow ? null : await readLedgerEnd(http, signal)
    let failures = 0
    try {
      while (end === null || after < end) {
        try {
          for await (const batch of read({ after, end, updateFormat, signal }, pageSize)) {
            for (const { update } of batch.updates) {
              const shown = shownOf(update)
              if (shown !== null) yield shown
              after = offsetOf(update)
              progress.note(String(after))
            }
            failures = 0
            await progress.save()
            if (batch.isLast) return
          }
        } catch (error) {
          signal?.throwIfAborted()
          failures++
          if (!isQuorumscanError(error) || !error.retryable) throw error
          if (!follow && failures >= FAILURES_MAX) throw error
          await clock.delay(retryPauseMs(failures, random), signal)
        }
      }
    } finally {
      await progress.save()
    }
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
