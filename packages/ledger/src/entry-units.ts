/**
 * The units of a log entry: its cost for every replica, as far as it is known without the state. Admission charges
 * them. A unit is the work for a usual entry, about 1 ms of a processor. The most expensive entries known (deep and wide
 * JSON, missing contracts, merges, locks with many holders, lists of parties) cost about twice their units.
 */

/** Bytes of JSON that a replica parses, compares, decodes and hashes for one unit. Usual entries have 900 to 1 100. */
const UNIT_BYTES = 1024
/** Contracts that an entry names for one unit. Each costs a read, a decoding and a hash. */
const UNIT_CONTRACTS = 16

/** The units of an entry of this size, for any content: its lowest cost. */
export function unitsOfBytes(byteCount: number): number {
  return Math.max(1, Math.floor(byteCount / UNIT_BYTES))
}

/** The units of the contracts that a submission names, in addition to those of its bytes. */
export function unitsOfContracts(contractCount: number): number {
  return Math.floor(contractCount / UNIT_CONTRACTS)
}
