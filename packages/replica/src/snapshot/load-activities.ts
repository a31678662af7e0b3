/** Rows of the activity history in a snapshot: writes them, and grows the tree that they are the leaves of. */
import { assert, sha256 } from '@quorumscan/base'
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  hashActivity,
  type Subtree,
} from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import {
  planTiles,
  planTilesBefore,
  readFrontier,
  type TileBefore,
} from '../storage/activity-tiles.ts'
import { KEYS } from '../storage/keys.ts'
import type { WriteBehind } from './write-behind.ts'

export type ActivityLoader = {
  /** All of them before the first row. */
  takeTile(tile: TileBefore): void
  load(members: readonly Uint8Array[]): Promise<void>
  /** The tree of what was loaded. */
  frontier(): Frontier
}

export function createActivityLoader(redis: Redis, writes: WriteBehind): ActivityLoader {
  const tiles: TileBefore[] = []
  let frontier: Frontier | null = null

  return {
    takeTile: (tile) => tiles.push(tile),
    async load(members) {
      const whole: { subtree: Subtree; hash: Uint8Array }[] = []
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
      for (const [name, key, ...args] of planTiles(whole)) writes.addWhole(name, key, ...args)
    },
    frontier: () => frontier ?? EMPTY_FRONTIER,
  }

  async function frontierBefore(row: number | null): Promise<Frontier> {
    assert(row !== null, 'a row has its place in the tree')
    for (const command of planTilesBefore(tiles, row)) writes.addWhole(...command)
    await writes.drain()
    return await readFrontier(redis, row)
  }
}

/** As in event ids. */
function offsetOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf(':'))
}
