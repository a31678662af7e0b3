/** The data that the validator must store because no log holds it, over one connection. */
import type { RedisAddress } from '@quorumscan/redis'
import { createAutoRenewals } from './auto-renewals.ts'
import { KEYS, openConnection } from './connection.ts'
import { createOutbox } from './outbox.ts'
import { createParties } from './parties.ts'
import { createPayments } from './payments.ts'
import { createRedisFloorStore, createStoredText } from './reader-state.ts'
import { createUsers } from './users.ts'

export type ValidatorStore = Awaited<ReturnType<typeof openValidatorStore>>

/**
 * Disposing closes the connection.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or could lose what it acknowledges.
 */
export async function openValidatorStore(config: {
  /** The validator's. */
  readonly redis: RedisAddress
  /** Hex; the reader's floor, addresses and evidence belong to one network. */
  readonly genesisHash: string
  /** Receives a sentence that names the settings which Redis does not allow to check. */
  readonly onUnchecked?: (sentence: string) => void
}) {
  const { genesisHash } = config
  const connection = await openConnection(config.redis, config.onUnchecked)
  const storedText = (key: string) => createStoredText(connection, { key, genesisHash })
  const floor = createRedisFloorStore(connection, genesisHash)
  return {
    users: createUsers(connection),
    parties: createParties(connection),
    outbox: createOutbox(connection),
    autoRenewals: createAutoRenewals(connection),
    payments: createPayments(connection, genesisHash),
    floor,
    /** Key of the participant of the users. Stored with them, so that it is lost when they are. */
    identity: storedText(KEYS.identity),
    /** The last known address records of the scan nodes, as JSON. */
    addresses: storedText(KEYS.addresses),
    /** Evidence that scan nodes equivocated, as JSON. */
    evidence: storedText(KEYS.evidence),
    async [Symbol.asyncDispose](): Promise<void> {
      await floor.flush()
      connection[Symbol.dispose]()
    },
  }
}
