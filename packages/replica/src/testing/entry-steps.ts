/** Steps that create and archive name entries without the payments around them. */
import { sha256, toHex, utf8 } from '@quorumscan/base'
import { ansEntry, contractIdOf, encodePayload, type Head, templateIdOf } from '@quorumscan/ledger'
import type { Contract, Micros, Offset, PartyId } from '@quorumscan/model'
import type { Step } from '../ingest/step.ts'

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
  const identified = {
    templateId: templateIdOf(ansEntry),
    payload: encodePayload(ansEntry, { ...fields, dso, url: '', description: `of ${user}` }),
    updateId: `1220${toHex(sha256(utf8(`update ${created.offset}`)))}`,
    nodeId: created.nodeId,
  }
  return {
    ...identified,
    contractId: contractIdOf(identified),
    packageName: ansEntry.packageName,
    signatories: [dso, user].sort(),
    observers: [],
    createdAt: created.recordTime,
    offset: created.offset,
  }
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
  return {
    offset,
    recordTime,
    historyHash: toHex(sha256(utf8(`history ${offset}`))),
    entryHash: toHex(sha256(utf8(`entry ${offset}`))),
    delta: { created, archived: change.archived ?? [], change: null, seen: null, allocated: [] },
  }
}

export function testParty(hint: string): PartyId {
  return `${hint}::1220${toHex(sha256(utf8('participant')))}`
}
