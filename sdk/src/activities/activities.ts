/** The history of coin: pages of activities as one iterator that can follow, and resumes where it was. */

import { requestOfActivitiesPage } from '@quorumscan/reader/certified'
import { invalidArgument, isQuorumscanError } from '../errors.ts'
import type { components } from '../generated/validator.ts'
import { retryPauseMs } from '../http/reconnect.ts'
import { notBelow, pageSizeOf, readOptions } from '../names/bound-reads.ts'
import { isAnswered, type LookupOptions, type LookupSource } from '../names/lookups.ts'
import { outcomeError } from '../names/outcome-error.ts'
import { retryLookups } from '../names/retry-lookups.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import { type Checkpoint, createProgress } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import type { ActivityNews } from './activity-socket.ts'

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

export function createActivities(parts: {
  readonly source: Pick<LookupSource, 'read'>
  readonly clock: Clock
  /** Nothing older is read. */
  readonly floor: () => Promise<number>
  readonly timeoutMs: number
  readonly defaults: Pick<LookupOptions, 'threshold' | 'maxAgeMs'>
  /** Tells when there may be more. Without it, that is looked at. */
  readonly live?: { readonly news: ActivityNews; readonly random: Random }
}): Activities {
  const { source, clock, live } = parts

  const readPage = (
    options: ActivitiesOptions,
    page: { readonly after: string | null; readonly minOffset: number; readonly offsetMin: number },
  ): Promise<{ readonly rows: readonly Activity[]; readonly offset: number }> => {
    const timeoutMs = options.timeoutMs ?? parts.timeoutMs
    const endsAtMs = clock.monotonicMs() + timeoutMs
    const bound = { clock, timeoutMs, signal: options.signal, what: 'list activities' }
    return withDeadline(bound, async (signal) => {
      const { after, offsetMin } = page
      const floor = Math.max(page.minOffset, offsetMin, await parts.floor())
      const minOffset = notBelow(floor, options.minOffset)
      const read = {
        ...readOptions({ ...parts.defaults, ...options, minOffset }),
        signal,
        endsAtMs,
      }
      const { order = 'asc' } = options
      const pageSize = pageSizeOf(options)
      const request = requestOfActivitiesPage({ pageSize, after, order, offsetMin })
      const ask = async () => [await source.read(request, read)]
      const [outcome] = await retryLookups(ask, { clock, read })
      if (outcome === undefined || !isAnswered(outcome))
        throw outcomeError('list activities', outcome as Unanswered)
      // Rows of a history that members signed.
      const { activities } = outcome.answer as components['schemas']['ActivitiesAnswer']
      const rows = activities.map((row): Activity => toCamel(row))
      return { rows, offset: outcome.offset }
    })
  }

  /** Offsets to read at, or behind: one for what there is, then one whenever there may be more. */
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
    const { follow = false, signal } = options
    pageSizeOf(options)
    if (follow && options.order === 'desc') throw invalidArgument('Only `asc` can follow.')
    const progress = createProgress(options.checkpoint)
    let after = options.after ?? (await progress.load())
    // An earlier state could end the walk before its end.
    let offsetMin = 0
    let failures = 0
    try {
      for (;;) {
        try {
          for await (const minOffset of turns(options))
            for (;;) {
              const { rows, offset } = await readPage(options, { after, minOffset, offsetMin })
              offsetMin = offset
              failures = 0
              for (const row of rows) {
                yield row
                after = row.eventId
                progress.note(after)
              }
              await progress.save()
              if (rows.length === 0) break
            }
          if (!follow) return
        } catch (error) {
          signal?.throwIfAborted()
          if (!follow || !isQuorumscanError(error) || !error.retryable) throw error
          failures++
          await clock.delay(pauseMs(options, failures), signal)
        }
      }
    } finally {
      await progress.save()
    }
  }

  /** After so many failures in a row. */
  function pauseMs({ pollMs = POLL_MS }: ActivitiesOptions, failures: number): number {
    return live === undefined ? pollMs : retryPauseMs(failures, live.random)
  }
}

type Unanswered = Parameters<typeof outcomeError>[1]
