/** The automatic renewals, for operators, whether the validator runs or not. */
import type { RedisAddress } from '@quorumscan/redis'
import { createAutoRenewals } from './auto-renewals.ts'
import { openConnection } from './connection.ts'
import { createParties } from './parties.ts'
import { createUsers } from './users.ts'

/**
 * What determines which renewals run. Disposing closes the connection.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
 */
export async function openRenewals(address: RedisAddress) {
  const connection = await openConnection(address)
  return {
    autoRenewals: createAutoRenewals(connection),
    users: createUsers(connection),
    parties: createParties(connection),
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  }
}
