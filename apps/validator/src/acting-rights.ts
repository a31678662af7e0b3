/** The rights of users when their work begins, which may be long after its request was accepted. */
import { canActAs } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import type { PartyId, UserId } from '@quorumscan/model'
import type { CheckedSubmitter } from '@quorumscan/submit'
import type { ValidatorStore } from '@quorumscan/users'

type MayAct = (userId: UserId, actAs: readonly PartyId[]) => Promise<boolean>

/** Whether the user exists, is active, and may act as these parties. */
export function rightsToAct({ users }: Pick<ValidatorStore, 'users'>): MayAct {
  return async (userId, actAs) => {
    const record = await users.get(userId)
    if (record === null || record.user.isDeactivated) return false
    return actAs.every((party) => canActAs(record.rights, party))
  }
}

/** A submitter for wallets of users: what waited in a queue is refused if its user may no longer act. */
export function withRightsToAct(submitter: CheckedSubmitter, mayAct: MayAct): CheckedSubmitter {
  return {
    ...submitter,
    async submit(input, signal) {
      // Commands of no party are those of the validator itself.
      if (input.actAs.length > 0 && !(await mayAct(input.userId, input.actAs)))
        throw new ScanError('PERMISSION_DENIED', 'The user of the token may not do this.')
      return await submitter.submit(input, signal)
    },
  }
}
