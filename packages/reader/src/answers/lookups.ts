/** What nodes take as lookups of one request. */

import { ASKED_NAME_LENGTH_MAX, LONE_SURROGATE, type Lookup } from '@quorumscan/verifier'

const PARTY = /^[A-Za-z0-9_-]{1,185}::1220[0-9a-f]{64}$/

/** Whether every node takes it as a lookup: a well-formed name of a length that operations take, or a party (D-30). */
export function isLookup(lookup: Lookup): boolean {
  return 'name' in lookup
    ? lookup.name.length <= ASKED_NAME_LENGTH_MAX && !LONE_SURROGATE.test(lookup.name)
    : PARTY.test(lookup.party)
}
