/** From a caller's question to items, and back: what is refused before anything is asked, and cancelling. */

import { maxFaulty } from '../genesis/genesis.ts'
import type { Decisions } from '../votes/decisions.ts'
import type { Outcome, ReadOptions } from '../votes/outcome.ts'
import type { ActiveItems } from './active-items.ts'
import type { Floor } from './floor.ts'
import { createItem, type Item } from './item.ts'
import { overloaded, type ReaderClock, ReaderError } from './reader-options.ts'

const MAX_AGE_MS = 60_000 // D-39.
/** Lookups waiting in one reader: so many it has in memory. */
const ITEMS_WAITING_MAX = 20_000
/** Of the answers to pages and activities waiting: so much a lying node can make us hold. */
const READ_BYTES_WAITING_MAX = 64 * 1024 * 1024

/** So long before its caller goes a read tells what it knows: two sweeps and more. */
const TELL_MS = 100

type Asked = {
  /** Lookups, or one read. */
  readonly asked: readonly Item['asked'][]
  readonly options: ReadOptions
}

/**
 * Takes questions in.
 *
 * @param options.accept - Given the items of one question, all of them active.
 * @returns A function that resolves with the outcomes in the order asked. It throws ReaderError, and the
 *   signal's reason when aborted.
 */
export function createQuestions(options: {
  readonly nodeCount: number
  readonly clock: ReaderClock
  readonly decisions: Pick<Decisions, 'thresholdVotes'>
  readonly floor: Floor
  readonly active: ActiveItems
  /** How long a read may wait (D-38). */
  readonly waitMs: number
  /** Aborted when the reader closes. */
  readonly closing: AbortSignal
  readonly accept: (items: readonly Item[]) => void
}): (input: Asked) => Promise<Outcome[]> {
  const { nodeCount, clock, active } = options

  const thresholdOf = ({ threshold = 'weak' }: ReadOptions): number => {
    const votes = options.decisions.thresholdVotes(threshold, nodeCount)
    if (votes !== undefined) return votes
    const votesMin = maxFaulty(nodeCount) + 1
    throw new ReaderError(
      'INVALID_THRESHOLD',
      `the threshold is weak, strong, all or from ${votesMin} to ${nodeCount}`,
    )
  }

  const checkLoad = ({ asked }: Asked): void => {
    const [first] = asked
    const isFull = active.all.size + asked.length > ITEMS_WAITING_MAX
    const bytesMax = first?.kind === 'read' ? first.request.bytesMax : 0
    if (isFull || (bytesMax > 0 && active.readBytesMax() + bytesMax > READ_BYTES_WAITING_MAX))
      throw overloaded()
  }

  return async (input) => {
    const { minOffset = 0, maxAgeMs = MAX_AGE_MS, signal } = input.options
    const threshold = thresholdOf(input.options)
    if (!Number.isSafeInteger(minOffset) || minOffset < 0 || !(maxAgeMs >= 0))
      throw new ReaderError(
        'INVALID_ARGUMENT',
        'minOffset is a whole number and maxAgeMs a number, neither is negative',
      )
    signal?.throwIfAborted()
    await options.floor.load()
    signal?.throwIfAborted() // An abort meanwhile is told to nobody later.
    if (options.closing.aborted) throw new ReaderError('CLOSED', 'the reader is closed')
    checkLoad(input)
    if (input.asked.length === 0) return []
    return new Promise((resolve, reject) => {
      const outcomes: Outcome[] = []
      let missing = input.asked.length
      const finishAll = () => {
        for (const item of items) active.finish(item)
      }
      const abort = () => {
        finishAll()
        reject(signal?.reason)
      }
      const startedAtMs = clock.monotonicMs()
      const { endsAtMs: leavesAtMs = Number.POSITIVE_INFINITY } = input.options
      const endsAtMs = Math.min(startedAtMs + options.waitMs, leavesAtMs - TELL_MS)
      const items = input.asked.map((asked, index) =>
        createItem({
          asked,
          threshold,
          maxAgeMs,
          startedAtMs,
          endsAtMs,
          options: input.options,
          deliver: (outcome) => {
            outcomes[index] = outcome
            if (--missing > 0) return
            signal?.removeEventListener('abort', abort)
            resolve(outcomes)
          },
          fail: (reason) => {
            finishAll()
            signal?.removeEventListener('abort', abort)
            reject(reason)
          },
        }),
      )
      signal?.addEventListener('abort', abort, { once: true })
      options.accept(items)
    })
  }
}
