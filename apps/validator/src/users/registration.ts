/** Giving users parties: by themselves, by an administrator, and the operator's at the first start (D-20, D-32). */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { Ledger } from '@quorumscan/ledger'
import {
  type PartyId,
  participantOfKey,
  partyIdOf,
  partyParticipant,
  type Right,
  type UserId,
} from '@quorumscan/model'
import { mergeRights, type Users } from '@quorumscan/users'
import type { Commander } from '../ledger/commander.ts'
import { partyHintOf } from './party-hint.ts'

export type RegistrationDeps = {
  readonly users: Users
  readonly ledger: Ledger
  readonly commander: Commander
  /** Public key of the participant that hosts this validator's parties, hex. */
  readonly participant: string
}

/** The party of the user; allocated, and bound to the user, if it is not. Repeating it changes nothing. */
export async function register(
  deps: RegistrationDeps,
  userId: UserId,
  signal: AbortSignal,
): Promise<PartyId> {
  const known = await deps.users.get(userId)
  if (known?.user.isDeactivated === true)
    throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
  if (known !== null && known.user.primaryParty !== null) return known.user.primaryParty
  return bind(deps, userId, await allocate(deps, partyHintOf(userId), signal))
}

/**
 * As `register`, for an administrator, who may also name the party.
 *
 * @throws {ScanError} INVALID_ARGUMENT if the party lives elsewhere or does not exist (and is not to be made);
 *   USER_EXISTS if the user has another one.
 */
export async function createUser(
  deps: RegistrationDeps,
  input: {
    readonly userId: UserId
    readonly party: PartyId | null
    readonly isPartyCreated: boolean
  },
  signal: AbortSignal,
): Promise<PartyId> {
  const { userId, party } = input
  if (party === null) return register(deps, userId, signal)
  if (partyParticipant(party) !== participantOfKey(deps.participant))
    throw new ScanError('INVALID_ARGUMENT', 'The party is not hosted by this validator.', {
      details: { path: 'party_id' },
    })
  if (!(await deps.ledger.isPartyAllocated(party))) {
    if (!input.isPartyCreated)
      throw new ScanError('INVALID_ARGUMENT', 'There is no such party; see createPartyIfMissing.', {
        details: { path: 'party_id' },
      })
    await allocate(deps, party.slice(0, party.indexOf('::')), signal)
  }
  const bound = await bind(deps, userId, party)
  if (bound !== party)
    throw new ScanError('USER_EXISTS', 'The user exists, with another party.', {
      details: { party_id: bound },
    })
  return bound
}

/** The first administrator, who may do everything before there is any party. */
export async function ensureFirstAdmin(users: Users): Promise<void> {
  await grant(users, FIRST_ADMIN_USER, null, [{ kind: 'ParticipantAdmin' }])
}

/** Allocates the party on the ledger unless it is there. */
async function allocate(
  deps: RegistrationDeps,
  hint: string,
  signal: AbortSignal,
): Promise<PartyId> {
  const party = partyIdOf(hint, deps.participant)
  if (party === undefined) throw new ScanError('INVALID_ARGUMENT', 'The party hint is not valid.')
  if (await deps.ledger.isPartyAllocated(party)) return party
  try {
    await deps.commander.submit(
      {
        userId: FIRST_ADMIN_USER,
        actAs: [],
        commands: [{ kind: 'allocateParty', hint }],
        commandId: `allocate-${hint}`,
      },
      signal,
    )
  } catch (error) {
    // Another request for the same party may have been first; then all is as it should be.
    if (!isScanError(error) || !(await deps.ledger.isPartyAllocated(party))) throw error
  }
  return party
}

/** Makes the party the user's own unless it has one; returns the one it has. */
async function bind(deps: RegistrationDeps, userId: UserId, party: PartyId): Promise<PartyId> {
  return (await grant(deps.users, userId, party, [{ kind: 'CanActAs', party }])) ?? party
}

/** Adds rights, and the primary party, to a user that may be new; nothing if it has another party. */
async function grant(
  users: Users,
  userId: UserId,
  party: PartyId | null,
  rights: readonly Right[],
): Promise<PartyId | null> {
  const user = {
    id: userId,
    primaryParty: party,
    isDeactivated: false,
    metadata: {},
    identityProviderId: '',
  }
  if (await users.insert({ user, rights })) return party
  const record = await users.update(userId, (current) => {
    const primaryParty = current.user.primaryParty ?? party
    return party !== null && primaryParty !== party
      ? current
      : {
          user: { ...current.user, primaryParty },
          rights: mergeRights(current.rights, rights),
        }
  })
  return record?.user.primaryParty ?? party
}
