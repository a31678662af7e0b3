/** Which offset to read at: the pin, from the heads that nodes claim, never below the floor (D-37). */
import { wakeBy } from '../driver/decider-protocol.ts'
import { largestGroup } from '../votes/tally.ts'
import { isUnusable, probe } from './ask.ts'
import {
  type Item,
  isFresh,
  isPruned,
  type Node,
  type NodeVoteState,
  type Round,
  type State,
} from './state.ts'

/** The longest that a first pin waits for more heads than it needs. A person does not notice it. */
const MORE_HEADS_MS_MAX = 50
/** An older claim of a node does not count. */
const HEAD_MS_MAX = 2000
/** A node that has claimed no head for this long is asked for it while a caller waits. */
const HEAD_POLL_MS = 1000

/**
 * The t-th largest of the heads that distinct nodes claim, never below the floor.
 *
 * For any claims of f liars, it is between the heads of the t-th and the (t−f)-th most advanced honest node.
 *
 * @returns null if fewer than t nodes have claimed a head.
 */
export function choosePin(
  heads: readonly number[],
  options: { readonly threshold: number; readonly floor: number },
): number | null {
  const head = claimedByMany(heads, options.threshold)
  return head === null ? null : Math.max(head, options.floor)
}

/** The largest offset that at least `count` of the nodes claim to have; null if they are fewer. */
export function claimedByMany(heads: readonly number[], count: number): number | null {
  return [...heads].sort((a, b) => b - a)[count - 1] ?? null
}

/**
 * The second and last pin of a read without enough votes (D-37): low enough that lagging nodes complete the largest
 * group, whose members have the offset, even if f of them lie about their heads or do not vote again.
 *
 * Members of smaller groups do not count, since they were outvoted.
 */
export function chooseNextPin(input: {
  /** Heads of the nodes that answered OFFSET_NOT_REACHED. */
  readonly laggingHeads: readonly number[]
  /** Heads of all nodes that answered. */
  readonly answeredHeads: readonly number[]
  readonly largestGroupSize: number
  readonly threshold: number
  readonly faultyMax: number
  readonly floor: number
}): number | null {
  const missing = Math.max(1, input.threshold - input.largestGroupSize)
  const lagging = input.laggingHeads
  const counted = Math.max(missing, Math.min(missing + input.faultyMax, lagging.length))
  const head =
    claimedByMany(lagging, counted) ?? claimedByMany(input.answeredHeads, input.threshold)
  return head === null ? null : Math.max(head, input.floor)
}

/** Heads that nodes have claimed recently enough to count. */
export function claimedHeads({ nodes, nowMs }: State): number[] {
  return nodes.flatMap(({ head, headAtMs }) =>
    head === null || nowMs - headAtMs > HEAD_MS_MAX ? [] : [head],
  )
}

/** Asks nodes that have claimed no head for long, owe no answer which would have one, and do not refuse. */
export function pollHeads(state: State): void {
  const { nowMs } = state
  for (const node of state.nodes) {
    const { flights, polledAtMs } = node.lanes.lookup
    const isDue = nowMs - Math.max(node.headAtMs, polledAtMs) >= HEAD_POLL_MS
    if (isDue && flights.length === 0 && nowMs >= node.refusesUntilMs) probe(state, node)
  }
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
  const reportedAtMs = fresh.map(({ freshAtMs }) => freshAtMs).sort((a, b) => a - b)
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
  if (item.staleAgeMs !== null || isPruned(state, round)) {
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

/** Whether the node was asked for its head since the last head refresh or its last claim, and did not report it. */
export function reportedNoHead(state: State, { headAtMs, lanes }: Node): boolean {
  const { endedAtMs } = lanes.lookup
  const isOld = headAtMs < state.headsSinceMs || state.nowMs - headAtMs > HEAD_MS_MAX
  return isOld && endedAtMs >= state.headsSinceMs && endedAtMs > headAtMs
}

/** Whether too few nodes are usable for an item that was not sent yet. */
export function cannotReachThreshold(state: State, item: Item): boolean {
  const unusable = state.nodes.filter(
    (node) => isUnusable(state, item, node) || reportedNoHead(state, node),
  )
  return unusable.length > state.nodeCount - item.threshold
}
