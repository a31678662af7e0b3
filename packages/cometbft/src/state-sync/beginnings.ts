/**
 * With which block a log begins anew that lacks what the others do not keep any more. Pure.
 *
 * A block that f + 1 members name is one that members decided, and others can begin with. One that so many say not to
 * keep is not coming.
 */
import { maxFaulty } from '@quorumscan/verifier'

/** A block that others can begin with, as a member names it. */
export type NamedBlock = {
  readonly height: number
  /** As engines have it, hex. */
  readonly blockHash: string
}

/** What a member says of itself. */
export type Beginnings = {
  /** The first block that its engine keeps; 0: it has none. */
  readonly earliest: number
  readonly beginnings: readonly NamedBlock[]
}

export type ChosenBlock = NamedBlock & {
  /** Names of the members who named it. */
  readonly members: readonly string[]
}

/** More are not read: a member names the newest two. */
const NAMED_MAX = 2
const HASH = /^[0-9a-f]{64}$/

/** The newest that enough name; null: there is none, or the others have what comes next. */
export function chooseBeginning(
  said: ReadonlyMap<string, Beginnings>,
  own: {
    /** Of the newest block. */
    readonly height: number
    readonly memberCount: number
    /** It cannot take the next block, although others have it. */
    readonly isStranded: boolean
  },
): ChosenBlock | null {
  const needed = maxFaulty(own.memberCount) + 1
  const lacking = [...said.values()].filter(({ earliest }) => earliest > own.height + 1)
  if (lacking.length < needed && !own.isStranded) return null
  const chosen = new Map<string, ChosenBlock>()
  for (const [name, { beginnings }] of said)
    for (const { height, blockHash } of beginnings) {
      const { members = [] } = chosen.get(`${height} ${blockHash}`) ?? {}
      if (members.includes(name)) continue
      chosen.set(`${height} ${blockHash}`, { height, blockHash, members: [...members, name] })
    }
  return (
    [...chosen.values()]
      .filter(({ height, members }) => height > own.height && members.length >= needed)
      .toSorted((one, other) => other.height - one.height)[0] ?? null
  )
}

/** What a member answered; null: it is not well-formed. */
export function readBeginnings(told: unknown): Beginnings | null {
  const { earliest, beginnings } = Object(told)
  if (!isHeight(earliest) || !Array.isArray(beginnings)) return null
  const named = beginnings.slice(0, NAMED_MAX).map((one) => {
    const { height, blockHash } = Object(one)
    return { height, blockHash }
  })
  const isWellFormed = named.every(
    ({ height, blockHash }) =>
      isHeight(height) && typeof blockHash === 'string' && HASH.test(blockHash),
  )
  return isWellFormed ? { earliest, beginnings: named } : null
}

function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
