/** Coin activities: pages as one iterator, which can follow and continues after its checkpoint. */

import { requestOfActivitiesPage } from '@quorumscan/reader/certified'
import { invalidArgument } from '../errors.ts'
import type { components } from '../generated/answers.ts'
import type { components as wire } from '../generated/validator.ts'
import { type Checkpoint, type FrameBatch, follow } from '../http/follow.ts'
import { readAnswer } from '../names/asking.ts'
import { type Bounds, type LookupSource, notBelow } from '../names/bounded.ts'
import type { LookupOptions } from '../names/lookup-types.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { toCamel } from '../platform/camel.ts'
import type { ActivityHints } from './activity-hints.ts'

/**
 * One row: exactly one of transfer, mint, tap and abortTransferInstruction is not null. A `party` is null if the text is not
 * a party.
 */
export type Activity = components['schemas']['Activity']

/** Which rows to read, their order, and whether to follow. */
export type ActivitiesOptions = LookupOptions & {
  /** `asc` (default): oldest first. */
  readonly order?: 'asc' | 'desc'
  /** Only rows after this eventId. Default: the eventId of the checkpoint, else the beginning. */
  readonly after?: string
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
  /** Whether to wait for more rows at the end, only in ascending order. Default false. */
  readonly follow?: boolean
  /** Without a WebSocket: how long to wait at the end and after a failure, in ms. Default 1000. */
  readonly pollMs?: number
  /** Stores how far the rows were processed. */
  readonly checkpoint?: Checkpoint
}

/**
 * Yields every row once, in ledger order, each page with its proof. After a transient failure, a followed stream
 * continues after the last row. With `follow`, `createValidator` learns of new rows over a WebSocket if the platform has
 * one. Otherwise, and always with `createScan`, it polls every `pollMs`. Leave the loop or abort the signal to stop.
 *
 * @throws {QuorumscanError} As a lookup.
 */
export type Activities = (options?: ActivitiesOptions) => AsyncIterableIterator<Activity>

const POLL_MS = 1000

/** `hints` yields whenever there may be more rows. */
export type LiveActivities = {
  readonly hints: ActivityHints
  /** The pause in ms after consecutive failures. */
  readonly pauseMs: (failures: number) => number
}

/** @param live - Without it, the stream polls. */
export function createActivities(
  reads: Bounds & Pick<LookupSource, 'read'>,
  live: LiveActivities | null = null,
): Activities {
  const { clock } = reads

  /** Lowest offsets to read at: one for the existing rows, then one whenever there may be more. */
  async function* readOffsets({ follow = false, pollMs = POLL_MS, signal }: ActivitiesOptions) {
    yield 0
    if (!follow) return
    if (live !== null) yield* live.hints(signal)
    // Without a socket, or until the next attempt to open one.
    await clock.delay(pollMs, signal)
  }

  return async function* activities(options = {}) {
    const { follow: isFollowing = false, order = 'asc', pollMs = POLL_MS } = options
    const pageSize = pageSizeOf(options)
    if (isFollowing && order === 'desc') throw invalidArgument('`follow` needs the order `asc`.')
    // An older state could end the walk too early.
    let offsetMin = 0

    async function* read(position: () => string | null): AsyncGenerator<FrameBatch<Activity>> {
      for await (const hintOffset of readOffsets(options))
        for (let isOver = false; !isOver; ) {
          const page = { pageSize, after: position(), order, offsetMin }
          const asked = { ...options, minOffset: notBelow(offsetMin, options.minOffset) }
          const found = await readAnswer(reads, 'list activities', asked, (bounds) =>
            reads.read(requestOfActivitiesPage(page), { ...bounds, statedOffset: hintOffset }),
          )
          offsetMin = found.offset
          // Members have signed the history of these rows.
          const { activities: rows } = found.answer as wire['schemas']['ActivitiesAnswer']
          isOver = rows.length === 0
          yield { frames: rows.map((row): Activity => toCamel(row)), isDone: false }
        }
      if (!isFollowing) yield { frames: [], isDone: true }
    }

    const usualPauseMs = (failures: number) => live?.pauseMs(failures) ?? pollMs
    yield* follow({
      checkpoint: options.checkpoint,
      after: options.after,
      clock,
      signal: options.signal,
      read,
      toItem: (row: Activity) => ({ position: row.eventId, item: row }),
      pauseMs: (failures) => (isFollowing ? usualPauseMs(failures) : null),
    })
  }
}
