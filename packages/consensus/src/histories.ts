/**
 * Which history hash each node gave at recent offsets, to see a fork (D-38): f+1 nodes hold another
 * history than f+1 others, or than our own replica. Looks on after answers went out.
 */
import type { HistoryPoint } from './statements.ts'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
/** Of one node at one offset. An honest node has one; one that has ever new ones fills no memory. */
const HASHES_PER_NODE_MAX = 4
const LOCAL_RETRY_MS = 1000 // Our own replica may come to the offset later than the nodes.
const LOCAL_TRIES_MAX = 20

export type Fork = {
  readonly offset: number
  /** Each with the nodes that hold it; `local` stands for the own replica. */
  readonly histories: readonly { readonly historyHash: string; readonly nodes: readonly string[] }[]
}

type Place = {
  readonly nodesByHash: Map<string, Set<string>>
  local: string | null
  /** A question to the own replica is under way, and nothing is known yet. */
  isAsking: boolean
  tries: number
  askedAtMs: number
  isFork: boolean
}

export type Histories = {
  /** Asks the own replica about an offset that is going to be read. */
  watch(offset: number): void
  /** What a node's valid answer says. */
  note(node: string, point: HistoryPoint): void
  isFork(offset: number): boolean
  /** Whether the own replica has not yet said whether it knows the offset. */
  isUndecided(offset: number): boolean
}

export function createHistories(options: {
  readonly faultyMax: number
  readonly localHistoryHash: ((offset: number) => Promise<string | null>) | undefined
  readonly monotonicMs: () => number
  readonly onFork: (fork: Fork) => void
  /** The own replica answered. */
  readonly onLocal: (offset: number) => void
}): Histories {
  const places = new Map<number, Place>()

  const placeAt = (offset: number): Place => {
    let place = places.get(offset)
    if (place === undefined) {
      place = {
        nodesByHash: new Map(),
        local: null,
        isAsking: false,
        tries: 0,
        askedAtMs: 0,
        isFork: false,
      }
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

  const askLocal = (offset: number, place: Place): void => {
    if (options.localHistoryHash === undefined) return
    place.isAsking = true
    place.tries++
    place.askedAtMs = options.monotonicMs()
    const settle = (hash: string | null): void => {
      place.isAsking = false
      place.local = hash
      check(offset, place)
      options.onLocal(offset)
    }
    // A replica that cannot answer knows nothing; the nodes are compared among themselves.
    options.localHistoryHash(offset).then(settle, () => settle(null))
  }

  const askAgain = (): void => {
    const now = options.monotonicMs()
    for (const [offset, place] of places) {
      if (place.local !== null || place.isAsking || place.tries === 0) continue
      if (place.tries >= LOCAL_TRIES_MAX || now - place.askedAtMs < LOCAL_RETRY_MS) continue
      askLocal(offset, place)
    }
  }

  return {
    watch(offset) {
      const place = placeAt(offset)
      if (place.tries > 0) return
      askAgain()
      askLocal(offset, place)
    },
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
    isFork: (offset) => places.get(offset)?.isFork ?? false,
    isUndecided: (offset) => {
      const place = places.get(offset)
      return place?.isAsking === true && place.tries === 1
    },
  }
}

function hashCountOf(place: Place, node: string): number {
  let count = 0
  for (const nodes of place.nodesByHash.values()) if (nodes.has(node)) count++
  return count
}
