/** What a user's rights allow. Pure; the rights themselves live in `packages/users`. */
import { ScanError } from '@quorumscan/errors'
import type { PartyId, Right, User } from '@quorumscan/model'

export function isAdmin(rights: readonly Right[]): boolean {
  return rights.some((right) => right.kind === 'ParticipantAdmin')
}

export function canActAs(rights: readonly Right[], party: PartyId): boolean {
  return rights.some((right) => right.kind === 'CanActAs' && right.party === party)
}

/** What of a user's record decides whether it may act; null: no such user. */
type ActingRecord = {
  readonly user: Pick<User, 'isDeactivated'>
  readonly rights: readonly Right[]
} | null

/** Why a user may not act as these parties. */
export type ActingRefusal = 'deleted' | 'deactivated' | 'without the right to act'

/** Judges work when it begins, which may be long after its request was accepted; null: the user may act. */
export function refusalToAct(
  record: ActingRecord,
  parties: readonly PartyId[],
): ActingRefusal | null {
  if (record === null) return 'deleted'
  if (record.user.isDeactivated) return 'deactivated'
  const mayAct = parties.every((party) => canActAs(record.rights, party))
  return mayAct ? null : 'without the right to act'
}

/** Acting as a party includes reading as it. Administrators read nothing by that right alone. */
export function canReadAs(rights: readonly Right[], party: PartyId): boolean {
  return rights.some(
    (right) =>
      right.kind === 'CanReadAsAnyParty' ||
      ((right.kind === 'CanReadAs' || right.kind === 'CanActAs') && right.party === party),
  )
}

/** @throws {ScanError} PERMISSION_DENIED. */
export function assertAdmin(rights: readonly Right[]): void {
  if (!isAdmin(rights)) throw denied()
}

/** @throws {ScanError} PERMISSION_DENIED unless the rights cover every one of the parties. */
export function assertActAs(rights: readonly Right[], parties: readonly PartyId[]): void {
  if (!parties.every((party) => canActAs(rights, party))) throw denied()
}

// One sentence for every refusal: it must not tell which users, parties or rights exist.
function denied(): ScanError {
  return new ScanError('PERMISSION_DENIED', 'The user of the token may not do this.')
}
