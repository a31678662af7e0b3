/** Writes the rows of the activity history in a snapshot, and grows the tree of which they are the leaves. */
import { sha256 } from '@quorumscan/base'
import { append, EMPTY_FRONTIER, type Frontier } from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { putRow } from '../ingest/plan-activities.ts'
import { decodeActivity, leafHashOf, placeInTree } from '../storage/activity-member.ts'
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

  const frontierBefore = async (row: number): Promise<Frontier> => {
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
        frontier ??= await frontierBefore(placeInTree(row))
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
