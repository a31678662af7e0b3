/** What nodes take as lookups of one request. */

import type { Lookup } from '@quorumscan/verifier'
import { LONE_SURROGATE } from '@quorumscan/verifier'

/** D-14. */
export const BATCH_LOOKUPS_MAX = 256
/** Of a name that is looked up, in UTF-16 units. Longer ones cannot exist: see NAME_LENGTH_MAX. */
export const LOOKUP_NAME_LENGTH_MAX = 255
const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/

/** Whether every node takes it as a lookup: a well-formed name of a length that operations take, or a party (D-30). */
export function isLookup(lookup: Lookup): boolean {
  return 'name' in lookup
    ? lookup.name.length <= LOOKUP_NAME_LENGTH_MAX && !LONE_SURROGATE.test(lookup.name)
    : PARTY.test(lookup.party)
}
