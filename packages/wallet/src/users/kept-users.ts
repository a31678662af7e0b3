/**
 * Whether the validator's users are still there. Users, rights and owners of parties are in no log: with a Redis that
 * came back empty, users could register and get parties that administrators gave to others. So none is registered
 * before an operator has looked.
 */
import { isScanError, ScanError } from '@quorumscan/errors'
import type { KeptText } from '@quorumscan/users'

export type KeptUsers = ReturnType<typeof createKeptUsers>

export function createKeptUsers(options: {
  readonly identity: KeptText
  /** Public key of the participant, hex. */
  readonly participant: string
  /** Whether there are users of a time that knew no identity. */
  readonly hasUsers: () => Promise<boolean>
  /** Whether the ledger knows the party that every participant allocates first; throws while that may still come. */
  readonly wasHereBefore: () => Promise<boolean>
  /** Whether to begin anew without those that are lost. */
  readonly isLossAccepted: boolean
}) {
  const { identity } = options
  let failure: ScanError | null = new ScanError('NOT_READY', 'The validator is starting.', {
    details: { state: 'starting' },
    retryAfterSeconds: 1,
  })
  const isLost = async () =>
    !options.isLossAccepted && !(await options.hasUsers()) && (await options.wasHereBefore())
  return {
    /**
     * Looks whether they are there, once the ledger is; before anything is written for the first time. Again
     * after a failure.
     *
     * @throws {ScanError} USERS_LOST if the participant was here before, and its users are not.
     */
    async begin(): Promise<void> {
      try {
        if ((await identity.load()) === null) {
          if (await isLost()) throw lost()
          await identity.save(options.participant)
        }
        failure = null
      } catch (error) {
        if (isScanError(error)) failure = error
        throw error
      }
    },
    /** @throws {ScanError} USERS_LOST, also where they are gone since; NOT_READY before `begin`. */
    async assertThere(): Promise<void> {
      if (failure !== null) throw failure
      if ((await identity.load()) === null) throw lost()
    },
  }
}

function lost(): ScanError {
  return new ScanError(
    'USERS_LOST',
    'The Redis of the validator came back without its users, which no log holds: nobody is registered before it is restored, or the loss accepted.',
  )
}
