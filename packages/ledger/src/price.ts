/**
 * What an entry costs every replica, before any state is known: what admission charges for. A unit is a usual
 * entry, about 1 ms of a processor. Of the dearest that can be made (deep and wide JSON, contracts that are not
 * there, merges, locks with many holders, lists of parties) none costs more than some two for each of its units.
 */
/** Of JSON that is parsed, compared, decoded and hashed, and of the events it makes. Usual entries have 900 to 1 100. */
const UNIT_BYTES = 1024
/** Contracts named, which cost the bytes of their ids and a read, a decoding and a hash each. */
const UNIT_CONTRACTS = 16

/** Units of bytes, whatever they are: the least that an entry costs. */
export function priceOfBytes(byteCount: number): number {
  return Math.max(1, Math.floor(byteCount / UNIT_BYTES))
}

/** Units of the contracts that a submission names, beyond its bytes. */
export function priceOfContracts(contractCount: number): number {
  return Math.floor(contractCount / UNIT_CONTRACTS)
}
