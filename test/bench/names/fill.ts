/** Fills a replica with many live names, in the state after their registrations. */
import { assert } from '@quorumscan/base'
import { partyIdOf } from '@quorumscan/model'
import { fillNames } from '@quorumscan/replica/testing'
import { createTestNetwork, DAY_MICROS, type TestRedis, testKeyPair } from '@quorumscan/testkit'
import { nameOf, OPERATOR_JOBS } from './grow.ts'

/** The limit of open requests of a party (D-17). */
const NAMES_PER_OWNER = 16
/** Names expire after every record time at which they are read (`lateClock`). */
const LIFETIME_MICROS = 400 * DAY_MICROS

export async function fillReplica(redis: TestRedis, nameCount: number): Promise<void> {
  const network = createTestNetwork()
  const { publicKey } = testKeyPair('bench')
  const expiresAt = network.genesis.recordTime + LIFETIME_MICROS
  const entries = Array.from({ length: nameCount }, (_, index) => {
    const user = partyIdOf(`owner-${Math.floor(index / NAMES_PER_OWNER)}`, publicKey)
    assert(user !== undefined, 'the hint of a party is valid')
    return { name: nameOf(index), user, expiresAt }
  })
  const client = redis.connect()
  try {
    await fillNames(client, { ...network, dueJobs: OPERATOR_JOBS }, entries)
  } finally {
    client.disconnect()
  }
}
