/**
 * What a process holds. A factory makes each long-lived `Set` and `Map` with `held`, so that its size is a metric
 * (`quorumscan_held`), and a test sees what stays after clients have left.
 */

export type Held = {
  /** The package, or `pool` for a row of the table "Pools" of docs/architecture.md. */
  readonly owner: string
  /** A noun in the plural. What has the same owner and name is counted together. */
  readonly name: string
  /**
   * `work` exists while something is in progress: once clients have left, the number is what it was before. `state` and
   * `cache` stay, and grow to their bound.
   */
  readonly kind: 'work' | 'state' | 'cache'
  /**
   * The most of it; a sentence if that follows from something else, such as `one of each member`. The numbers of what is
   * counted together are added.
   */
  readonly bound: number | string
}

export type HeldSize = Held & { readonly size: number }

type Entry = Held & { readonly sizeOf: (collection: never) => number }

const entries = new Map<WeakRef<object>, Entry>()
const collected = new FinalizationRegistry<WeakRef<object>>((ref) => entries.delete(ref))

/** Returns the collection. Its size is reported while it is reachable. */
export function held<T extends { readonly size: number }>(about: Held, collection: T): T
/** @param sizeOf - A function of the module: one of the factory would keep the collection reachable. */
export function held<T extends object>(
  about: Held,
  collection: T,
  sizeOf: (collection: T) => number,
): T
export function held(
  about: Held,
  collection: object,
  sizeOf: (collection: never) => number = sizeOfCollection,
): object {
  const ref = new WeakRef(collection)
  entries.set(ref, { ...about, sizeOf })
  collected.register(collection, ref)
  return collection
}

/** The bytes of an `LRUCache` with a `sizeCalculation`, as `sizeOf` of `held`. */
export function bytesOfCache({ calculatedSize }: { readonly calculatedSize: number }): number {
  return calculatedSize
}

/** The members of all sets of a map, as `sizeOf` of `held`. */
export function membersOf(sets: ReadonlyMap<unknown, { readonly size: number }>): number {
  let count = 0
  for (const { size } of sets.values()) count += size
  return count
}

/** What this process holds. */
export function heldSizes(): readonly HeldSize[] {
  const sizes = new Map<string, HeldSize>()
  for (const [ref, { sizeOf, ...about }] of entries) {
    const key = `${about.owner}\n${about.name}`
    const collection = ref.deref()
    const size = collection === undefined ? 0 : sizeOf(collection as never)
    const before = sizes.get(key)
    if (before === undefined) sizes.set(key, { ...about, size })
    else sizes.set(key, { ...about, size: before.size + size, bound: sumOf(before, about) })
  }
  return [...sizes.values()]
}

/** The bound of two collections together. A sentence is true of each of them. */
function sumOf({ bound: one }: Held, { bound: other }: Held): Held['bound'] {
  if (typeof one === 'string') return one
  return typeof other === 'string' ? other : one + other
}

function sizeOfCollection({ size }: { readonly size: number }): number {
  return size
}
