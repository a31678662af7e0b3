/** Reads sorted sets in portions while others write to them. */
import type { Redis } from 'ioredis'
import { lexBound } from './intern.ts'

/** A sorted set of score 0, in the order of its members. Ends with a portion that may be empty. */
export async function* byMember(
  redis: Redis,
  key: string,
  { min, max }: { readonly min: Buffer | string; readonly max: Buffer | string },
  count: number,
): AsyncGenerator<readonly Buffer[]> {
  let from = min
  for (;;) {
    const members = await redis.zrangebylexBuffer(key, from, max, 'LIMIT', 0, count)
    yield members
    const last = members.at(-1)
    if (last === undefined || members.length < count) return
    from = lexBound('(', last)
  }
}

export type Scored = { readonly member: Buffer; readonly score: number }

/**
 * A sorted set by score, then member, above a score. Portions are not empty. A member that is added or removed meanwhile
 * may be returned or not, and each other member is returned once: Redis cannot continue after a member, and a position
 * among equal scores shifts with each write, so all members of the last score of a portion are read by one command.
 *
 * @param count - Of a portion, to which all members of its last score are added. Clients choose scores, so a portion may
 *   have as many members as the set: what bounds the set bounds a portion, and no command may take all of it.
 */
export async function* byScore(
  redis: Redis,
  key: string,
  above: number,
  count: number,
): AsyncGenerator<readonly Scored[]> {
  let min = `(${above}`
  for (;;) {
    const portion = scoredOf(
      await redis.zrangebyscoreBuffer(key, min, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
    )
    const end = portion.at(-1)
    if (end === undefined) return
    if (portion.length < count) {
      yield portion
      return
    }
    const before = portion.filter(({ score }) => score < end.score)
    const atEnd = scoredOf(await redis.zrangebyscoreBuffer(key, end.score, end.score, 'WITHSCORES'))
    if (before.length + atEnd.length > 0) yield [...before, ...atEnd]
    min = `(${end.score}`
  }
}

/** Members and scores alternate in the answer. */
function scoredOf(flat: readonly Buffer[]): Scored[] {
  const scored: Scored[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    scored.push({ member: flat[at] as Buffer, score: Number(flat[at + 1]) })
  return scored
}
