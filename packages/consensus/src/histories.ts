/**
 * Which history hash each node gave at recent offsets, to see a fork (D-38): f+1 nodes hold another
 * history than f+1 others, or than our own replica. Looks on after answers went out.
 */
import type { HistoryPoint } from './statements.ts'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
/** Of one node at one offset. An honest node has one; one that has ever new ones fills no memory. */
const HASHES_PER_NODE_MAX = 4

export type Fork = {
  readonly offset: number
  /** Each with the nodes that hold it; `local` stands for the own replica. */
  readonly histories: readonly { readonly historyHash: string; readonly nodes: readonly string[] }[]
}

type Place = {
  readonly nodesByHash: Map<string, Set<string>>
  local: string | null
  isFork: boolean
}

export type Histories = {
  /** What a node's valid answer says. */
  note(node: string, point: HistoryPoint): void
  /** What the own replica says. */
  noteLocal(offset: number, historyHash: string): void
  isFork(offset: number): boolean
}

export function createHistories(options: {
  readonly faultyMax: number
  readonly onFork: (fork: Fork) => void
}): Histories {
  const places = new Map<number, Place>()

  const placeAt = (offset: number): Place => {
    let place = places.get(offset)
    if (place === undefined) {
      place = { nodesByHash: new Map(), local: null, isFork: false }
      places.set(offset, place)
      if (places.size > OFFSETS_MAX) places.delete(places.keys().next().value as number)
    }
    return place
  }

  const check = (offset: number, place: Place): void => {
    if (place.isFork) return
    const held = [...place.nodesByHash].filter(([, nodes]) => nodes.size > options.faultyMax)
    const isForeign = (hash: string) => place.local !== null && hash !== place.local
    if (held.length < 2 && !held.some(([hash]) => isForeign(hash))) return
    place.isFork = true
    const histories = held.map(([historyHash, nodes]) => ({ historyHash, nodes: [...nodes] }))
    if (place.local !== null) histories.push({ historyHash: place.local, nodes: ['local'] })
    options.onFork({ offset, histories })
  }

  return {
    note(node, point) {
      const place = placeAt(point.offset)
      const nodes = place.nodesByHash.get(point.historyHash)
      if (nodes?.has(node) === true) return
      // To a hash that others hold it may always be added.
      if (nodes !== undefined) nodes.add(node)
      else if (hashCountOf(place, node) < HASHES_PER_NODE_MAX)
        place.nodesByHash.set(point.historyHash, new Set([node]))
      check(point.offset, place)
    },
    noteLocal(offset, historyHash) {
      const place = placeAt(offset)
      place.local = historyHash
      check(offset, place)
    },
    isFork: (offset) => places.get(offset)?.isFork ?? false,
  }
}
function hashCountOf(place: Place, node: string): number {
  let count = 0
  for (const nodes of place.nodesByHash.values()) if (nodes.has(node)) count++
  return count
}
