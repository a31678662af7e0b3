/** The horizon moved by hand, as `quorumscan prune` does: reads below it are refused from then on (D-10). */
import type { Offset } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type Mirror, type WriteOutcome, writeFenced } from '../ingest/store.ts'
import { encodeHead } from '../storage/head.ts'
import { KEYS } from '../storage/keys.ts'

/**
 * One fenced write, beside those of the ingest: whichever comes second is fenced, and the ingest then loads
 * the state anew. Clean-up takes what lies below with the next batches.
 *
 * @param horizon - Not above the head. One that is not above the present one changes nothing.
 */
export async function raiseHorizon(
  redis: Redis,
  mirror: Mirror,
  { horizon, signal }: { readonly horizon: Offset; readonly signal: AbortSignal },
): Promise<WriteOutcome> {
  const { head } = mirror
  if (horizon <= head.horizon) return 'written'
  const next = { ...head, horizon }
  const outcome = await writeFenced(redis, {
    expected: encodeHead(head),
    next: encodeHead(next),
    commands: [['LTRIM', KEYS.at, horizon - head.horizon, -1]],
    signal,
  })
  if (outcome === 'written') {
    mirror.head = next
    mirror.timeline.dropBelow(horizon)
  }
  return outcome
}
