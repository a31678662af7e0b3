/**
 * The history hash of each node at recent offsets, to detect a fork (D-38): f+1 nodes hold another history than
 * f+1 others, or than the local replica. Late votes count too.
 */
import type { HistoryPoint } from '@quorumscan/verifier'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
/** Hashes of one node at one offset. An honest node has one; the bound limits the memory that a lying node can use. */
const HASHES_PER_NODE_MAX = 4

export type Fork = {
  readonly offset: number
  /** Each with the nodes that have it; `local` is the local replica. */
  readonly histories: readonly { readonly historyHash: string; readonly nodes: readonly string[] }[]
}

/** null: the local replica, which is trusted without a second reporter. */
type Reporter = string | null

type OffsetHistories = { readonly reportersByHash: Map<string, Set<Reporter>>; isFork: boolean }

export type Histories = {
  readonly faultyMax: number
  readonly byOffset: Map<number, OffsetHistories>
}

export function createHistories(faultyMax: number): Histories {
  return { faultyMax, byOffset: new Map() }
}

/** Notes the history of a node or of the local replica. Returns a fork the first time it is detected. */
export function noteHistory(
  histories: Histories,
  reporter: Reporter,
  { offset, historyHash }: Pick<HistoryPoint, 'offset' | 'historyHash'>,
): Fork | null {
  const atOffset = historiesAt(histories, offset)
  const { reportersByHash } = atOffset
  const reporters = reportersByHash.get(historyHash)
  if (reporters?.has(reporter)) return null
  // A hash that others hold is always added.
  const others = [...reportersByHash.values()].filter((by) => by.has(reporter))
  if (reporters !== undefined || others.length < HASHES_PER_NODE_MAX)
    reportersByHash.set(historyHash, (reporters ?? new Set<Reporter>()).add(reporter))
  const held = [...reportersByHash]
    .filter(([, by]) => by.has(null) || by.size > histories.faultyMax)
    .map(([hash, by]) => ({ historyHash: hash, nodes: [...by].map((one) => one ?? 'local') }))
  if (atOffset.isFork || held.length < 2) return null
  atOffset.isFork = true
  return { offset, histories: held }
}

/** Whether a fork is known at the offset. */
export function isForkAt({ byOffset }: Histories, offset: number): boolean {
  return byOffset.get(offset)?.isFork === true
}

function historiesAt({ byOffset }: Histories, offset: number): OffsetHistories {
  const known = byOffset.get(offset)
  if (known !== undefined) return known
  const atOffset = { reportersByHash: new Map(), isFork: false }
  byOffset.set(offset, atOffset)
  const [oldest = offset] = byOffset.keys()
  if (byOffset.size > OFFSETS_MAX) byOffset.delete(oldest)
  return atOffset
}
