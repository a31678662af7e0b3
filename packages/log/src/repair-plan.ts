/**
 * Plans the repair of a damaged log: which parts are copied, which are refilled from the nodes that followed the log, and
 * which part is cut off its end. Pure.
 *
 * The hash that the next group names proves the part before it. A lost end is refilled with the groups that f + 1 nodes
 * store identically. Only entries that no follower has applied are left out.
 */
import type { Micros, Offset } from '@quorumscan/model'
import type { StoredGroup } from './recent-groups.ts'

/** Inclusive. */
export type OffsetRange = { readonly from: Offset; readonly to: Offset }

/** A stretch of the log, in whole groups. */
export type LogPart =
  | (OffsetRange & {
      /** `ahead`: so far ahead of the clock that no replica applies it yet. */
      readonly kind: 'whole' | 'ahead'
      /** What its first group names. */
      readonly previousHash: string
      /** The hash of its last group. */
      readonly hash: string
      /** The record time of its first entry. */
      readonly recordTime: Micros
    })
  | (OffsetRange & { readonly kind: 'damaged' })

/** A group by what links it to others; `hash` is of its bytes. */
export type GroupLink = Pick<StoredGroup, 'firstOffset' | 'lastOffset' | 'previousHash'> & {
  readonly hash: string
}

/** What is known of a follower of the log. */
export type Follower = {
  readonly name: string
  /** What it has applied; null: it does not answer. */
  readonly head: Offset | null
  /** The groups that it stored up to there, in any order; empty if it stores none. */
  readonly groups: readonly GroupLink[]
  /** Whether the follower applied another group than the log has. */
  readonly hasOtherHistory: boolean
}

export type RepairStep =
  | (OffsetRange & { readonly kind: 'copy' })
  | { readonly kind: 'refill'; readonly group: GroupLink }

export type RepairRefusal =
  | { readonly kind: 'too-few'; readonly silent: readonly string[]; readonly needed: number }
  /** More than f followers applied groups that differ from the log. */
  | { readonly kind: 'another-log'; readonly nodes: readonly string[] }
  /**
   * Fewer than `needed` nodes stored the same groups of the missing part. `by`: the nodes that stored any of it.
   * `storedFrom`: the oldest offset that a node stored.
   */
  | (OffsetRange & {
      readonly kind: 'not-stored'
      readonly needed: number
      readonly by: readonly string[]
      readonly storedFrom: Offset | null
    })
  /** These nodes applied entries that fewer than `needed` nodes stored. */
  | (OffsetRange & {
      readonly kind: 'applied'
      readonly needed: number
      readonly by: readonly string[]
    })
  /** Several groups for one offset are signed, and enough nodes hold each: the names of these nodes, by group. */
  | {
      readonly kind: 'forked'
      readonly at: Offset
      readonly holders: readonly (readonly string[])[]
    }
  /** An end could be cut off, but it is not known what these followers have applied. */
  | { readonly kind: 'unknown-heads'; readonly silent: readonly string[] }

/** `recordTime`: where it begins, if all of it is whole and only ahead of the clock; null for damage. */
export type Cut = OffsetRange & { readonly recordTime: Micros | null }

export type RepairPlan =
  | { readonly kind: 'refused'; readonly refusal: RepairRefusal }
  | {
      /** `whole`: everything is only copied. */
      readonly kind: 'whole' | 'repair'
      /** In the order of the log. */
      readonly steps: readonly RepairStep[]
      readonly refilled: readonly OffsetRange[]
      /** The part that is dropped; null for none. */
      readonly cut: Cut | null
      /** The end of the repaired log. */
      readonly end: Offset
    }

export type RepairInput = {
  /** The offset and hash from which the first group continues. */
  readonly start: { readonly offset: Offset; readonly hash: string }
  /** The log without a gap, from there on; neighbors that are damaged are one part. */
  readonly parts: readonly LogPart[]
  /** All nodes of the genesis. */
  readonly nodes: readonly Follower[]
  /** Followers whose groups do not count, such as a validator. The repaired log must reach their heads. */
  readonly others: readonly Follower[]
  /** How many nodes may lie or be dead. */
  readonly f: number
}

