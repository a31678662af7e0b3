/** Long work in pieces, between which a process serves other requests. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Contracts, for example, of which one takes some 0.1 ms with its JSON. */
const ITEMS_PER_TURN = 32

/** As `items.map(map)`, in several turns of the event loop. */
export async function mapInTurns<Item, Mapped>(
  items: readonly Item[],
  map: (item: Item, index: number) => Mapped,
): Promise<Mapped[]> {
  const mapped: Mapped[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % ITEMS_PER_TURN === 0) await nextTurn()
    mapped.push(map(item, index))
  }
  return mapped
}
