/**
 * Whether the store still has the validator's users. Users, rights and owners of parties are in no log: with an emptied
 * Redis, users could register and get parties that administrators gave to others. So no user is registered before an
 * operator has restored the store or accepted the loss.
 */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { Ledger } from '@quorumscan/ledger'
import type { PartyId } from '@quorumscan/model'
import type { StoredText, Users } from '@quorumscan/users'

export function createStoreCheck(options: {
  readonly identity: StoredText
  readonly users: Pick<Users, 'get'>
  readonly ledger: Pick<Ledger, 'isPartyAllocated'>
  /** Public key of the participant, hex. */
  readonly participant: string
  /** The party that every participant allocates first. */
  readonly operatorParty: PartyId
  /** @throws {ScanError} NOT_READY while the log may have more than the ledger shows. */
  readonly assertCaughtUp: () => void
  /** Whether the operator accepts the loss of the users. */
  readonly isLossAccepted: boolean
}) {
  const { identity, users, ledger, participant } = options
  let failure: ScanError | null = new ScanError('NOT_READY', 'The validator is starting.', {
    details: { state: 'starting' },
    retryAfterSeconds: 1,
  })
  const isLost = async () => {
    // Users of a version that stored no identity.
    if (options.isLossAccepted || (await users.get(FIRST_ADMIN_USER)) !== null) return false
    options.assertCaughtUp()
    return await ledger.isPartyAllocated(options.operatorParty)
  }
  return {
    /**
     * Checks the store once the replica is live, before anything is written for the first time. Repeated after a
     * failure.
     *
     * @throws {ScanError} USERS_LOST if the participant was here before, and its users are not.
     */
    async check(): Promise<void> {
      try {
        if ((await identity.load()) === null) {
          if (await isLost()) throw lost()
          await identity.save(participant)
        }
        failure = null
      } catch (error) {
        if (isScanError(error)) failure = error
        throw error
      }
    },
    /** @throws {ScanError} USERS_LOST, also if they were lost since; NOT_READY before `check`. */
    async assertIntact(): Promise<void> {
      if (failure !== null) throw failure
      if ((await identity.load()) === null) throw lost()
    },
  }
}

function lost(): ScanError {
  return new ScanError(
    'USERS_LOST',
    'The Redis of the validator has lost its users, which no log holds. No user is registered before an operator restores the store or accepts the loss.',
  )
}
