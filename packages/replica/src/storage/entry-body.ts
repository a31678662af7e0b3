/** The bytes of an entry as a lookup answers them, made once and stored ready to be sent. */
import { assert, bufferOf, fromUtf8, utf8 } from '@quorumscan/base'
import type { Micros, PartyId } from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'

/** The JSON of an entry, with its members in the order of D-8. */
export type EntryBody = {
  readonly contractId: string | null
  readonly user: PartyId
  readonly name: string
  readonly url: string
  readonly description: string
  readonly expiresAt: Micros | null
}

export function encodeEntryBody(entry: EntryBody): Uint8Array {
  const { contractId: contract_id, user, name, url, description, expiresAt } = entry
  const expires_at = expiresAt === null ? null : formatInstant(expiresAt)
  return utf8(JSON.stringify({ contract_id, user, name, url, description, expires_at }))
}

/** The contract, owner and name in a stored body. @throws {Error} If no replica wrote it. */
export function parseEntryBody(body: Uint8Array): Pick<EntryBody, 'contractId' | 'user' | 'name'> {
  const { contract_id: contractId, user, name } = JSON.parse(fromUtf8(body))
  const isEntry =
    typeof user === 'string' &&
    typeof name === 'string' &&
    (contractId === null || typeof contractId === 'string')
  assert(isEntry, 'a stored body is an entry')
  return { contractId, user, name }
}

const USER_START = Buffer.from('"user":"')
const QUOTE = 0x22

/** The owner in a stored body. A party identifier needs no escapes (D-30). */
export function ownerOf(body: Uint8Array): PartyId {
  const bytes = bufferOf(body)
  const start = bytes.indexOf(USER_START) + USER_START.byteLength
  return bytes.toString('latin1', start, bytes.indexOf(QUOTE, start))
}
