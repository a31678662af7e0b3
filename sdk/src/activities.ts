/** The history of coin: pages of activities as one iterator that can follow, and resumes where it was. */
import { isDecided } from '@quorumscan/consensus'
import { type Camel, toCamel } from './camel.ts'
import { type Checkpoint, createProgress } from './checkpoint.ts'
import type { Clock } from './clock.ts'
import { withDeadline } from './deadline.ts'
import { jsonOf } from './entries.ts'
import { invalidArgument, isQuorumscanError } from './errors.ts'
import { isActivitiesAnswer } from './generated/activity-checks.ts'
import type { components } from './generated/validator.ts'
import type { LookupOptions, LookupSource } from './lookups.ts'
import { readOptions } from './names.ts'
import { outcomeError } from './outcome-error.ts'

/** One row: exactly one of transfer, mint, tap and abortTransferInstruction is not null. */
export type Activity = Camel<components['schemas']['Activity']>

export type ActivitiesOptions = LookupOptions & {
  /** `asc` (default): oldest first. */
  readonly order?: 'asc' | 'desc'
  /** eventId to go on after. Default: that of the checkpoint, else the beginning. */
  readonly after?: string
  /** From 1 to 1000. Default 100. */
  readonly pageSize?: number
  /** Whether to wait for more at the end; only ascending. Default false. */
  readonly follow?: boolean
  /** How long to wait at the end, and after a failure that may pass. Default 1000. */
  readonly pollMs?: number
  /** Where to keep how far the rows were processed. */
  readonly checkpoint?: Checkpoint
}

// Spec silent: activities come by pages only, also where there is a WebSocket. A page is worth what the scan
// nodes agree on at one offset, and they push nothing: a stream of the validator's would have to poll them
// for us, would be no sooner here than our own poll, and its rows would be the validator's word, without
// votes or receipts that we could check. `updates` stream, because there the validator is the source.
/**
 * Every row once, in order of the ledger. Each page is verified; while following, failures that may
 * pass are waited out. Leaving the loop or aborting the signal ends it.
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
}): Activities {
  const { source, clock } = parts

  const readPage = (options: ActivitiesOptions, after: string | null) => {
    const { order = 'asc', pageSize = PAGE_SIZE, signal } = options
    const parameters = { page_size: pageSize, begin_after_id: after, sort_order: order }
    const bound = {
      clock,
      timeoutMs: options.timeoutMs ?? parts.timeoutMs,
      signal,
      what: 'list activities',
      isRead: true,
    }
    return withDeadline(bound, async (deadline) => {
      const outcome = await source.read(
        {
          operation: 'listActivities',
          parameters,
          method: 'POST',
          path: '/v0/activities',
          body: new TextEncoder().encode(JSON.stringify(parameters)),
          isValid: isActivitiesAnswer,
        },
        { ...readOptions({ ...parts.defaults, ...options }), signal: deadline },
      )
      if (!isDecided(outcome)) throw outcomeError('list activities', outcome)
      const { activities } = jsonOf(outcome) as components['schemas']['ActivitiesAnswer']
      return activities.map((row): Activity => toCamel(row))
    })
  }

  return async function* activities(options = {}) {
    const { pageSize = PAGE_SIZE, follow = false, pollMs = POLL_MS, signal } = options
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
      throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
    if (follow && options.order === 'desc') throw invalidArgument('Only `asc` can follow.')
    const progress = createProgress(options.checkpoint)
    let after = options.after ?? (await progress.load())
    try {
      for (;;) {
        let rows: readonly Activity[] = []
        try {
          rows = await readPage(options, after)
        } catch (error) {
          if (!follow || !isQuorumscanError(error) || !error.retryable) throw error
        }
        for (const row of rows) {
          yield row
          after = row.eventId
          progress.note(after)
        }
        await progress.save()
        if (rows.length > 0) continue
        if (!follow) return
        await clock.delay(pollMs, signal)
      }
    } finally {
      await progress.save()
    }
  }
}
