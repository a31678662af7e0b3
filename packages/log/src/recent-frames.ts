/** The newest groups as frames, in memory, for followers that are up to date. */
import { concatBytes } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import { encodeFrame } from './frame.ts'
import type { StreamGroup } from './group.ts'

/** Some seconds of a busy log. A follower that lags more is served from Redis. */
const KEPT_BYTES_MAX = 8 * 2 ** 20
const KEPT_FRAMES_MAX = 1024
/** Given at once, unless one group is larger. */
const PORTION_BYTES_MAX = 256 * 1024

type RecentFrame = Omit<StreamGroup, 'signature'>

export function createRecentFrames() {
  let kept: RecentFrame[] = []
  let keptBytes = 0
  const holds = (offset: Offset) =>
    offset >= (kept[0]?.firstOffset ?? Number.POSITIVE_INFINITY) &&
    offset <= (kept.at(-1)?.lastOffset ?? 0)
  return {
    /** Adds a group; one that does not follow on the newest takes the place of all. */
    add(group: StreamGroup): void {
      const { firstOffset, lastOffset } = group
      if (firstOffset !== (kept.at(-1)?.lastOffset ?? 0) + 1) {
        kept = []
        keptBytes = 0
      }
      const bytes = encodeFrame({ offset: lastOffset, group })
      kept.push({ firstOffset, lastOffset, bytes })
      keptBytes += bytes.byteLength
      while (kept.length > KEPT_FRAMES_MAX || keptBytes > KEPT_BYTES_MAX)
        keptBytes -= kept.shift()?.bytes.byteLength ?? 0
    },
    holds,
    /** The frames from the one that holds `offset` on, and where they end; null if it is not in memory. */
    from(offset: Offset): { readonly bytes: Uint8Array; readonly next: Offset } | null {
      if (!holds(offset)) return null
      // Nearly always among the newest.
      const start = kept.findLastIndex(({ firstOffset }) => firstOffset <= offset)
      const portion: Uint8Array[] = []
      let portionBytes = 0
      let next = offset
      for (const { bytes, lastOffset } of kept.slice(start)) {
        if (portion.length > 0 && portionBytes + bytes.byteLength > PORTION_BYTES_MAX) break
        portion.push(bytes)
        portionBytes += bytes.byteLength
        next = lastOffset + 1
      }
      const [only, ...others] = portion
      // All followers share the bytes of a single one.
      const bytes = only !== undefined && others.length === 0 ? only : concatBytes(portion)
      return { bytes, next }
    },
  }
}
