/** Chooses pins from the heads that nodes claim (D-37). */
import { wakeBy } from '../driver/decider-protocol.ts'
import { chooseNextPin, choosePin } from '../votes/pins.ts'
import { largestGroup } from '../votes/tally.ts'
import { type Item, isPruned, type NodeVoteState, type Round } from './item.ts'
import { isFresh, isUnusable, reportedNoHead } from './usable.ts'
import type { State } from './voted-state.ts'

/** The longest that a first pin waits for more heads than it needs. A person does not notice it. */
const MORE_HEADS_MS_MAX = 50

/** Heads of the nodes that reported one. */
export function claimedHeads({ nodes }: State): number[] {
  return nodes.flatMap(({ head }) => (head === null ? [] : [head]))
}

/** The pin of a first round; null while too few nodes have reported their heads and more may. */
export function firstPin(state: State, item: Item): number | null {
  const { faultyMax, floor, nodeCount, nodes } = state
  const isAwaited = nodes.some(
    (node) =>
      !isFresh(state, node) && !reportedNoHead(state, node) && !isUnusable(state, item, node),
  )
  if (isAwaited && isTooEarly(state, item.threshold)) return null
  const heads = claimedHeads(state)
  const own = choosePin(heads, { threshold: item.threshold, floor })
  if (own === null) return null
  // Lookups of one moment share the pins of weak, strong and all: the highest that is not above this
  // threshold's own.
  const strong = Math.ceil((nodeCount + faultyMax + 1) / 2)
  const shared = [faultyMax + 1, strong, nodeCount].flatMap((threshold) => {
    const pin = choosePin(heads, { threshold, floor })
    return pin === null || pin > own ? [] : [pin]
  })
  return shared.length === 0 ? own : Math.max(...shared)
}

/**
 * Whether the pin should wait for more heads. The first f heads may be lies that are too low. With f more heads than
 * needed, they cannot pull the pin below what an honest node has (D-37). The pin waits for those f as long as it
 * waited for the others, so that a hung node costs little.
 */
function isTooEarly(state: State, threshold: number): boolean {
  const fresh = state.nodes.filter((node) => isFresh(state, node))
  const reportedAtMs = fresh.map(({ headAtMs }) => headAtMs).sort((a, b) => a - b)
  const enoughAtMs = reportedAtMs[threshold - 1]
  if (enoughAtMs === undefined) return true
  if (reportedAtMs.length >= threshold + state.faultyMax) return false
  const graceMs = Math.min(enoughAtMs - state.headsSinceMs, MORE_HEADS_MS_MAX)
  const leftMs = enoughAtMs + graceMs - state.nowMs
  if (leftMs > 0) wakeBy(state, state.nowMs + leftMs)
  return leftMs > 0
}

/** The pin of the second round; null if no other pin could decide. */
export function nextPin(state: State, item: Item, round: Round): number | null {
  const { faultyMax, nodes } = state
  const { threshold } = item
  const floor = Math.max(state.floor, item.minOffset)
  if (item.staleAgeMs !== null || isPruned(round)) {
    const pin = choosePin(claimedHeads(state), { threshold, floor })
    return pin !== null && pin > (round.pin ?? 0) ? pin : null
  }
  const headsOf = (...voteStates: readonly NodeVoteState[]): number[] =>
    nodes
      .filter(({ index }) => voteStates.includes(round.voteStates[index] as NodeVoteState))
      .map(({ head }) => head ?? 0)
  return chooseNextPin({
    laggingHeads: headsOf('lagging'),
    answeredHeads: headsOf('lagging', 'voted'),
    largestGroupSize: largestGroup(round.ballot)?.voters.length ?? 0,
    faultyMax,
    threshold,
    floor,
  })
}
