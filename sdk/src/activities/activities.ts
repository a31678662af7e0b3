/** The history of coin: pages of activities as one iterator that can follow, and resumes where it was. */

import { requestOfActivitiesPage } from '@quorumscan/reader/certified'
import { invalidArgument } from '../errors.ts'
import type { components } from '../generated/validator.ts'
import type { FrameBatch, WebSocketConstructor } from '../http/socket.ts'
import { createSocketReads, follow, retryPauseMs } from '../http/stream.ts'
import { readAnswer } from '../names/asking.ts'
import { type Bounds, notBelow } from '../names/bounded.ts'
import type { LookupOptions, LookupSource } from '../names/lookups.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import type { Checkpoint } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'

/** One row: exactly one of transfer, mint, tap and abortTransferInstruction is not null. */
export type Activity = Camel<components['schemas']['Activity']>

/** Which rows, in which order, and whether to wait for more. */
export type ActivitiesOptions = LookupOptions & {
  /** `asc` (default): oldest first. */
  readonly order?: 'asc' | 'desc'
  /** eventId to go on after. Default: that of the checkpoint, else the beginning. */
  readonly after?: string
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
  /** Whether to wait for more at the end; only ascending. Default false. */
  readonly follow?: boolean
  /** Where there is no WebSocket: how long to wait at the end, and after a failure. Default 1000. */
  readonly pollMs?: number
  /** Where to keep how far the rows were processed. */
  readonly checkpoint?: Checkpoint
}

/**
 * Every row once, in order of the ledger, each page with its proof; while following, failures that may pass are waited
 * out and the stream goes on after the last row. With `follow`, `createValidator` is told by a WebSocket, where there
 * is one, when to read on; else, and always with `createScan`, it asks every `pollMs`. Leaving the loop or aborting
 * the signal ends it.
 *
 * @throws {QuorumscanError} As a lookup.
 */
export type Activities = (options?: ActivitiesOptions) => AsyncIterableIterator<Activity>

const POLL_MS = 1000

/** @param live - Says when there may be more. Without it, that is looked at. */
export function createActivities(
  reads: Bounds & Pick<LookupSource, 'read'>,
  live?: { readonly news: ActivityNews; readonly random: Random },
): Activities {
  const { clock } = reads

  /** Offsets to read at, or after: one for what there is, then one whenever there may be more. */
  async function* turns({
    follow = false,
    pollMs = POLL_MS,
    signal,
  }: ActivitiesOptions): AsyncGenerator<number> {
    yield 0
    if (!follow) return
    if (live !== undefined) yield* live.news(signal)
    // Without a socket, or until one is tried again.
    await clock.delay(pollMs, signal)
  }

  return async function* activities(options = {}) {
    const { follow: isFollowing = false, order = 'asc', pollMs = POLL_MS } = options
    const pageSize = pageSizeOf(options)
    if (isFollowing && order === 'desc') throw invalidArgument('Only `asc` can follow.')
    // An earlier state could end the walk before its end.
    let offsetMin = 0

    async function* read(position: () => string | null): AsyncGenerator<FrameBatch<Activity>> {
      for await (const newsOffset of turns(options))
        for (let isOver = false; !isOver; ) {
          const page = { pageSize, after: position(), order, offsetMin }
          const minOffset = notBelow(Math.max(newsOffset, offsetMin), options.minOffset)
          const found = await readAnswer(
            reads,
            'list activities',
            { ...options, minOffset },
            (bounds) => reads.read(requestOfActivitiesPage(page), bounds),
          )
          offsetMin = found.offset
          // Rows of a history that members signed.
          const { activities: rows } = found.answer as components['schemas']['ActivitiesAnswer']
          isOver = rows.length === 0
          yield { frames: rows.map((row): Activity => toCamel(row)), isDone: false }
        }
      if (!isFollowing) yield { frames: [], isDone: true }
    }

    const usualPauseMs = (failures: number) =>
      live === undefined ? pollMs : retryPauseMs(failures, live.random)
    yield* follow({
      checkpoint: options.checkpoint,
      after: options.after,
      clock,
      signal: options.signal,
      read,
      take: (row: Activity) => ({ position: row.eventId, item: row }),
      pauseMs: (failures) => (isFollowing ? usualPauseMs(failures) : null),
    })
  }
}

/**
 * An offset whenever it is time to read on, there or after it. It ends where no socket opens, at once for a minute
 * after one did not.
 *
 * @throws {QuorumscanError} What the validator says, and NETWORK_ERROR when the connection is lost.
 */
export type ActivityNews = (signal: AbortSignal | undefined) => AsyncGenerator<number>

/**
 * When there may be more activities, by one WebSocket of a validator. It proves nothing: rows are read over HTTP, with
 * proofs, so that one that lies here only causes reads in vain, or later ones.
 */
export function createActivityNews(parts: {
  readonly WebSocket: WebSocketConstructor
  /** Of the validator, http or https. */
  readonly url: string
  readonly clock: Clock
}): ActivityNews {
  const readSocket = createSocketReads(parts.WebSocket, parts.clock)
  return async function* news(signal) {
    const batches = readSocket(null, {
      url: `${parts.url}/v0/scan-proxy/activities`,
      protocols: [],
      signal,
      what: 'activities',
      request: {},
      isFrame: isNews,
      isFinite: false,
    })
    for await (const { frames } of batches) yield Math.max(...frames.map(({ offset }) => offset))
  }
}

function isNews(body: unknown): body is { readonly offset: number } {
  const { offset } = Object(body)
  return Number.isSafeInteger(offset) && offset >= 0
}
