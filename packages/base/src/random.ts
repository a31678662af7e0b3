import { randomBytes } from 'node:crypto'

/** The door to randomness, handed in wherever a test wants to decide. */
export interface Random {
  bytes(count: number): Uint8Array
  /** In [0, 1). */
  fraction(): number
}

export const systemRandom: Random = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
}

export function randomHex(random: Random, byteCount: number): string {
  return Buffer.from(random.bytes(byteCount)).toString('hex')
}
