/** The history of coin: pages of activities as one iterator that can follow, and resumes where it was. */
import { activitiesBytesMax, type ReadRequest, requestOfActivities } from '@quorumscan/consensus'
import { invalidArgument, isQuorumscanError, QuorumscanError } from '../errors.ts'
import { isActivitiesAnswer } from '../generated/activity-checks.ts'
import type { components } from '../generated/validator.ts'
import { retryPauseMs } from '../http/reconnect.ts'
import { readOptions } from '../names/bound-reads.ts'
import {
  type Answered,
  isAnswered,
  type LookupOptions,
  type LookupSource,
} from '../names/lookups.ts'
import { outcomeError } from '../names/outcome-error.ts'
import { type Camel, toCamel } from '../platform/camel.ts'
import { type Checkpoint, createProgress } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import type { LivePages } from './activity-socket.ts'

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

// Spec silent: an activity is pushed only where a whole page is, because what makes it more than a server's
// word are the scan nodes' equal answers at one offset, with their signatures. A validator gathers those; the
// nodes, each for itself, have only their own, so that with `createScan` activities come by pages.
/**
 * Every row once, in order of the ledger. Each page is verified; while following, failures that may pass are
 * waited out and the stream goes on after the last row. With `follow`, `createValidator` uses a WebSocket
 * where there is one: rows come when the ledger has them, each page is checked as one over HTTP is, and the
 * proxy has to show at least every 15 s that there are no others. Else, and always with `createScan`, it asks
 * page by page, every `pollMs` at the end. Leaving the loop or aborting the signal ends it.
 *
 * @throws {QuorumscanError} As a lookup.
 */
export type Activities = (options?: ActivitiesOptions) => AsyncIterableIterator<Activity>

const PAGE_SIZE = 100
const PAGE_SIZE_MAX = 1000
const POLL_MS = 1000

export function createActivities(parts: {
  readonly source: LookupSource
  readonly clock: Clock
  readonly timeoutMs: number
  readonly defaults: Pick<LookupOptions, 'threshold' | 'maxAgeMs'>
  /** Pages that come by themselves. Without it they are asked for. */
  readonly live?: { readonly pages: LivePages; readonly random: Random }
}): Activities {
  const { source, clock, live } = parts

  const readPage = (
    options: ActivitiesOptions,
    after: string | null,
  ): Promise<Answered<unknown>> => {
    const timeoutMs = options.timeoutMs ?? parts.timeoutMs
    const endsAtMs = clock.monotonicMs() + timeoutMs
    const bound = {
      clock,
      timeoutMs,
      signal: options.signal,
      what: 'list activities',
    }
    return withDeadline(bound, async (deadline) => {
      const read = readOptions({ ...parts.defaults, ...options })
      const bounds = { ...read, endsAtMs, signal: deadline }
      const outcome = await source.read(requestOf(options, after), bounds)
      if (!isAnswered(outcome)) throw outcomeError('list activities', outcome)
      return outcome
    })
  }

  /** Until there is nothing more for now. */
  async function* pages(
    options: ActivitiesOptions,
    position: () => string | null,
  ): AsyncGenerator<readonly Activity[]> {
    if (options.follow === true && live !== undefined) {
      const from = {
        after: position(),
        requestOf: (after: string | null) => requestOf(options, after),
        lastOf: (page: Answered<unknown>) => idsOf(page).at(-1) ?? null,
        read: readOptions({ ...parts.defaults, ...options }),
        signal: options.signal,
      }
      for await (const page of live.pages(from)) yield rowsOf(page, options, position())
      // No socket opened: one page tells why, or works.
    }
    for (;;) {
      const rows = rowsOf(await readPage(options, position()), options, position())
      if (rows.length === 0) return
      yield rows
    }
  }

  return async function* activities(options = {}) {
    const { pageSize = PAGE_SIZE, follow = false, pollMs = POLL_MS, signal } = options
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
      throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
    if (follow && options.order === 'desc') throw invalidArgument('Only `asc` can follow.')
    const progress = createProgress(options.checkpoint)
    let after = options.after ?? (await progress.load())
    let failures = 0
    try {
      for (;;) {
        try {
          for await (const rows of pages(options, () => after)) {
            failures = 0
            for (const row of rows) {
              yield row
              after = row.eventId
              progress.note(after)
            }
            await progress.save()
          }
          if (!follow) return
          failures = 0
        } catch (error) {
          signal?.throwIfAborted()
          if (!follow || !isQuorumscanError(error) || !error.retryable) throw error
          failures++
        }
        const isLost = failures > 0 && live !== undefined
        await clock.delay(isLost ? retryPauseMs(failures, live.random) : pollMs, signal)
      }
    } finally {
      await progress.save()
    }
  }
}

function requestOf(options: ActivitiesOptions, after: string | null): ReadRequest {
  const { order = 'asc', pageSize = PAGE_SIZE } = options
  const request = requestOfActivities({
    page_size: pageSize,
    begin_after_id: after,
    sort_order: order,
  })
  return {
    ...request,
    method: 'POST',
    path: '/v0/activities',
    body: new TextEncoder().encode(JSON.stringify(request.parameters)),
    bytesMax: activitiesBytesMax(pageSize),
    isValid: isActivitiesAnswer,
  }
}

type Page = components['schemas']['ActivitiesAnswer']

function idsOf(page: Answered<unknown>): readonly string[] {
  return (page.answer as Page).activities.map((row) => row.event_id)
}

/** @throws {QuorumscanError} INVALID_RESPONSE if they are not those that come after the row, in order. */
function rowsOf(
  page: Answered<unknown>,
  { order = 'asc', pageSize = PAGE_SIZE }: ActivitiesOptions,
  after: string | null,
): readonly Activity[] {
  const { activities } = page.answer as Page
  let before = after
  for (const { event_id: id } of activities) {
    const isNext = before === null || (order === 'asc' ? id > before : id < before)
    if (!isNext || activities.length > pageSize)
      throw new QuorumscanError('The page of activities holds rows that were not asked for.', {
        code: 'INVALID_RESPONSE',
        definite: true,
        retryable: false,
      })
    before = id
  }
  return activities.map((row): Activity => toCamel(row))
}
