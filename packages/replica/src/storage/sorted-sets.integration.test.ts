import { createSeededIntegers } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { expect } from 'vitest'
import { byScore } from './sorted-sets.ts'

const MEMBERS = 60

it('a set that is read by score has each member once that stays, whatever is written meanwhile', async ({
  redis: server,
}) => {
  const redis = server.connect()
  await fc.assert(
    fc.asyncProperty(
      fc.string(),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 12 }),
      async (seed, scores, count) => {
        const below = createSeededIntegers(seed)
        await redis.flushdb()
        const scoreByMember = new Map<string, number>()
        for (let index = 0; index < MEMBERS; index++)
          scoreByMember.set(`m${String(index).padStart(3, '0')}`, below(scores))
        await redis.zadd('set', ...[...scoreByMember].flatMap(([member, score]) => [score, member]))
        const changed = new Set<string>()
        const read: { member: string; score: number }[] = []
        for await (const portion of byScore(redis, 'set', 0, count)) {
          expect(portion.length).toBeGreaterThan(0)
          read.push(...portion.map(({ member, score }) => ({ member: String(member), score })))
          for (let writes = below(4); writes > 0; writes--) {
            const member = `m${String(below(2 * MEMBERS)).padStart(3, '0')}`
            changed.add(member)
            if (below(2) === 0) await redis.zrem('set', member)
            else await redis.zadd('set', below(scores), member)
          }
        }
        const stayed = read.filter(({ member }) => !changed.has(member))
        const expected = [...scoreByMember]
          .map(([member, score]) => ({ member, score }))
          .filter(({ member, score }) => score > 0 && !changed.has(member))
          .sort((a, b) => a.score - b.score || (a.member < b.member ? -1 : 1))
        expect(stayed).toEqual(expected)
      },
    ),
    { numRuns: 100 },
  )
})
