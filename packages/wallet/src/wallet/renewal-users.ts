/** Of which user an automatic renewal is work, and which renewals are paused (D-21). */
import { type ActingRefusal, refusalToAct } from '@quorumscan/auth'
import type { ContractId, PartyId, UserId } from '@quorumscan/model'
import type { AutoRenewal, ValidatorStore } from '@quorumscan/users'

/** Read at once. */
const USERS_PER_PAGE = 500

type RightsStore = Pick<ValidatorStore, 'users' | 'parties'>

export type PausedRenewal = AutoRenewal & {
  /** Of the subscription: the contract id of its request. */
  readonly reference: ContractId
  /** `no user`: it names none, and no user may act as the party. */
  readonly reason: ActingRefusal | 'no user'
}

type RenewalVerdict =
  | { readonly user: UserId; readonly reason: null }
  | { readonly user: null; readonly reason: PausedRenewal['reason'] }

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE. */
export async function judgeRenewal(
  store: RightsStore,
  { party, user }: AutoRenewal,
): Promise<RenewalVerdict> {
  if (user === null) {
    const found = await findActingUser(store, party)
    return found === null ? { user: null, reason: 'no user' } : { user: found, reason: null }
  }
  const reason = refusalToAct(await store.users.get(user), [party])
  return reason === null ? { user, reason } : { user: null, reason }
}

/** The user for whom the party was allocated, or another one who may act as it; to find one, it reads all users. */
async function findActingUser(
  { users, parties }: RightsStore,
  party: PartyId,
): Promise<UserId | null> {
  const owner = await parties.owner(party)
  if (owner !== null && owner !== '' && refusalToAct(await users.get(owner), [party]) === null)
    return owner
  for (let after = ''; ; ) {
    const page = await users.list({ after, limit: USERS_PER_PAGE })
    const found = page.find((record) => refusalToAct(record, [party]) === null)
    if (found !== undefined) return found.user.id
    const last = page.at(-1)
    if (last === undefined) return null
    after = last.user.id
  }
}

/**
 * In no particular order; one that changes meanwhile may be missing or come twice.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
 */
export async function* pausedRenewals(
  store: RightsStore & Pick<ValidatorStore, 'autoRenewals'>,
): AsyncIterable<PausedRenewal> {
  for await (const references of store.autoRenewals.portions()) {
    const found = await store.autoRenewals.find(references)
    const named = await Promise.all(
      found.map((one) => (one === null || one.user === null ? null : judgeRenewal(store, one))),
    )
    for (const [index, reference] of references.entries()) {
      const renewal = found[index] ?? null
      if (renewal === null) continue
      // One after the other: each may read all users.
      const { reason } = named[index] ?? (await judgeRenewal(store, renewal))
      if (reason !== null) yield { ...renewal, reference, reason }
    }
  }
}
