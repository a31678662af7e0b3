/** The engine's name for a network, and for whoever takes part in it. All follow from our genesis. */

/** Of at most 50 characters, which leaves no room for the whole hash. */
const HASH_DIGITS = 40

/** @param genesisHash - Hex. */
export function chainIdOf(genesisHash: string): string {
  return `qs-${genesisHash.slice(0, HASH_DIGITS)}`
}
