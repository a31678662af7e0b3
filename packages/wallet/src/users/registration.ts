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
  type User,
  type UserId,
} from '@quorumscan/model'
import type { Commander } from '@quorumscan/submit'
import { mergeRights, type Parties, type Users } from '@quorumscan/users'
import type { KeptUsers } from './kept-users.ts'
import { partyHintOf } from './party-hint.ts'

/** So often can a fitting party be given away before its user cannot register. */
const HINTS_PER_USER_MAX = 100
/** Of all users, when a party is found without a note. */
const USERS_PER_READ = 1000

export type RegistrationDeps = {
  readonly users: Users
  readonly parties: Parties
  readonly ledger: Ledger
  readonly commander: Commander
  readonly kept: Pick<KeptUsers, 'assertThere'>
  /** Public key of the participant that hosts this validator's parties, hex. */
  readonly participant: string
  /** A user who registers gets a party that was allocated for it before the notes of owners were lost. */
  readonly onFoundAgain: (userId: UserId, party: PartyId) => void
}

/** The party of the user; allocated, and bound to the user, if it is not. Repeating it changes nothing. */
export async function register(
  deps: RegistrationDeps,
  userId: UserId,
  signal: AbortSignal,
): Promise<PartyId> {
  await deps.kept.assertThere()
  const known = await deps.users.get(userId)
  if (known?.user.isDeactivated === true)
    throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
  if (known !== null && known.user.primaryParty !== null) return known.user.primaryParty
  return bind(deps, userId, await allocateOwn(deps, userId, signal))
}

/**
 * The party allocated for this user alone. Where an administrator gave away the party of the hint, the user gets
 * that of the next hint: a user who registers must not find a party that another user acts for.
 */
async function allocateOwn(
  deps: RegistrationDeps,
  userId: UserId,
  signal: AbortSignal,
): Promise<PartyId> {
  for (let number = 1; number <= HINTS_PER_USER_MAX; number++) {
    const hint = partyHintOf(userId, number)
    const party = partyOf(deps, hint)
    const isAllocated = await deps.ledger.isPartyAllocated(party)
    // A note is missing after a restore of an older backup, or after a loss of the users that was accepted.
    const isNoted = !isAllocated || (await deps.parties.owner(party)) !== null
    const isOwn = isNoted || (await isFoundAgain(deps, userId, number))
    if ((await deps.parties.claim(party, isOwn ? userId : '')) !== userId) continue
    if (!isNoted) deps.onFoundAgain(userId, party)
    return isAllocated ? party : allocate(deps, hint, signal)
  }
  throw new ScanError('LIMIT_EXCEEDED', 'Every party that fits the user is taken.')
}

/**
 * Whether an allocated party that no note names an owner of is the user's (D-68): it is the last that was allocated
 * for the user, as the next one is allocated only where this one was given away, and no other user acts for it.
 */
async function isFoundAgain(
  deps: RegistrationDeps,
  userId: UserId,
  number: number,
): Promise<boolean> {
  const next = partyOf(deps, partyHintOf(userId, number + 1))
  if (await deps.ledger.isPartyAllocated(next)) return false
  const party = partyOf(deps, partyHintOf(userId, number))
  for (let after = ''; ; ) {
    const records = await deps.users.list({ after, limit: USERS_PER_READ })
    for (const { user, rights } of records) {
      if (user.id === userId) continue
      if (user.primaryParty === party) return false
      if (rights.some((right) => right.kind === 'CanActAs' && right.party === party)) return false
    }
    const last = records.at(-1)
    if (last === undefined) return true
    after = last.user.id
  }
}

/**
 * Allocates a party for a user, or for nobody in particular; false if somebody else was first.
 *
 * @throws {ScanError} INVALID_ARGUMENT if the hint is not valid.
 */
export async function allocateParty(
  deps: RegistrationDeps,
  input: { readonly hint: string; readonly owner: UserId | '' },
  signal: AbortSignal,
): Promise<{ readonly party: PartyId; readonly isNew: boolean }> {
  const { hint, owner } = input
  await deps.kept.assertThere()
  const party = partyOf(deps, hint)
  if (await deps.ledger.isPartyAllocated(party)) return { party, isNew: false }
  if ((await deps.parties.claim(party, owner)) !== owner) return { party, isNew: false }
  return { party: await allocate(deps, hint, signal), isNew: true }
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
    throw invalidParty('The party is not hosted by this validator.')
  if (!(await deps.ledger.isPartyAllocated(party))) {
    if (!input.isPartyCreated)
      throw invalidParty('There is no such party; see createPartyIfMissing.')
    const hint = party.slice(0, party.indexOf('::'))
    const { isNew } = await allocateParty(deps, { hint, owner: userId }, signal)
    if (!isNew && !(await deps.ledger.isPartyAllocated(party)))
      throw new ScanError('USER_EXISTS', 'The party is being allocated for another user.')
  }
  const bound = await bind(deps, userId, party)
  if (bound !== party)
    throw new ScanError('USER_EXISTS', 'The user exists, with another party.', {
      details: { party_id: bound },
    })
  return bound
}

function invalidParty(message: string): ScanError {
  return new ScanError('INVALID_ARGUMENT', message, { details: { path: 'party_id' } })
}

/** Whether the ledger knows the party of the operator: the first that this participant allocated. */
export function hasOperatorParty(
  deps: Pick<RegistrationDeps, 'ledger' | 'participant'>,
): Promise<boolean> {
  return deps.ledger.isPartyAllocated(partyOf(deps, partyHintOf(FIRST_ADMIN_USER)))
}

function partyOf(deps: Pick<RegistrationDeps, 'participant'>, hint: string): PartyId {
  const party = partyIdOf(hint, deps.participant)
  if (party === undefined) throw new ScanError('INVALID_ARGUMENT', 'The party hint is not valid.')
  return party
}

/** Allocates the party on the ledger unless it is there. */
async function allocate(
  deps: RegistrationDeps,
  hint: string,
  signal: AbortSignal,
): Promise<PartyId> {
  const party = partyOf(deps, hint)
  if (await deps.ledger.isPartyAllocated(party)) return party
  try {
    const commands = [{ kind: 'allocateParty', hint }] as const
    const commandId = `allocate-${hint}`
    await deps.commander.submit(
      { userId: FIRST_ADMIN_USER, actAs: [], commands, commandId },
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
  const { users } = deps
  const rights: readonly Right[] = [{ kind: 'CanActAs', party }]
  if (await users.insert({ user: newUser(userId, party), rights })) return party
  const record = await users.update(userId, (current) => {
    const primaryParty = current.user.primaryParty ?? party
    return primaryParty !== party
      ? current
      : { user: { ...current.user, primaryParty }, rights: mergeRights(current.rights, rights) }
  })
  return record?.user.primaryParty ?? party
}

/** Active, of the default identity provider, without annotations. */
export function newUser(id: UserId, primaryParty: PartyId | null): User {
  return { id, primaryParty, isDeactivated: false, metadata: {}, identityProviderId: '' }
}
