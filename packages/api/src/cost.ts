/** The cost of each request, in units (D-33). */
import type { CostInput, RouteDef } from './route-def.ts'

/** The cost of an answer from memory, or from one key of Redis. */
export const COST_LOOKUP = 1
/** D-33: one unit for 10 entries of a page. */
const ENTRIES_PER_UNIT = 10
/** Not in the specification: a submission is signed, ordered and applied by every node. */
export const COST_SUBMISSION = 5

export function pageCost(input: CostInput): number {
  const { page_size: pageSize } = input.query as { page_size: number }
  return Math.ceil(pageSize / ENTRIES_PER_UNIT)
}

/** The same as `pageCost`, with the size of the page in the body. */
export function activitiesCost(input: CostInput): number {
  return pageCost({ ...input, query: input.body })
}

/** An empty batch, which reads the head, costs one lookup. */
export function batchCost(input: CostInput): number {
  const { lookups } = input.body as { lookups: readonly unknown[] }
  return Math.max(COST_LOOKUP, lookups.length * COST_LOOKUP)
}

/** The cost of a request that passed validation, in units. */
export function unitsOf(route: RouteDef, input: CostInput): number {
  return typeof route.cost === 'number' ? route.cost : route.cost(input)
}
