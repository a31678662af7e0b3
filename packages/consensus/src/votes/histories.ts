/**
 * Which history hash each node gave at recent offsets, to see a fork (D-38): f+1 nodes hold another
 * history than f+1 others, or than our own replica. Looks on after answers went out.
 */
import type { HistoryPoint } from '../statements/statements.ts'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
/** Of one node at one offset. An honest node has one; one that has ever new ones fills no memory. */
const HASHES_PER_NODE_MAX = 4

export type Fork = {
  readonly offset: number
  /** Each with the nodes that hold it; `local` stands for the own replica. */
  readonly histories: readonly { readonly historyHash: string; readonly nodes: readonly string[] }[]
}

/** null stands for the own replica, whose word needs no others. */
type Holder = string | null

type Place = { readonly holdersByHash: Map<string, Set<Holder>>; isFork: boolean }

export type Histories = {
  /** What a node's valid answer says, or the own replica (null). */
  note(holder: Holder, point: Pick<HistoryPoint, 'offset' | 'historyHash'>): void
  isFork(offset: number): boolean
}

export function createHistories(options: {
  readonly faultyMax: number
  readonly onFork: (fork: Fork) => void
}): Histories {
  const places = new Map<number, Place>()

  const placeAt = (offset: number): Place => {
    const known = places.get(offset)
    if (known !== undefined) return known
    const place = { holdersByHash: new Map(), isFork: false }
    places.set(offset, place)
    const [oldest = offset] = places.keys()
    if (places.size > OFFSETS_MAX) places.delete(oldest)
    return place
  }

  const check = (offset: number, place: Place): void => {
    if (place.isFork) return
    const histories = [...place.holdersByHash]
      .filter(([, holders]) => holders.has(null) || holders.size > options.faultyMax)
      .map(([historyHash, holders]) => ({
        historyHash,
        nodes: [...holders].map((holder) => holder ?? 'local'),
      }))
    if (histories.length < 2) return
    place.isFork = true
    options.onFork({ offset, histories })
  }

  return {
    note(holder, { offset, historyHash }) {
      const place = placeAt(offset)
      const holders = place.holdersByHash.get(historyHash)
      if (holders?.has(holder)) return
      // To a hash that others hold it may always be added.
      if (holders !== undefined) holders.add(holder)
      else if (hashesOf(place, holder).length < HASHES_PER_NODE_MAX)
        place.holdersByHash.set(historyHash, new Set([holder]))
      check(offset, place)
    },
    isFork: (offset) => places.get(offset)?.isFork ?? false,
  }
}

function hashesOf(place: Place, holder: Holder): readonly unknown[] {
  return [...place.holdersByHash.values()].filter((holders) => holders.has(holder))
}
