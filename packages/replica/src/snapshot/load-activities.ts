/** Rows of the activity history in a snapshot: writes them, and grows the tree that they are the leaves of. */
import { assert, sha256 } from '@quorumscan/base'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashActivity,
} from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import {
  putTiles,
  putTilesBefore,
  readFrontier,
  type TileBefore,
  type WholeSubtree,
} from '../storage/activity-tiles.ts'
import { KEYS } from '../storage/keys.ts'
import type { WriteBehind } from './write-behind.ts'

export function createActivityLoader(redis: Redis, writes: WriteBehind) {
  const tiles: TileBefore[] = []
  let frontier: Frontier | null = null

  return {
    /** All of them before the first row. */
    takeTile(tile: TileBefore): void {
      tiles.push(tile)
    },
    async load(members: readonly Uint8Array[]): Promise<void> {
      const whole: WholeSubtree[] = []
      for (const member of members) {
        const { index, eventId, recordTime, body, tags } = decodeActivity(member)
        frontier ??= await frontierBefore(index)
        const leaf = hashActivity({ eventId, recordTime, rowHash: sha256(body) }, sha256)
        frontier = append(frontier, leaf, sha256, (subtree, hash) => whole.push({ subtree, hash }))
        writes.add('ZADD', KEYS.activities, 0, member)
        for (const tag of tags)
          writes.add('ZADD', KEYS.activityParties, 0, activityPartyMember(tag, eventId))
        writes.add('ZADD', KEYS.activityTimes, recordTime, offsetOf(eventId))
      }
      putTiles(writes, whole)
    },
    /** The tree of what was loaded. */
    frontier: (): Frontier => frontier ?? EMPTY_FRONTIER,
  }

  async function frontierBefore(row: number | null): Promise<Frontier> {
    assert(row !== null, 'a row has its place in the tree')
    putTilesBefore(writes, tiles, row)
    await writes.drain()
    return await readFrontier(redis, row)
  }
}

/** As in event ids. */
function offsetOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf(':'))
}
