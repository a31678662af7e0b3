/** Ids of contracts, as a type that no other text has. */
import { invalidArgument } from '../errors.ts'

declare const brand: unique symbol
/** The id of a contract on the ledger: `00` and hex digits. One read from elsewhere comes from `parseContractId`. */
export type ContractId = string & { readonly [brand]: 'ContractId' }

/** Whether the text has the form of one. Whether there is such a contract, the ledger knows. */
export function isContractId(text: unknown): text is ContractId {
  return typeof text === 'string' && /^00[0-9a-f]{64,}$/.test(text)
}

/** One that was stored, or typed. @throws {QuorumscanError} INVALID_ARGUMENT if it has another form. */
export function parseContractId(text: string): ContractId {
  if (isContractId(text)) return text
  throw invalidArgument('A contract id is 00 and 64 or more lower-case hex digits.')
}
