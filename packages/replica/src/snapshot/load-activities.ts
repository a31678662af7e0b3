/** Rows of the activity history in a snapshot: writes them, and grows the tree that they are the leaves of. */
import { assert, sha256 } from '@quorumscan/base'
import { append, EMPTY_FRONTIER, type Frontier } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { putRow } from '../ingest/plan-activities.ts'
import { decodeActivity, leafHashOf } from '../storage/activity-member.ts'
import {
  putTiles,
  putTilesBefore,
  readFrontier,
  type TileBefore,
  type WholeSubtree,
} from '../storage/activity-tiles.ts'
import type { WriteBehind } from './write-behind.ts'

export function createActivityLoader(redis: Redis, writes: WriteBehind) {
  const tiles: TileBefore[] = []
  let frontier: Frontier | null = null

  const frontierBefore = async (row: number | null): Promise<Frontier> => {
    assert(row !== null, 'a row has its place in the tree')
    putTilesBefore(writes, tiles, row)
    await writes.drain()
    return await readFrontier(redis, row)
  }

  return {
    /** Takes each tile before the first row. */
    takeTile(tile: TileBefore): void {
      tiles.push(tile)
    },
    async load(members: readonly Uint8Array[]): Promise<void> {
      const whole: WholeSubtree[] = []
      for (const member of members) {
        const row = decodeActivity(member)
        frontier ??= await frontierBefore(row.index)
        frontier = append(frontier, leafHashOf(row), sha256, (subtree, hash) =>
          whole.push({ subtree, hash }),
        )
        putRow(writes, 'activities', member, row)
      }
      putTiles(writes, whole)
    },
    /** The tree of the rows that were loaded. */
    frontier: (): Frontier => frontier ?? EMPTY_FRONTIER,
  }
}
