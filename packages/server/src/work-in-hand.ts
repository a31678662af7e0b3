/**
 * The work that a process has in hand (D-33). Budgets bound what one client asks for; this bounds what all
 * of them together do, so that a process with more to do than it can does what it took on, in time, and
 * refuses the rest before reading it.
 *
 * A request that waits for news, such as a long poll, is no work meanwhile. What waits for others is counted in units, and how many may wait is found out: half as many as soon as one
 * came too late, which its handler tells, a batch more for as many as were answered in time. What is answered
 * from memory is never in hand beside anything else, and what queues behind it stands in line for its turn: who
 * stood there for too long is refused as well.
 */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'

/** Lookups that are answered within half a second by a machine that has nothing else to do. */
const UNITS_MAX = 4096
/** To begin with: as many as a proxy has under way at its nodes, and as many again. */
const UNITS_AT_FIRST = 2048
/** One full batch of lookups (D-14), which is dearer than its units; and what the number grows by. */
const UNITS_MIN = 256
/** From one halving to the next: what was taken in before the first is over by then, well or badly. */
const HALVING_MS = 500
/** Before its turn came: a quarter of a second less than a proxy waits for nodes (D-38), so that the answer is in time, … */
const WAITED_MS_MAX = 1750
/** … and for peers as long as that. */
const PEER_WAITED_MS_MAX = 2000
/** Peers have more by so much: what the public asks for keeps no proxy from its answers. */
const PEER_FACTOR = 2

/** One for all, as where it was thrown says nothing, and to find out is half of what it costs. */
const TOO_MUCH = new ScanError('OVERLOADED', 'more is asked for than can be done; wait a moment', {
  retryAfterSeconds: 1,
})

export type WorkInHand = {
  /**
   * @param waitedMs - For which it stood in line.
   * @throws {ScanError} OVERLOADED if there is too much already.
   */
  admit(client: { readonly isPeer: boolean }, waitedMs?: number): void
  begin(units: number): void
  /** The request waits for something to happen, which takes nothing of the process; `resume` ends that. */
  pause(units: number): void
  resume(units: number): void
  /** `error` is what came instead of an answer. */
  end(units: number, error?: unknown): void
}

export function createWorkInHand(clock: Clock): WorkInHand {
  let unitsInHand = 0
  let unitsMax = UNITS_AT_FIRST
  let halvedAtMs = Number.NEGATIVE_INFINITY

  const halve = (): void => {
    const nowMs = clock.monotonicMs()
    if (nowMs - halvedAtMs < HALVING_MS) return
    halvedAtMs = nowMs
    unitsMax = Math.max(UNITS_MIN, Math.min(unitsMax, unitsInHand) / 2)
  }

  return {
    admit({ isPeer }, waitedMs = 0) {
      const unitsFree = (isPeer ? PEER_FACTOR * UNITS_MAX : unitsMax) - unitsInHand
      const waitedMsMax = isPeer ? PEER_WAITED_MS_MAX : WAITED_MS_MAX
      if (unitsFree <= 0 || waitedMs > waitedMsMax) throw TOO_MUCH
    },
    begin(units) {
      unitsInHand += units
    },
    pause(units) {
      unitsInHand -= units
    },
    resume(units) {
      unitsInHand += units
    },
    end(units, error) {
      const isMoreWanted = 2 * unitsInHand > unitsMax
      unitsInHand -= units
      if (error instanceof ScanError && error.code === 'OVERLOADED') halve()
      else if (isMoreWanted)
        unitsMax = Math.min(UNITS_MAX, unitsMax + (UNITS_MIN * units) / unitsMax)
    },
  }
}
