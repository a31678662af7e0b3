/**
 * Divides pools among those who use them, so that none can occupy one: `createShares` bounds what each owner holds,
 * `createTurns` decides whose request is next. Each pool has a row in the table "Pools" of docs/architecture.md.
 */
import { type Held, held } from './held.ts'

/** Amounts of a pool, each in its unit: a pool whose parts have sizes has bytes, too. */
type Amounts<Unit extends string> = Readonly<Record<Unit, number>>

export type Shares<Unit extends string = string> = ReturnType<typeof createShares<Unit>>

/** Of what is free: one greedy owner has a fifth of the pool, and a dozen leave 7 % of it to others. */
const SHARE_OF_FREE = 1 / 4

/**
 * An owner may hold at most a quarter of what is free, or another share of it. No part is reserved: many owners use most of
 * the pool.
 *
 * @param pool - What is divided, as a noun in the plural: a row of the table.
 * @param limits - Of the whole pool, in each unit; a function if it changes.
 * @param options.bound - As of `held`, if the limits are not those of the whole pool.
 * @param options.kind - As of `held`.
 */
export function createShares<Unit extends string>(
  pool: string,
  limits: Readonly<Record<Unit, number | (() => number)>>,
  {
    shareOfFree = SHARE_OF_FREE,
    bound: sentence = null as string | null,
    kind = 'work' as Held['kind'],
  } = {},
) {
  const units = Object.keys(limits) as Unit[]
  const heldByOwner = held(
    { owner: 'base', name: `owners of ${pool}`, kind, bound: 'one of each part' },
    new Map<string, Record<Unit, number>>(),
  )
  const none = recordOf(units)
  const total = recordOf(units)
  for (const unit of units) {
    const limit: number | (() => number) = limits[unit]
    const bound = sentence ?? (typeof limit === 'number' ? limit : 'changes with the load')
    const name = units.length === 1 ? pool : `${pool}, ${unit}`
    held({ owner: 'pool', name, kind, bound }, total, amountIn(unit))
  }
  const change = (owner: string, amounts: Amounts<Unit>, sign: 1 | -1): void => {
    const own = heldByOwner.get(owner) ?? recordOf(units)
    for (const unit of units) {
      own[unit] += sign * amounts[unit]
      total[unit] += sign * amounts[unit]
    }
    if (units.every((unit) => own[unit] === 0)) heldByOwner.delete(owner)
    else heldByOwner.set(owner, own)
  }
  const shareOf = (unit: Unit): number => {
    const limit: number | (() => number) = limits[unit]
    return shareOfFree * ((typeof limit === 'number' ? limit : limit()) - total[unit])
  }
  /** Takes a part whether there is room or not: what exists already stays. Returns a function that gives it back, once. */
  const hold = (owner: string, amounts: Amounts<Unit>): (() => void) => {
    let isHeld = true
    change(owner, amounts, 1)
    return () => {
      if (isHeld) change(owner, amounts, -1)
      isHeld = false
    }
  }
  return {
    /** For a refusal, in the form "too many …". */
    pool,
    hold,
    /** As `hold`; null if the owner would then hold more than its share of what was free. */
    take(owner: string, amounts: Amounts<Unit>): (() => void) | null {
      const own = heldByOwner.get(owner) ?? none
      const fits = units.every((unit) => own[unit] + amounts[unit] <= shareOf(unit))
      return fits ? hold(owner, amounts) : null
    },
    /** How much of its share the owner holds: from 1 on it has no room; above 1 if others took parts since. */
    usageBy(owner: string): number {
      const own = heldByOwner.get(owner) ?? none
      let usage = 0
      for (const unit of units) {
        const share = shareOf(unit)
        usage = Math.max(usage, share > 0 ? own[unit] / share : Number.POSITIVE_INFINITY)
      }
      return usage
    },
    heldBy: (owner: string, unit: Unit): number => (heldByOwner.get(owner) ?? none)[unit],
    /** What all owners hold, in this unit. */
    heldIn: (unit: Unit): number => total[unit],
  }
}

/** As `sizeOf` of `held`. */
function amountIn<Unit extends string>(unit: Unit): (amounts: Amounts<Unit>) => number {
  return (amounts) => amounts[unit]
}

function recordOf<Unit extends string>(units: readonly Unit[]): Record<Unit, number> {
  return Object.fromEntries(units.map((unit) => [unit, 0])) as Record<Unit, number>
}

/** As `sizeOf` of `held`. */
function countItems(itemsByOwner: ReadonlyMap<string, readonly unknown[]>): number {
  let count = 0
  for (const items of itemsByOwner.values()) count += items.length
  return count
}

export type Turns<Item> = ReturnType<typeof createTurns<Item>>

/**
 * A queue in which owners take turns: each item waits for at most one item of each other owner, and for those before it of
 * its own. What one owner leaves waiting delays only that owner.
 *
 * @param pool - As of `createShares`.
 */
export function createTurns<Item>(pool: string) {
  /** In the order of turns: the first is next. */
  const itemsByOwner = held(
    { owner: 'pool', name: `${pool} that wait their turn`, kind: 'work', bound: 'the pool' },
    new Map<string, Item[]>(),
    countItems,
  )
  let size = 0
  return {
    pool,
    size: () => size,
    has: (owner: string): boolean => itemsByOwner.has(owner),
    /** Those who wait, in the order of turns. */
    owners: (): readonly string[] => [...itemsByOwner.keys()],
    push(owner: string, item: Item): void {
      const items = itemsByOwner.get(owner)
      if (items === undefined) itemsByOwner.set(owner, [item])
      else items.push(item)
      size++
    },
    /** The oldest item of the owner whose turn it is. */
    shift(): Item | undefined {
      for (const [owner, items] of itemsByOwner) {
        const item = items.shift()
        itemsByOwner.delete(owner)
        if (items.length > 0) itemsByOwner.set(owner, items)
        size--
        return item
      }
      return undefined
    },
    /** The oldest item of this owner, which does not use its turn. */
    shiftOf(owner: string): Item | undefined {
      const items = itemsByOwner.get(owner)
      if (items === undefined) return undefined
      const item = items.shift()
      if (items.length === 0) itemsByOwner.delete(owner)
      size--
      return item
    },
    /** Whether it waited: one that was shifted did not. */
    remove(owner: string, item: Item): boolean {
      const items = itemsByOwner.get(owner) ?? []
      const index = items.indexOf(item)
      if (index < 0) return false
      items.splice(index, 1)
      if (items.length === 0) itemsByOwner.delete(owner)
      size--
      return true
    },
  }
}
