/**
 * Entries that were signed and have no outcome yet. Each is offered once its time has come, until the log has
 * it, and watched until the replica has applied it or record time has passed its `notAfter`.
 */
import type { Clock, Random } from '@quorumscan/base'
import type { AppliedEntry, Ordering } from '@quorumscan/ledger'
import type { Micros, Offset } from '@quorumscan/model'
import { createOffer, type OfferAttempt } from './offer.ts'

/** An entry on its way, and who wants to know what becomes of it. */
export type InFlightEntry = {
  readonly entryHash: string
  readonly bytes: () => Uint8Array
  /** Record time that must be reached before it is offered: the bound holds whatever clocks say. */
  readonly notBefore: Micros
  readonly notAfter: Micros
  onApplied(entry: AppliedEntry): void
  /** It has no effect, and never will: every offset up to here was seen, and later ones are too late for it. */
  onExpired(at: { readonly offset: Offset; readonly recordTime: Micros }): void
  /** The synchronizer refuses it for good. An earlier offer may have got through. */
  onRefused(error: unknown): void
  /** Ends the offering. */
  readonly signal: AbortSignal
}

export type InFlight = {
  /** `recordTime` is that of the head. Returns what is known of the offers. */
  add(entry: InFlightEntry, recordTime: Micros): OfferAttempt
  /** Nothing is told of it any more. */
  remove(entryHash: string): void
  readonly count: () => number
  /** To be told every applied entry, in order. */
  apply(entry: AppliedEntry): void
}

export function createInFlight(deps: {
  readonly ordering: Pick<Ordering, 'submit'>
  readonly clock: Clock
  readonly random: Random
  /** Whether to wait for room on the log's disk, which takes an operator; else that is a refusal for good. */
  readonly waitsForRoom: boolean
}): InFlight {
  const offer = createOffer(deps)
  type Item = InFlightEntry & { readonly attempt: OfferAttempt; isOffered: boolean }
  const items = new Map<string, Item>()

  const begin = (item: Item, recordTime: Micros): void => {
    if (item.isOffered || recordTime < item.notBefore) return
    item.isOffered = true
    offer(item.attempt, item.bytes(), item.signal).catch((error) => item.onRefused(error))
  }

  return {
    add(entry, recordTime) {
      const attempt = { mayBeInLog: false, refusal: null }
      const item = { ...entry, attempt, isOffered: false }
      items.set(entry.entryHash, item)
      begin(item, recordTime)
      return attempt
    },
    remove: (entryHash) => items.delete(entryHash),
    count: () => items.size,
    apply(entry) {
      const { recordTime, result } = entry
      // The same bytes again: what they did, they did before.
      const isRepeated = result.kind === 'ignored' && result.reason === 'seen before'
      if (!isRepeated) items.get(entry.entryHash)?.onApplied(entry)
      for (const item of items.values())
        if (recordTime > item.notAfter) item.onExpired(entry)
        else begin(item, recordTime)
    },
  }
}
