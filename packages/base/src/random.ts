import { randomBytes } from 'node:crypto'
import { toHex } from './bytes.ts'

/** The source of randomness, passed in so that tests control it. */
export interface Random {
  bytes(count: number): Uint8Array
  /** In [0, 1). */
  fraction(): number
}

/** Drawn at once: a draw costs 5 µs for any number of bytes up to this. */
const POOL_BYTES = 4096
let pool = new Uint8Array(0)
let position = 0

export const systemRandom: Random = {
  bytes(count) {
    if (count > POOL_BYTES) return new Uint8Array(randomBytes(count))
    if (position + count > pool.byteLength) {
      pool = new Uint8Array(randomBytes(POOL_BYTES))
      position = 0
    }
    const drawn = pool.slice(position, position + count)
    // Later readers of this memory do not find the bytes.
    pool.fill(0, position, position + count)
    position += count
    return drawn
  },
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
}

export function randomHex(random: Random, byteCount: number): string {
  return toHex(random.bytes(byteCount))
}
