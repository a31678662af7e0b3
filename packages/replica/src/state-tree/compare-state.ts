/** Compares stored data with the state tree. Each function throws if the stored data is malformed. */
import { bytesEqual, sha256, toHex, utf8 } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/verifier'
import {
  componentsOf,
  type KeyRange,
  keyOf,
  prune,
  visibleLeaves,
} from '@quorumscan/verifier/state-tree'
import { decodeSpan } from '../storage/head.ts'
import type { Layout } from '../storage/layout.ts'
import { activeVersions, contractsAt } from '../storage/versions.ts'
import type { RecentState, StateHistory } from './state-history.ts'
import { documentLeaves } from './state-values.ts'

/** A time before every record time, at which all leaves of a range are visible. */
const BEFORE_ALL = -1

/** The newest recent state with which data that was read at this head can be compared. */
export function comparableState(history: StateHistory, head: Uint8Array): RecentState | undefined {
  const { offset, horizon } = decodeSpan(head)
  const newest = history.recent().findLast(({ point }) => point.offset <= offset)
  return newest === undefined || newest.point.offset < horizon ? undefined : newest
}

/** Keys of the leaves by name after one name, up to another one; null for the first and the last. */
export function rangeOfNames(after: string | null, upTo: string | null): Bounds {
  return {
    from: after === null ? utf8('n\0') : utf8(`n\0${after}\u0001`),
    to: upTo === null ? utf8('n\u0001') : utf8(`n\0${upTo}\u0001`),
  }
}

export function rangeOfName(name: string): Bounds {
  return { from: utf8(`n\0${name}\0`), to: utf8(`n\0${name}\u0001`) }
}

type Bounds = Pick<KeyRange, 'from' | 'to'>

/** Describes an entry of the range that only one of stored state and state tree has; null if all are equal. */
export function differingLeaf(
  history: StateHistory,
  { point, root }: RecentState,
  stored: {
    readonly range: Bounds
    /** The stored value of every name in the range. */
    readonly values: ReadonlyMap<string, Uint8Array | null | undefined>
  },
): string | null {
  const nameByLeaf = new Map<string, string>()
  const all = { limit: Number.MAX_SAFE_INTEGER, at: BEFORE_ALL }
  const { open, keyBelow } = history.tree
  const leavesAlone = { open, keyBelow, hash: () => '' }
  const pruned = root === null ? null : prune(leavesAlone, root, { ...stored.range, ...all })
  for (const { key, expiresAt, valueHash } of visibleLeaves(pruned)) {
    const [, name = ''] = componentsOf(key)
    nameByLeaf.set(leafText(name, expiresAt, valueHash), name)
  }
  for (const [name, value] of stored.values)
    for (const { expires, body } of activeVersions(value, point.offset)) {
      const found = leafText(name, expires, sha256(body))
      if (nameByLeaf.delete(found)) continue
      const [expected = 'no such entry'] = [...nameByLeaf].find(([, of]) => of === name) ?? []
      return `The stored state has ${found}; the log has ${expected}.`
    }
  const [missing] = nameByLeaf.keys()
  return missing === undefined ? null : `The log has ${missing}; the stored state lacks it.`
}

/** Identifies a leaf by name; the expiry in µs. */
function leafText(name: string, expiresAt: number | null, valueHash: Uint8Array): string {
  return `${name} that expires at ${expiresAt ?? 'no time'}, of hash ${toHex(valueHash)}`
}

/** Whether the documents lead to the values that the state has. */
export function areDocumentsEqual(
  history: StateHistory,
  { point, root }: RecentState,
  stored: {
    readonly documents: Readonly<Record<string, Uint8Array>>
    readonly layout: Layout
    readonly genesis: Genesis
  },
): boolean {
  const documents = contractsAt(stored.documents, point.offset, stored.layout)
  return documentLeaves(documents, stored.genesis).every(({ key, value }) => {
    const id = history.tree.find(root, keyOf(key))
    return id !== undefined && bytesEqual(history.leafAt(id).valueHash, sha256(utf8(value)))
  })
}
