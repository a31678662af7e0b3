/**
 * What time does to reads: it ends waits, gives up requests, and tries again what had to wait. A sweep
 * every 25 ms, and none while nobody waits and nothing is in flight.
 */

import type { Links } from '../nodes/links.ts'
import type { Decisions } from '../votes/decisions.ts'
import type { ActiveItems } from './active-items.ts'
import type { ItemDecider } from './decide-items.ts'
import { type Item, type Round, STANDING } from './item.ts'
import type { ReaderClock } from './reader-options.ts'
import type { UnsentItems } from './unsent-items.ts'

/** A node waits 250 ms for an offset (D-10), and its answer has to travel. */
const NODE_WAIT_MS = 300
const FLOOR_WAIT_MS = 250 // As a node waits for an offset.
const FLOOR_PROBE_MS = 25
const SWEEP_MS = 25
const TURN_MS = 1

export type Timeouts = {
  /** Sweeps until there is nothing left to wait for. */
  start(): void
}

export function createTimeouts(options: {
  readonly clock: ReaderClock
  readonly signal: AbortSignal
  readonly isStalled: Decisions['isStalled']
  readonly active: ActiveItems
  readonly links: Pick<Links, 'sweep' | 'excuse'>
  readonly unsent: UnsentItems
  readonly decider: ItemDecider
  readonly pinOf: (item: Item) => number | null
  readonly repin: (item: Item, round: Round) => boolean
  /** When a node was last asked anything, ms. */
  readonly askedAtMs: () => number
  readonly probeAll: () => void
  /** Keeps addresses and failing nodes under observation. */
  readonly keepLearning: () => void
  readonly scheduleFlush: () => void
}): Timeouts {
  const { clock, active, unsent, decider } = options
  let isSweeping = false

  const loop = async (): Promise<void> => {
    for (let isBusy = true; isBusy; ) {
      const beganAtMs = clock.monotonicMs()
      await clock.delay(SWEEP_MS, options.signal)
      const missedMs = clock.monotonicMs() - beganAtMs - SWEEP_MS
      if (options.isStalled(missedMs)) await wake(missedMs)
      const isInFlight = options.links.sweep()
      sweepItems()
      isBusy = isInFlight || active.all.size > 0
    }
    isSweeping = false
  }

  /** After this process stood still, or slept: what came meanwhile is read first, and nobody was late. */
  const wake = async (missedMs: number): Promise<void> => {
    options.links.excuse(missedMs)
    for (const item of active.all) {
      item.startedAtMs += missedMs
      item.endsAtMs += missedMs
      for (const round of item.rounds) round.startedAtMs += missedMs
    }
    await clock.delay(TURN_MS, options.signal)
  }

  const sweepItems = (): void => {
    const now = clock.monotonicMs()
    if (active.all.size > 0) options.keepLearning()
    const recheck = unsent.takeFloored()
    for (const item of recheck) unsent.add(item)
    if (recheck.length > 0 && now - options.askedAtMs() >= FLOOR_PROBE_MS) options.probeAll()
    for (const item of active.all) sweepItem(item, now)
    options.scheduleFlush()
  }

  const sweepItem = (item: Item, now: number): void => {
    item.isOverdue = now >= item.endsAtMs
    const round = item.rounds.at(-1)
    if (round === undefined) sweepUnasked(item, now)
    else {
      // At the end of the node wait those that lag have said so; the slow ones are not waited for.
      const isLate = now - round.startedAtMs >= NODE_WAIT_MS
      if (isLate && round.standings.includes(STANDING.lagging)) options.repin(item, round)
      decider.decide(item)
    }
    if (item.isOverdue && !item.isDone) decider.lag(item, item.rounds.at(-1))
  }

  const sweepUnasked = (item: Item, now: number): void => {
    decider.decide(item)
    const isFloored = item.minOffset > (options.pinOf(item) ?? item.minOffset)
    if (!item.isDone && isFloored && now - item.startedAtMs >= FLOOR_WAIT_MS)
      decider.lag(item, undefined)
  }

  return {
    start() {
      if (isSweeping) return
      isSweeping = true
      loop().catch(() => {
        isSweeping = false // Closed.
      })
    },
  }
}
