/**
 * Chooses the block from which a member restarts its log when the others have deleted the blocks that it lacks. Pure.
 *
 * A block that f + 1 members name was decided, and a log can start with it. A block that f + 1 members have deleted
 * cannot be fetched.
 */
import type { MemberSet } from '@quorumscan/verifier'
import { z } from 'zod'

/** More are not read: a member names the newest two. */
const NAMED_MAX = 2

const height = z.int().min(0)
/** A block that others can start with, as a member names it. */
const namedBlock = z.object({
  height,
  /** The hash of the block, as engines have it; hex. */
  blockHash: z.string().regex(/^[0-9a-f]{64}$/),
})
/** What a member reports of itself. */
const anchorReport = z.object({
  /** The first block that its engine keeps; 0: it has none. */
  earliest: height,
  beginnings: z.preprocess(
    (all) => (Array.isArray(all) ? all.slice(0, NAMED_MAX) : all),
    z.array(namedBlock),
  ),
})

export type SyncAnchor = z.infer<typeof namedBlock>
export type AnchorReport = z.infer<typeof anchorReport>
export type ChosenAnchor = SyncAnchor & {
  /** Names of the members that named it. */
  readonly members: readonly string[]
}

/** The newest that enough name; null: no block is named by enough, or the others have the next block. */
export function chooseAnchor(
  reports: ReadonlyMap<string, AnchorReport>,
  own: {
    /** The height of the newest block. */
    readonly height: number
    readonly set: Pick<MemberSet, 'f'>
    /** It cannot take the next block, although others have it. */
    readonly isStranded: boolean
  },
): ChosenAnchor | null {
  const needed = own.set.f + 1
  const lacking = [...reports.values()].filter(({ earliest }) => earliest > own.height + 1)
  if (lacking.length < needed && !own.isStranded) return null
  const chosen = new Map<string, ChosenAnchor>()
  for (const [name, { beginnings }] of reports)
    for (const block of beginnings) {
      const key = `${block.height} ${block.blockHash}`
      const { members = [] } = chosen.get(key) ?? {}
      if (!members.includes(name)) chosen.set(key, { ...block, members: [...members, name] })
    }
  return (
    [...chosen.values()]
      .filter((block) => block.height > own.height && block.members.length >= needed)
      .toSorted((one, other) => other.height - one.height)[0] ?? null
  )
}

/** The answer of a member; null: it is not well-formed. */
export function readAnchorReport(answer: unknown): AnchorReport | null {
  return anchorReport.safeParse(answer).data ?? null
}
