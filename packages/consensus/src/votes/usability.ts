/** Which nodes an item can count on, as far as is known (D-38). */

import type { Lane, Link } from '../nodes/link.ts'
import type { Links } from '../nodes/links.ts'
import type { Item } from '../reader/item.ts'
import type { ClaimedHeads } from './claimed-heads.ts'
import type { Decisions } from './decisions.ts'

/** A node that owes an answer and gave none for so long is shown as silent; it may still answer. */
const SILENCE_MS = 1000

export type Usability = {
  /** Why the node's vote on the item cannot be expected, for a person; null where it can. */
  why(item: Item, link: Link): string | null
  /** Of nodes that an item without a round cannot count on. */
  unusableCount(item: Item): number
  /** Whether enough nodes have room for another batch; what the others miss waits in their queues. */
  hasRoom(item: Item): boolean
}

export function createUsability(options: {
  readonly links: Links
  readonly heads: Pick<ClaimedHeads, 'isHeadless'>
  readonly isGone: Decisions['isGone']
  readonly monotonicMs: () => number
  /** Whether addresses may still come. */
  readonly isLearning: () => boolean
}): Usability {
  const { links } = options
  const why = (item: Item, link: Link): string | null => {
    if (item.isOverdue) return 'no answer'
    if (link.url === null) return options.isLearning() ? null : 'no address'
    const lane = link.lanes[item.asked.kind === 'lookup' ? 'lookup' : 'bulk']
    const { failureCount } = lane
    return options.isGone({ failureCount, isSilent: isSilent(lane, options.monotonicMs()) })
      ? (link.counters.lastError ?? 'unreachable')
      : null
  }
  return {
    why,
    unusableCount: (item) =>
      links.all.filter((link) => why(item, link) !== null || options.heads.isHeadless(link)).length,
    hasRoom(item) {
      let roomy = 0
      let usable = 0
      for (const link of links.all) {
        if (why(item, link) !== null) continue
        usable++
        if (links.hasRoom(link, 'lookup')) roomy++
      }
      return roomy > 0 && roomy >= Math.min(item.threshold, usable)
    },
  }
}

/** Whether the node has owed an answer for too long. */
export function isSilent({ flights, answeredAtMs }: Lane, now: number): boolean {
  const [oldest] = flights
  return oldest !== undefined && now - Math.max(oldest.startedAtMs, answeredAtMs) >= SILENCE_MS
}
