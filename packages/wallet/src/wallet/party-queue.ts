/**
 * One wallet operation of a party at a time: two concurrent ones would choose the same coins, and one
 * of them would fail without need.
 */
import { held } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { PartyId } from '@quorumscan/model'

/** Operations of one party that wait or run; each takes up to a few seconds, so more would time out. */
export const OPERATIONS_PER_PARTY_MAX = 64

export type PartyQueue = ReturnType<typeof createPartyQueue>

export function createPartyQueue() {
  const queues = held(
    {
      owner: 'wallet',
      name: 'parties with operations',
      kind: 'work',
      bound: 'those of the requests in progress',
    },
    new Map<PartyId, { tail: Promise<unknown>; count: number }>(),
  )
  return {
    /**
     * Runs `work` after all earlier work of the party has ended, well or badly.
     *
     * @throws {ScanError} OVERLOADED if too much waits. Rejects with the signal's reason if it aborts while waiting.
     */
    async run<T>(party: PartyId, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      const queue = queues.get(party) ?? { tail: Promise.resolve(), count: 0 }
      if (queue.count >= OPERATIONS_PER_PARTY_MAX)
        throw new ScanError(
          'OVERLOADED',
          'Too many wallet operations of this party are in progress.',
        )
      queues.set(party, queue)
      queue.count += 1
      const turn = queue.tail.then(() => {
        signal.throwIfAborted()
        return work()
      })
      queue.tail = turn.catch(() => {}) // Its caller receives the failure; the next operation runs in any case.
      try {
        return await turn
      } finally {
        queue.count -= 1
        if (queue.count === 0) queues.delete(party)
      }
    },
  }
}
