import { toHex } from '@quorumscan/verifier'

/** An id that nobody else has. `crypto.randomUUID` is missing on pages that are neither https nor localhost. */
export function randomId(): string {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)))
}