/** Decides whether the log can be repaired, and how. */
export function planRepair(input: RepairInput): RepairPlan {
  const { parts, nodes, others, f } = input
  const silent = namesOf(nodes, ({ head }) => head === null)
  if (silent.length > f) return refused({ kind: 'too-few', silent, needed: nodes.length - f })
  const elsewhere = namesOf(nodes, ({ hasOtherHistory }) => hasOtherHistory)
  if (elsewhere.length > f) return refused({ kind: 'another-log', nodes: elsewhere })

  const held = heldBy(nodes, f + 1)
  const followers = [...nodes, ...others]
  const applied = Math.max(0, ...followers.map(({ head }) => head ?? 0))
  const tailAt =
    parts.findLastIndex(
      ({ kind, from }) => kind === 'whole' || (kind === 'ahead' && from <= applied),
    ) + 1

  const steps: RepairStep[] = []
  const refilled: OffsetRange[] = []
  let end = input.start
  const refill = (groups: readonly GroupLink[]): void => {
    const [first] = groups
    const last = groups.at(-1)
    if (first === undefined || last === undefined) return
    for (const group of groups) steps.push({ kind: 'refill', group })
    refilled.push({ from: first.firstOffset, to: last.lastOffset })
    end = { offset: last.lastOffset, hash: last.hash }
  }
  for (const [index, part] of parts.slice(0, tailAt).entries()) {
    const next = parts[index + 1]
    if (part.kind !== 'damaged') {
      steps.push({ kind: 'copy', from: part.from, to: part.to })
      end = { offset: part.to, hash: part.hash }
    } else {
      if (next !== undefined && next.kind !== 'damaged')
        refill(between(end, { last: next.previousHash, to: part.to, held }))
      if (end.offset !== part.to) return refused(notStored(part, input))
    }
  }

  const nextByHash = new Map<string, readonly GroupLink[]>()
  for (const group of held.values())
    nextByHash.set(group.previousHash, [...(nextByHash.get(group.previousHash) ?? []), group])
  const tail: GroupLink[] = []
  for (let { offset, hash } = end; ; ) {
    const next = (nextByHash.get(hash) ?? []).filter((one) => one.firstOffset === offset + 1)
    const [group] = next
    if (group === undefined) break
    if (next.length > 1) {
      const holders = next.map((one) =>
        namesOf(nodes, ({ groups }) => groups.some((group) => group.hash === one.hash)),
      )
      return refused({ kind: 'forked', at: group.firstOffset, holders })
    }
    tail.push(group)
    offset = group.lastOffset
    hash = group.hash
  }
  refill(tail)

  if (applied > end.offset) {
    const lost = { from: end.offset + 1, to: applied }
    const isAhead = ({ head }: Follower) => (head ?? 0) > end.offset
    const by = namesOf(followers, isAhead)
    if (nodes.filter(isAhead).length > f) return refused(notStored(lost, input))
    return refused({ kind: 'applied', ...lost, needed: f + 1, by })
  }
  const cut = cutOf(parts.slice(tailAt), end.offset)
  const unknown = namesOf(others, ({ head }) => head === null)
  if (cut !== null && unknown.length > 0) return refused({ kind: 'unknown-heads', silent: unknown })
  const kind = cut === null && refilled.length === 0 ? 'whole' : 'repair'
  return { kind, steps, refilled, cut, end: end.offset }
}

/** The groups that at least `count` nodes hold alike, by their hashes. */
function heldBy(nodes: readonly Follower[], count: number): ReadonlyMap<string, GroupLink> {
  const counts = new Map<string, { readonly group: GroupLink; readonly nodes: Set<string> }>()
  for (const { name, groups } of nodes)
    for (const group of groups) {
      const seen = counts.get(group.hash) ?? { group, nodes: new Set() }
      counts.set(group.hash, seen)
      seen.nodes.add(name)
    }
  const enough = [...counts].filter(([, seen]) => seen.nodes.size >= count)
  return new Map(enough.map(([hash, { group }]) => [hash, group]))
}

/** The held groups that lead from the end to the group of hash `last`; none if one of them is not held. */
function between(
  end: { readonly offset: Offset; readonly hash: string },
  goal: {
    readonly last: string
    readonly to: Offset
    readonly held: ReadonlyMap<string, GroupLink>
  },
): readonly GroupLink[] {
  const groups: GroupLink[] = []
  let { last, to } = goal
  while (to > end.offset) {
    const group = goal.held.get(last)
    if (group?.lastOffset !== to) return []
    groups.push(group)
    last = group.previousHash
    to = group.firstOffset - 1
  }
  return to === end.offset && last === end.hash ? groups.reverse() : []
}

/** The part of the log after the new end, which is dropped; null for none. */
function cutOf(tail: readonly LogPart[], end: Offset): Cut | null {
  const last = tail.at(-1)
  const [first] = tail
  if (last === undefined || first === undefined || last.to <= end) return null
  const isAhead = tail.every(({ kind }) => kind === 'ahead')
  const recordTime = isAhead && first.kind !== 'damaged' ? first.recordTime : null
  return { from: end + 1, to: last.to, recordTime }
}

function notStored({ from, to }: OffsetRange, { nodes, f }: RepairInput): RepairRefusal {
  const by = namesOf(nodes, ({ groups }) =>
    groups.some(({ firstOffset, lastOffset }) => firstOffset <= to && lastOffset >= from),
  )
  const begins = nodes.flatMap(({ groups }) => groups.map(({ firstOffset }) => firstOffset))
  const storedFrom = begins.reduce((least: Offset | null, one) => Math.min(least ?? one, one), null)
  return { kind: 'not-stored', from, to, needed: f + 1, by, storedFrom }
}

function namesOf(followers: readonly Follower[], is: (follower: Follower) => boolean) {
  return followers.filter(is).map(({ name }) => name)
}

function refused(refusal: RepairRefusal): RepairPlan {
  return { kind: 'refused', refusal }
}
