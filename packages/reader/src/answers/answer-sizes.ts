/** The largest valid answer of each kind. A node that sends more has failed. */

/** What is around the entries or rows of an answer, or an error body in their place. */
const ENVELOPE_BYTES_MAX = 4096
/**
 * An answer about one entry, in a batch or on a page: 60 + 255 + 3·140 + 2·255 bytes of text, a contract id,
 * the names of the members, and a signature are below 1700.
 */
const ENTRY_BYTES_MAX = 2048
/** A row is derived from one log entry of 256 KiB, and repeats its parties and amounts up to five times. */
const ACTIVITY_BYTES_MAX = 2 * 1024 * 1024
/** A node ends a page with more than one row at this size. */
const ACTIVITIES_BYTES_MAX = 4 * 1024 * 1024
/** A name, a URL of 255 bytes and a signature, with the names of the members, are half of it. */
const SCAN_BYTES_MAX = 1024

/** The size of a batch of this many lookups, or of a page of this many entries. */
export function entriesBytesMax(count: number): number {
  return ENVELOPE_BYTES_MAX + count * ENTRY_BYTES_MAX
}

/** The size of a page of this many activities. */
export function activitiesBytesMax(count: number): number {
  return ENVELOPE_BYTES_MAX + Math.min(count * ACTIVITY_BYTES_MAX, ACTIVITIES_BYTES_MAX)
}

/** The size of the addresses, or of any other list with one item for each node of the network. */
export function scansBytesMax(nodeCount: number): number {
  return ENVELOPE_BYTES_MAX + nodeCount * SCAN_BYTES_MAX
}
