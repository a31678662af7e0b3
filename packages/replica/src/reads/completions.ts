/** Reads completions (`storage/completions.ts`). */
import type { CompletionRecord, Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { completionBound, decodeCompletion } from '../storage/completions.ts'
import { KEYS } from '../storage/keys.ts'

/** The completions after an offset, up to another one, by ascending offset. */
export async function readCompletions(
  redis: Redis,
  range: { readonly after: Offset; readonly upTo: Offset; readonly limit: number },
): Promise<CompletionRecord[]> {
  const from = completionBound('[', range.after + 1)
  const to = completionBound('(', range.upTo + 1)
  const members = await reach(
    redis.zrangeBuffer(KEYS.completions, from, to, 'BYLEX', 'LIMIT', 0, range.limit),
  )
  return members.map(decodeCompletion)
}

/** Completions per pass of pruning. */
const PRUNE_PORTION = 1_000

/** Some members of offsets below this one. */
export function completionsBelow(redis: Redis, offset: Offset): Promise<Buffer[]> {
  const max = completionBound('(', offset)
  return reach(redis.zrangeBuffer(KEYS.completions, '-', max, 'BYLEX', 'LIMIT', 0, PRUNE_PORTION))
}
