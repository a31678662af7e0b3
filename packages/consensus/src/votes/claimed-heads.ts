/** What the nodes claim to have, and the pins that follow from it (D-37). */

import { maxFaulty, quorumOf } from '../genesis/genesis.ts'
import type { Link } from '../nodes/link.ts'
import { type Item, isPruned, type Round, STANDING } from '../reader/item.ts'
import type { Decisions } from './decisions.ts'
import { chooseNextPin, claimedByMany } from './pins.ts'
import { largestGroup } from './tally.ts'

export type ClaimedHeads = {
  /** Of nodes that told one. */
  heads(): number[]
  /** Heads told before `nowMs` no longer suffice for a first pin. */
  renew(nowMs: number): void
  /** Whether the node told its head since heads were renewed. */
  isFresh(link: Link): boolean
  /** Asked for its head since, the node answered something else. */
  isHeadless(link: Link): boolean
  /** The pin of a first round; null while too few nodes have told their heads and more may. */
  firstPin(threshold: number, isUsable: (link: Link) => boolean): number | null
  /** The pin of the second round; null if there is none that could do better. */
  nextPin(item: Item, round: Round): number | null
}

/** The longest that a first pin waits for heads beyond those that it needs: a moment, for a person. */
const MORE_HEADS_MS_MAX = 50

export function createClaimedHeads(options: {
  readonly links: readonly Link[]
  readonly nodeCount: number
  readonly decisions: Pick<Decisions, 'choosePin'>
  readonly floor: () => number
  readonly monotonicMs: () => number
  /** Asks for another try at the first pins after so long. */
  readonly tryAgain: (afterMs: number) => void
}): ClaimedHeads {
  const { links, nodeCount, decisions, floor } = options
  const faultyMax = maxFaulty(nodeCount)
  const sharedThresholds = [faultyMax + 1, quorumOf(nodeCount), nodeCount]
  let sinceMs = 0
  /** Thresholds for which another try was asked for. */
  let hurried = new Set<number>()

  const heads = (): number[] => links.flatMap(({ head }) => (head === null ? [] : [head]))
  const isFresh = (link: Link): boolean => link.headAtMs >= sinceMs
  const isHeadless = (link: Link): boolean =>
    !isFresh(link) && link.lanes.lookup.endedAtMs >= sinceMs

  /**
   * Whether the heads told so far do not make a pin yet. Of those that tell first, f may claim to have
   * little; with f more than needed, they cannot pull the pin below what an honest node has (D-37). For
   * those f the pin waits as long as it waited for the others, so that a node that hangs costs little.
   */
  const isTooEarly = (threshold: number): boolean => {
    const toldAtMs = links.filter(isFresh).map(({ headAtMs }) => headAtMs)
    const enoughAtMs = toldAtMs.sort((a, b) => a - b)[threshold - 1]
    if (enoughAtMs === undefined) return true
    if (toldAtMs.length >= threshold + faultyMax) return false
    const graceMs = Math.min(enoughAtMs - sinceMs, MORE_HEADS_MS_MAX)
    const leftMs = enoughAtMs + graceMs - options.monotonicMs()
    if (leftMs <= 0) return false
    if (!hurried.has(threshold)) options.tryAgain(leftMs)
    hurried.add(threshold)
    return true
  }

  return {
    heads,
    isFresh,
    isHeadless,
    renew(nowMs) {
      sinceMs = nowMs
      hurried = new Set()
    },
    firstPin(threshold, isUsable) {
      const isAwaited = (link: Link) => !isFresh(link) && !isHeadless(link) && isUsable(link)
      if (links.some(isAwaited) && isTooEarly(threshold)) return null
      const known = heads()
      const own = decisions.choosePin(known, { threshold, floor: floor() })
      if (own === null) return null
      // The lookups of one moment share the pins of weak, strong and all: the best that is not above
      // this threshold's own.
      const shared = sharedThresholds.flatMap((other) => {
        const pin = decisions.choosePin(known, { threshold: other, floor: floor() })
        return pin === null || pin > own ? [] : [pin]
      })
      return shared.length === 0 ? own : Math.max(...shared)
    },
    nextPin(item, round) {
      const lowest = Math.max(floor(), item.minOffset)
      if (item.staleAgeMs !== null || isPruned(round)) {
        const pin = decisions.choosePin(heads(), { threshold: item.threshold, floor: lowest })
        return pin !== null && pin > (round.pin ?? 0) ? pin : null
      }
      const headsOf = (...standings: readonly number[]): number[] =>
        links
          .filter(({ index }) => standings.includes(round.standings[index] as number))
          .map(({ head }) => head ?? 0)
      return chooseNextPin({
        laggingHeads: headsOf(STANDING.lagging),
        answeredHeads: headsOf(STANDING.lagging, STANDING.voted),
        largestGroupSize: largestGroup(round.ballot)?.voters.length ?? 0,
        faultyMax,
        threshold: item.threshold,
        floor: lowest,
      })
    },
  }
}

/** The offset that so many nodes claim; null if fewer claim any. */
export function claimedHead(heads: ClaimedHeads, threshold: number): number | null {
  return claimedByMany(heads.heads(), threshold)
}
