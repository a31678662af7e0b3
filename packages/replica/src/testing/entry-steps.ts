/** Steps that create and archive name entries without the payments around them. */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import { ansEntry, contractIdOf, encodePayload, type Head, templateIdOf } from '@quorumscan/ledger'
import type { Contract, Micros, Offset, PartyId } from '@quorumscan/model'
import type { Step } from '../storage/step.ts'

export type EntryFields = {
  readonly user: PartyId
  readonly name: string
  readonly expiresAt: Micros
}

/** An entry as a transaction at this offset would create it. */
export function entryContract(
  fields: EntryFields,
  created: { readonly offset: Offset; readonly recordTime: Micros; readonly nodeId: number },
): Contract {
  const { user } = fields
  const dso = `DSO::1220${'cd'.repeat(32)}`
  const { offset, recordTime: createdAt, nodeId } = created
  const payload = encodePayload(ansEntry, { ...fields, dso, url: '', description: `of ${user}` })
  const updateId = `1220${toHex(sha256(utf8(`update ${offset}`)))}`
  const identified = { templateId: templateIdOf(ansEntry), payload, updateId, nodeId }
  const named = { contractId: contractIdOf(identified), packageName: ansEntry.packageName }
  const parties = { signatories: [dso, user].sort(), observers: [] }
  return { ...identified, ...named, ...parties, createdAt, offset }
}

/** The step after a head, with hashes that follow from its place alone. */
export function stepAfter(
  head: Head,
  change: {
    readonly recordTime: Micros
    readonly created?: readonly EntryFields[]
    readonly archived?: readonly Contract[]
  },
): Step {
  const offset = head.offset + 1
  const { recordTime } = change
  const created = (change.created ?? []).map((fields, nodeId) =>
    entryContract(fields, { offset, recordTime, nodeId }),
  )
  const hashOf = (what: string) => toHex(sha256(utf8(`${what} ${offset}`)))
  const hashes = { historyHash: hashOf('history'), entryHash: hashOf('entry') }
  const { archived = [] } = change
  const delta = { created, archived, changes: [], seen: null, allocated: [] }
  return { offset, recordTime, ...hashes, delta }
}

export function testParty(hint: string): PartyId {
  return `${hint}::1220${toHex(sha256(utf8('participant')))}`
}
