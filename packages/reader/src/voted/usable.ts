/** Which nodes can still vote on an item, as far as is known (D-38). */
import type { Item } from './item.ts'
import { hasRoomForLookups } from './lanes.ts'
import { isFailing, type Node } from './node.ts'
import type { State } from './voted-state.ts'

/** Whether the node's vote on the item cannot be expected. */
export function isUnusable(state: State, item: Item, node: Node): boolean {
  if (item.isOverdue) return true
  if (node.url === null) return !state.isLearning
  if (node.isInsecure) return true
  const lane = node.lanes[item.asked.kind === 'lookup' ? 'lookup' : 'bulk']
  return isFailing(lane)
}

/** Whether the node has reported its head since the last head refresh. */
export function isFresh({ headsSinceMs }: State, { headAtMs }: Node): boolean {
  return headAtMs >= headsSinceMs
}

/** Whether the node was asked for its head since the last head refresh, and did not report it. */
export function reportedNoHead(state: State, node: Node): boolean {
  return !isFresh(state, node) && node.lanes.lookup.endedAtMs >= state.headsSinceMs
}

/** Whether too few nodes are usable for an item that was not sent yet. */
export function cannotReachThreshold(state: State, item: Item): boolean {
  const unusable = state.nodes.filter(
    (node) => isUnusable(state, item, node) || reportedNoHead(state, node),
  )
  return unusable.length > state.nodeCount - item.threshold
}

/** Whether enough nodes have room for another batch. The other nodes queue it. */
export function hasRoomFor(state: State, item: Item): boolean {
  let withCapacity = 0
  let usable = 0
  for (const node of state.nodes) {
    if (isUnusable(state, item, node)) continue
    usable++
    if (hasRoomForLookups(node)) withCapacity++
  }
  return withCapacity > 0 && withCapacity >= Math.min(item.threshold, usable)
}
