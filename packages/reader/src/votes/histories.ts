/**
 * The history hash of each node at recent offsets, to detect a fork (D-38): f+1 nodes hold another history than
 * f+1 others, or than the own replica. Late votes count too.
 */
import type { HistoryPoint } from '@quorumscan/verifier'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
/** Of one node at one offset. An honest node has one; the bound limits the memory that a lying node can use. */
const HASHES_PER_NODE_MAX = 4

export type Fork = {
  readonly offset: number
  /** Each with the nodes that have it; `local` is the own replica. */
  readonly histories: readonly { readonly historyHash: string; readonly nodes: readonly string[] }[]
}

/** null: the own replica, which is believed alone. */
type Holder = string | null

type Place = { readonly holdersByHash: Map<string, Set<Holder>>; isFork: boolean }

export type Histories = { readonly faultyMax: number; readonly places: Map<number, Place> }

export function createHistories(faultyMax: number): Histories {
  return { faultyMax, places: new Map() }
}

/** Notes the history of a node or of the own replica. Returns a fork once, when it shows. */
export function noteHistory(
  histories: Histories,
  holder: Holder,
  { offset, historyHash }: Pick<HistoryPoint, 'offset' | 'historyHash'>,
): Fork | null {
  const place = placeAt(histories, offset)
  const { holdersByHash } = place
  const holders = holdersByHash.get(historyHash)
  if (holders?.has(holder)) return null
  // A hash that others hold is always added.
  const others = [...holdersByHash.values()].filter((by) => by.has(holder))
  if (holders !== undefined || others.length < HASHES_PER_NODE_MAX)
    holdersByHash.set(historyHash, (holders ?? new Set<Holder>()).add(holder))
  const held = [...holdersByHash]
    .filter(([, by]) => by.has(null) || by.size > histories.faultyMax)
    .map(([hash, by]) => ({ historyHash: hash, nodes: [...by].map((one) => one ?? 'local') }))
  if (place.isFork || held.length < 2) return null
  place.isFork = true
  return { offset, histories: held }
}

/** Whether a fork is known at the offset. */
export function isForkAt({ places }: Histories, offset: number): boolean {
  return places.get(offset)?.isFork === true
}

function placeAt({ places }: Histories, offset: number): Place {
  const known = places.get(offset)
  if (known !== undefined) return known
  const place = { holdersByHash: new Map(), isFork: false }
  places.set(offset, place)
  const [oldest = offset] = places.keys()
  if (places.size > OFFSETS_MAX) places.delete(oldest)
  return place
}
