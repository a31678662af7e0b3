/** Giving users parties: by themselves, by an administrator, and the operator's at the first start (D-20, D-32). */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { type Clock, linkedController, sha256, toHex, utf8 } from '@quorumscan/base'
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
import { type Logger, repeat } from '@quorumscan/runtime'
import type { CheckedSubmitter } from '@quorumscan/submit'
import { mergeRights, type UserRecord, type ValidatorStore } from '@quorumscan/users'
import type { Payments } from '../wallet/payments.ts'
import { createStoreCheck } from './store-check.ts'

/** How many parties that fit a user may belong to others before the user cannot register. */
const HINTS_PER_USER_MAX = 100
/** Users in one read, when the owner of a party is searched among all users. */
const USERS_PER_READ = 1000
/** The pause between attempts, for example while the validator catches up with the log. */
export const OPERATOR_RETRY_MS = 500

export type Registration = ReturnType<typeof createRegistration>

export function createRegistration(deps: {
  readonly store: Pick<ValidatorStore, 'identity'> & {
    readonly parties: Pick<ValidatorStore['parties'], 'claim' | 'owner'>
    readonly users: Omit<ValidatorStore['users'], 'bytes' | 'count' | 'delete' | 'onChange'>
  }
  readonly payments: Pick<Payments, 'catchUp'>
  readonly ledger: Pick<Ledger, 'isPartyAllocated'>
  readonly submitter: Pick<CheckedSubmitter, 'submit'>
  /** Public key of the participant that hosts this validator's parties, hex. */
  readonly participant: string
  /** Whether the operator accepts the loss of the users. */
  readonly isLossAccepted: boolean
  /** @throws {ScanError} While the replica is not live. */
  readonly assertLive: () => void
  /** @throws {ScanError} NOT_READY while the log may have more than the ledger shows. */
  readonly assertCaughtUp: () => void
  readonly clock: Clock
  readonly logger: Logger
}) {
  const { store, ledger, submitter, participant, clock, logger } = deps
  const { parties, users } = store
  const partyOf = (hint: string): PartyId => {
    const party = partyIdOf(hint, participant)
    if (party === undefined) throw new ScanError('INVALID_ARGUMENT', 'The party hint is not valid.')
    return party
  }
  const storeCheck = createStoreCheck({
    identity: store.identity,
    users,
    ledger,
    participant,
    operatorParty: partyOf(partyHintOf(FIRST_ADMIN_USER)),
    assertCaughtUp: deps.assertCaughtUp,
    isLossAccepted: deps.isLossAccepted,
  })
  let isOperatorRegistered = false

  /** Allocates the party on the ledger unless that is done. */
  const allocate = async (hint: string, signal: AbortSignal): Promise<PartyId> => {
    const party = partyOf(hint)
    if (await ledger.isPartyAllocated(party)) return party
    try {
      const commands = [{ kind: 'allocateParty', hint }] as const
      const commandId = `allocate-${hint}`
      await submitter.submit({ userId: FIRST_ADMIN_USER, actAs: [], commands, commandId }, signal)
    } catch (error) {
      // Another request for the same party may have been first; then all is as it should be.
      if (!isScanError(error) || !(await ledger.isPartyAllocated(party))) throw error
    }
    return party
  }

  /** Makes the party the user's own unless it has one; returns the one it has. `by`: who asks for it. */
  const bind = async (userId: UserId, party: PartyId, by: By): Promise<PartyId> => {
    const rights: readonly Right[] = [{ kind: 'CanActAs', party }]
    const insert = by === 'self' ? users.insertSelf : users.insert
    if (await insert({ user: newUser(userId, party), rights })) return party
    const record = await users.update(userId, (current) => {
      if (by === 'self') assertMayRegister(current, party)
      const primaryParty = current.user.primaryParty ?? party
      return primaryParty !== party
        ? current
        : { user: { ...current.user, primaryParty }, rights: mergeRights(current.rights, rights) }
    })
    return record?.user.primaryParty ?? party
  }

  /**
   * Whether the user owns an allocated party for which no owner is stored (D-68): it is the last that was allocated for
   * the user, as the next one is allocated only if this one was given away, and no other user acts for it.
   */
  const isFoundAgain = async (userId: UserId, number: number): Promise<boolean> => {
    if (await ledger.isPartyAllocated(partyOf(partyHintOf(userId, number + 1)))) return false
    const party = partyOf(partyHintOf(userId, number))
    for (let after = ''; ; ) {
      const records = await users.list({ after, limit: USERS_PER_READ })
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
   * The party allocated for this user alone. If an administrator gave away the party of the hint, the user gets that of
   * the next hint: a user who registers must not find a party that another user acts for.
   */
  const allocateOwn = async (userId: UserId, signal: AbortSignal): Promise<PartyId> => {
    for (let number = 1; number <= HINTS_PER_USER_MAX; number++) {
      const hint = partyHintOf(userId, number)
      const party = partyOf(hint)
      const isAllocated = await ledger.isPartyAllocated(party)
      // The owner is missing after a restore of an older backup, or after a loss of the users that was accepted.
      const hasOwner = !isAllocated || (await parties.owner(party)) !== null
      const isOwn = hasOwner || (await isFoundAgain(userId, number))
      if ((await parties.claim(party, isOwn ? userId : '')) !== userId) continue
      if (!hasOwner)
        logger.warn(
          { user: userId, party },
          'a user got a party that the ledger has without a stored owner; see docs/operations.md',
        )
      return isAllocated ? party : allocate(hint, signal)
    }
    throw new ScanError('LIMIT_EXCEEDED', 'Every party that fits the user is taken.')
  }

  /** The party of the user; allocated, and bound to the user, if it is not. Repeating it changes nothing. */
  const register = async (userId: UserId, by: By, signal: AbortSignal): Promise<PartyId> => {
    await storeCheck.assertIntact()
    const known = await users.get(userId)
    if (known?.user.isDeactivated === true)
      throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
    const party = known?.user.primaryParty ?? null
    if (party !== null) return party
    // Before a party is allocated; `bind` decides.
    if (by === 'self') await assertNotTaken(userId, known)
    return bind(userId, await allocateOwn(userId, signal), by)
  }

  /** @throws {ScanError} PERMISSION_DENIED if an administrator took away what a registration would give. */
  const assertNotTaken = async (userId: UserId, known: UserRecord | null): Promise<void> => {
    if (known !== null) assertMayRegister(known, null)
    else if (await users.isDeleted(userId))
      throw new ScanError(
        'PERMISSION_DENIED',
        'An administrator deleted the user. An administrator can make it again.',
      )
  }

  /**
   * Allocates a party for a user, or for no particular one (''); not new if another request was first.
   *
   * @throws {ScanError} INVALID_ARGUMENT if the hint is not valid.
   */
  const allocateParty = async (
    input: { readonly hint: string; readonly owner: UserId | '' },
    signal: AbortSignal,
  ): Promise<{ readonly party: PartyId; readonly isNew: boolean }> => {
    const { hint, owner } = input
    await storeCheck.assertIntact()
    const party = partyOf(hint)
    if (await ledger.isPartyAllocated(party)) return { party, isNew: false }
    if ((await parties.claim(party, owner)) !== owner) return { party, isNew: false }
    return { party: await allocate(hint, signal), isNew: true }
  }

  return {
    participant,
    /**
     * The party of a user who registers; allocated, and bound to the user, if it is not. Repeating it changes nothing.
     *
     * @throws {ScanError} PERMISSION_DENIED if an administrator deactivated or deleted the user, or took its party away.
     */
    register: (userId: UserId, signal: AbortSignal) => register(userId, 'self', signal),
    allocateParty,
    /**
     * As `register`, for an administrator, who may also name the party.
     *
     * @throws {ScanError} INVALID_PARTY if the party lives elsewhere, or does not exist and is not to be made;
     *   INVALID_ARGUMENT if no party is named, none is to be made, and the user has none; USER_EXISTS if the user has
     *   another one.
     */
    async createUser(
      input: { userId: UserId; party: PartyId | null; isPartyCreated: boolean },
      signal: AbortSignal,
    ): Promise<PartyId> {
      const { userId, party } = input
      if (party === null) {
        if (input.isPartyCreated) return register(userId, 'admin', signal)
        const ofUser = (await users.get(userId))?.user.primaryParty ?? null
        if (ofUser !== null) return ofUser
        const message =
          'The user has no party, no party_id is given, and createPartyIfMissing is false.'
        throw new ScanError('INVALID_ARGUMENT', message)
      }
      if (partyParticipant(party) !== participantOfKey(participant))
        throw invalidParty('The party is not hosted by this validator.')
      if (!(await ledger.isPartyAllocated(party))) {
        if (!input.isPartyCreated)
          throw invalidParty('The party does not exist; see createPartyIfMissing.')
        const hint = party.slice(0, party.indexOf('::'))
        const { isNew } = await allocateParty({ hint, owner: userId }, signal)
        if (!isNew && !(await ledger.isPartyAllocated(party)))
          throw new ScanError('USER_EXISTS', 'The party is being allocated for another user.')
      }
      const bound = await bind(userId, party, 'admin')
      if (bound !== party)
        throw new ScanError('USER_EXISTS', 'The user exists, with another party.', {
          details: { party_id: bound },
        })
      return bound
    },
    /** Registers the validator's own party at the first start. Resolves then, or when the signal aborts. */
    async registerOperator(signal: AbortSignal): Promise<void> {
      isOperatorRegistered = await untilRegistered({ clock, logger }, signal, async () => {
        deps.assertLive()
        await storeCheck.check()
        // As long as no party exists, no payment can be missing.
        await deps.payments.catchUp()
        // May do everything before any party exists. Made once: a right that was taken away stays away.
        const user = newUser(FIRST_ADMIN_USER, null)
        const rights = [{ kind: 'ParticipantAdmin' as const }]
        try {
          await users.insertSelf({ user, rights })
          await register(FIRST_ADMIN_USER, 'self', signal)
        } catch (error) {
          if (!isScanError(error, 'PERMISSION_DENIED')) throw error
          // Another administrator took it away. The validator needs the party only.
          await allocateOwn(FIRST_ADMIN_USER, signal)
        }
      })
    },
    /** @throws {ScanError} USERS_LOST; NOT_READY until the operator has its party. */
    async assertRegistered(): Promise<void> {
      await storeCheck.assertIntact()
      if (!isOperatorRegistered)
        throw new ScanError('NOT_READY', "The operator's party is not allocated yet.", {
          details: { state: 'starting' },
          retryAfterSeconds: 1,
        })
    },
  }
}

/** Who asks for a party: the user, or an administrator, who may give back what was taken away. */
type By = 'self' | 'admin'

/**
 * A user from whom a party was taken away gets no right by registering, and may register the party as which an
 * administrator let it act again.
 *
 * @param party - The one that registering would give; null: not known yet.
 * @throws {ScanError} PERMISSION_DENIED.
 */
function assertMayRegister({ isWithdrawn, rights }: UserRecord, party: PartyId | null): void {
  const mayAct = rights.some(
    (right) => right.kind === 'CanActAs' && (party === null || right.party === party),
  )
  if (isWithdrawn === true && !mayAct)
    throw new ScanError(
      'PERMISSION_DENIED',
      'An administrator took the party of the user away. An administrator can give it one.',
    )
}

/** Tries until an attempt succeeds, true, or the signal aborts, false. */
export async function untilRegistered(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  signal: AbortSignal,
  attempt: () => Promise<void>,
): Promise<boolean> {
  /** The code reported last: each failure is reported when it begins, and not at every attempt. */
  let reported: string | null = null
  const report = (err: unknown): void => {
    const what = isScanError(err) ? err.code : String(err)
    if (what === reported) return
    reported = what
    // Part of a start; `/readyz` reports it.
    if (what === 'NOT_READY') logger.info({ err }, 'the operator is not registered yet')
    else if (what === 'USERS_LOST') logger.fatal({ err }, 'the users are lost; restore a backup')
    else logger.warn({ err }, 'the operator cannot be registered; the validator tries again')
  }
  const ending = linkedController(signal)
  let isRegistered = false
  const work = async (): Promise<void> => {
    await attempt()
    isRegistered = true
    ending.abort()
  }
  const bounds = { clock, everyMs: OPERATOR_RETRY_MS, signal: ending.signal, onError: report }
  await repeat(work, bounds).ended.finally(() => ending.abort())
  return isRegistered
}

function invalidParty(message: string): ScanError {
  return new ScanError('INVALID_ARGUMENT', message, { details: { path: 'party_id' } })
}

/** Active, of the default identity provider, without annotations. */
export function newUser(id: UserId, primaryParty: PartyId | null): User {
  return { id, primaryParty, isDeactivated: false, metadata: {}, identityProviderId: '' }
}

/** D-30. */
const HINT_LENGTH_MAX = 185

/**
 * The hint of a user's party, derived from the user id alone, so that registering twice finds it (D-20). Different users
 * get different hints: what a hint cannot hold becomes `_` and two hex digits, `_` itself becomes `__`. An id whose hint
 * would be too long becomes `_h` and its SHA-256, which no other id gives. The hints of one user with different numbers
 * differ.
 */
export function partyHintOf(userId: UserId, number = 1): string {
  // After `_` no user id gives an `n`.
  const suffix = number === 1 ? '' : `_n${number}`
  const hint = userId.replace(/[^A-Za-z0-9-]/g, (character) =>
    character === '_' ? '__' : `_${toHex(utf8(character))}`,
  )
  const isShort = hint.length + suffix.length <= HINT_LENGTH_MAX
  return (isShort ? hint : `_h${toHex(sha256(utf8(userId)))}`) + suffix
}
