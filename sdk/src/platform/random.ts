/** Randomness of the platform, which tests replace. */
import { toHex } from '@quorumscan/verifier'

/** From 0 to 1, for jitter; never for secrets. */
export type Random = () => number

export const platformRandom: Random = () =>
  (globalThis.crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** A unique id. `crypto.randomUUID` is missing on pages that are neither https nor localhost. */
export function randomId(): string {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)))
}
