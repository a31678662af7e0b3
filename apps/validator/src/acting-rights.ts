/** The rights of users when their work begins, which may be long after its request was accepted. */
import { canReadAs, refusalToAct } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import type { PartyId, UserId } from '@quorumscan/model'
import type { CheckedSubmitter } from '@quorumscan/submit'
import type { ValidatorStore } from '@quorumscan/users'

type MayAct = (
  userId: UserId,
  actAs: readonly PartyId[],
  readAs?: readonly PartyId[],
) => Promise<boolean>

/** Whether the user exists, is active, and may act, and read, as these parties. */
export function rightsToAct({ users }: Pick<ValidatorStore, 'users'>): MayAct {
  return async (userId, actAs, readAs = []) => {
    const record = await users.get(userId)
    if (record === null || refusalToAct(record, actAs) !== null) return false
    return readAs.every((party) => actAs.includes(party) || canReadAs(record.rights, party))
  }
}

/**
 * A submitter for wallets of users: what waited in a queue, or waits for the log, is refused if its user may no longer act.
 */
export function withRightsToAct(submitter: CheckedSubmitter, mayAct: MayAct): CheckedSubmitter {
  return {
    ...submitter,
    async submit(input, signal) {
      const { userId, actAs } = input
      // Commands of no party are those of the validator itself.
      const isAllowed = async () => actAs.length === 0 || (await mayAct(userId, actAs))
      if (!(await isAllowed()))
        throw new ScanError('PERMISSION_DENIED', 'The user of the token may not do this.')
      return await submitter.submit(input, signal, isAllowed)
    },
  }
}
