/** Rights as the ledger interface writes them (docs/upstream.md §L6.2). */
import type { LedgerRight } from '@quorumscan/api'
import { isPartyId, type Right } from '@quorumscan/model'
import { invalidArgument, missingField, shown } from '../commands/grammar.ts'

/** @throws {LedgerError} INVALID_ARGUMENT for a right that there is none of here. */
export function readRight({ kind }: LedgerRight): Right {
  if ('CanActAs' in kind) return { kind: 'CanActAs', party: readParty(kind.CanActAs.value.party) }
  if ('CanReadAs' in kind)
    return { kind: 'CanReadAs', party: readParty(kind.CanReadAs.value.party) }
  if ('CanReadAsAnyParty' in kind) return { kind: 'CanReadAsAnyParty' }
  if ('ParticipantAdmin' in kind) return { kind: 'ParticipantAdmin' }
  if ('CanExecuteAsAnyParty' in kind) return { kind: 'CanExecuteAsAnyParty' }
  if ('Empty' in kind) throw missingField('rights.kind')
  // D-32: neither interactive submission nor further identity providers exist.
  throw invalidArgument(`this participant has no right ${Object.keys(kind)[0]}`)
}

export function toLedgerRight(right: Right): LedgerRight {
  switch (right.kind) {
    case 'CanActAs':
      return { kind: { CanActAs: { value: { party: right.party } } } }
    case 'CanReadAs':
      return { kind: { CanReadAs: { value: { party: right.party } } } }
    case 'CanReadAsAnyParty':
      return { kind: { CanReadAsAnyParty: { value: {} } } }
    case 'CanExecuteAsAnyParty':
      return { kind: { CanExecuteAsAnyParty: { value: {} } } }
    case 'ParticipantAdmin':
      return { kind: { ParticipantAdmin: { value: {} } } }
  }
}

function readParty(party: string): string {
  if (party === '') throw missingField('party')
  if (!isPartyId(party)) throw invalidArgument(`${shown(party)} is no party of this network`)
  return party
}
