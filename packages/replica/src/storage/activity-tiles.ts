/**
 * The hashes of the activity tree in Redis, in tiles of 256 hashes, one string each. Tiles of level 0 hold the hashes of
 * leaves. Tiles of level k + 1 hold the hash of each whole tile of level k. Other hashes follow from them.
 */
import { assert, sha256 } from '@quorumscan/base'
import {
  EMPTY_FRONTIER,
  EMPTY_ROOT,
  type Frontier,
  HASH_BYTES,
  hashPair,
  type Subtree,
  subtreesOf,
} from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import type { CommandSink } from './commands.ts'
import { readWithHead } from './head-reads.ts'
import { activityTileKey } from './keys.ts'

/** Levels of the tree that a tile spans: it has 2^8 hashes. */
const TILE_LEVELS = 8
const TILE_HASHES = 2 ** TILE_LEVELS

/** The result of `readTiles`. */
export type Tiles = {
  /** The head that was read with the tiles. */
  readonly head: Buffer | null
  /** The hash of a requested subtree. If a tile is missing, the hash differs from that of the tree. */
  hashOf(subtree: Subtree): Uint8Array
}

/** A subtree that has become whole. */
export type WholeSubtree = { readonly subtree: Subtree; readonly hash: Uint8Array }

/** Stores the hashes of subtrees, in the order in which they have become whole. */
export function putTiles(commands: CommandSink, whole: readonly WholeSubtree[]): void {
  const runs = new Map<string, { readonly first: number; readonly hashes: Uint8Array[] }>()
  for (const { subtree, hash } of whole) {
    if (subtree.level % TILE_LEVELS !== 0) continue
    const { key, first } = spanOf(subtree)
    const run = runs.get(key)
    if (run === undefined) runs.set(key, { first, hashes: [hash] })
    else run.hashes.push(hash)
  }
  for (const [key, { first, hashes }] of runs)
    commands.addWhole('SETRANGE', key, first * HASH_BYTES, Buffer.concat(hashes))
}

/**
 * Deletes the tiles that hold only hashes of rows below `before`.
 *
 * @param rows.from - The tiles below that of this row are deleted already.
 */
export function dropTiles(
  commands: CommandSink,
  rows: { readonly from: number; readonly before: number },
): void {
  for (let level = 0, width = TILE_HASHES; width <= rows.before; level++, width *= TILE_HASHES) {
    const end = Math.floor(rows.before / width)
    for (let tile = Math.floor(rows.from / width); tile < end; tile++)
      commands.addWhole('UNLINK', activityTileKey(level, tile))
  }
}

/** Reads the hashes of whole subtrees atomically. */
export async function readTiles(redis: Redis, subtrees: readonly Subtree[]): Promise<Tiles> {
  const keys = [...new Set(subtrees.map((subtree) => spanOf(subtree).key))]
  const { head, replies: tiles } = await readWithHead<(Buffer | null)[]>(redis, (transaction) => {
    for (const key of keys) transaction.getBuffer(key)
  })
  const tileByKey = new Map(keys.map((key, index) => [key, tiles[index] ?? null]))
  return {
    head,
    hashOf(subtree) {
      const { key, first, count } = spanOf(subtree)
      const tile = tileByKey.get(key)
      assert(tile !== undefined, 'only what was read is looked up')
      let hashes = Array.from({ length: count }, (_, index) => hashAt(tile, first + index))
      while (hashes.length > 1)
        hashes = Array.from({ length: hashes.length / 2 }, (_, index) =>
          hashPair(hashes[2 * index] as Uint8Array, hashes[2 * index + 1] as Uint8Array, sha256),
        )
      return hashes[0] as Uint8Array // A span has at least one.
    },
  }
}

/**
 * Hashes of a tile that lie to the left of a row: at level 0 those before the row, at higher levels those before the
 * subtree that contains the row.
 */
export type TileBefore = { readonly level: number; readonly hashes: Uint8Array }

/** The hashes of each level from which the tree before a row continues, and which proofs contain. */
export async function readTilesBefore(redis: Redis, row: number): Promise<readonly TileBefore[]> {
  const tiles: TileBefore[] = []
  for (let level = 0, count = row; count > 0; level++, count = Math.floor(count / TILE_HASHES)) {
    const end = (count % TILE_HASHES) * HASH_BYTES
    if (end === 0) continue
    const hashes = await redis.getrangeBuffer(tileKeyBefore(level, count), 0, end - 1)
    assert(hashes.byteLength === end, 'a tile exists while one of its rows does')
    tiles.push({ level, hashes })
  }
  return tiles
}

/** Stores what `readTilesBefore` returned. */
export function putTilesBefore(commands: CommandSink, tiles: readonly TileBefore[], row: number) {
  for (const { level, hashes } of tiles) {
    const key = tileKeyBefore(level, Math.floor(row / TILE_HASHES ** level))
    commands.addWhole('SETRANGE', key, 0, hashes)
  }
}

/** The key of the tile with the hash at this index of its level. */
function tileKeyBefore(level: number, count: number): string {
  return activityTileKey(level, Math.floor(count / TILE_HASHES))
}

/** The frontier of the tree with this number of rows. */
export async function readFrontier(redis: Redis, size: number): Promise<Frontier> {
  if (size === 0) return EMPTY_FRONTIER
  const peaks = subtreesOf(0, size)
  const tiles = await readTiles(redis, peaks)
  return { size, peaks: peaks.map(tiles.hashOf) }
}

/** Where the hashes of a subtree lie within a tile. */
function spanOf({ level, index }: Subtree) {
  const count = 2 ** (level % TILE_LEVELS)
  const first = index * count
  const tile = Math.floor(first / TILE_HASHES)
  const key = activityTileKey(Math.floor(level / TILE_LEVELS), tile)
  return { key, first: first % TILE_HASHES, count }
}

function hashAt(tile: Buffer | null, index: number): Uint8Array {
  const hash = tile?.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
  return hash?.length === HASH_BYTES ? hash : EMPTY_ROOT
}
