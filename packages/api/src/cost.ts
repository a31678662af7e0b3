/** The cost of each request, in units (D-33). */
import type { CostInput, RouteDef } from './route-def.ts'

/** The cost of an answer from memory, or from one key of Redis. */
export const COST_LOOKUP = 1
/** D-33: one unit for 10 entries of a page. */
const ENTRIES_PER_UNIT = 10
/** A lookup through the scan proxy: nodes answer it, too, and their answers are compared. */
export const COST_VERIFIED = 3
/** A document of the network through the scan proxy: as many nodes as must agree make it, and it has kilobytes. */
export const COST_VERIFIED_DOCUMENT = 8
/** A read of the contracts of a user: its token is verified, and its rights are read first. */
export const COST_USER_READ = 3
/** A change of the validator's own store, which is on the disk when it is acknowledged. */
export const COST_STORED = 5
/** A submission is signed, ordered and applied by every node. */
export const COST_SUBMISSION = 30
/** A submission that spends coins, which are chosen before; every node confirms the payment of a name. */
export const COST_PAYMENT = 60
/** A list of the ledger interface, whatever it has: rights and filters are checked, and several lists are read. */
export const COST_LIST = 5
/** A dry run of an entry by a node, without its bytes. */
const COST_DRY_RUN = 5
/** Of an entry: one unit for each KiB. */
const BYTES_PER_UNIT = 1024

/** Contracts of a page of the wallet, unless the request names another number. */
export const PAGE_SIZE_DEFAULT = 100

export function pageCost(input: CostInput): number {
  const { page_size: pageSize = PAGE_SIZE_DEFAULT } = input.query as { page_size?: number }
  return Math.ceil(pageSize / ENTRIES_PER_UNIT)
}

/** Open offers of one sender, which one page has (`OPEN_OFFERS_MAX` of the ledger). */
const OFFERS_OF_SENDER_MAX = 100

export function offersCost(input: CostInput): number {
  const { sender } = input.query as { sender?: string }
  return sender === undefined ? pageCost(input) : OFFERS_OF_SENDER_MAX / ENTRIES_PER_UNIT
}

/** The same as `pageCost`, with the size of the page in the body. */
export function activitiesCost(input: CostInput): number {
  return pageCost({ ...input, query: input.body })
}

/** An entry of the log: every node applies it, and its bytes are hashed, decoded and stored. */
export function submittedCost({ body }: CostInput): number {
  return COST_SUBMISSION + bytesUnits(body)
}

/** A dry run of an entry: its bytes are decoded, and the contracts that it names are read. */
export function entryCost({ body }: CostInput): number {
  return COST_DRY_RUN + bytesUnits(body)
}

function bytesUnits(body: unknown): number {
  const { byteLength } = (body ?? new Uint8Array()) as Uint8Array
  return Math.floor(byteLength / BYTES_PER_UNIT)
}

/**
 * The cost of a read of a node through the scan proxy. A page or batch costs the same as at the node, because most of its
 * work is in its rows.
 */
export function verifiedCost(cost: RouteDef['cost']): RouteDef['cost'] {
  return typeof cost === 'number' ? COST_VERIFIED : cost
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
