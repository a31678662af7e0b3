/** A contract as a value in Redis. */
import { decodeContract, encodeContract } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'

export function packContract(contract: Contract): Uint8Array {
  return encodeContract(contract)
}

export function unpackContract(bytes: Uint8Array): Contract {
  return decodeContract(bytes)
}
