/** What the validator must keep and no log holds, behind one connection. */
import type { RedisAddress } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { type AutoRenewals, createAutoRenewals } from './auto-renewals.ts'
import { openConnection, type StoreConnection } from './connection.ts'
import { createFloor, createKeptText, type Floor, type KeptText } from './kept.ts'
import { KEYS } from './keys.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createParties, type Parties } from './parties.ts'
import { createUsers, type Users } from './users.ts'

export type ValidatorStoreConfig = {
  /** The validator's. */
  readonly redis: RedisAddress
  /** Hex; the reader's floor, addresses and evidence belong to one network. */
  readonly genesisHash: string
  /** Told, in a sentence, which settings Redis does not let anybody check. */
  readonly onUnchecked?: (sentence: string) => void
}

/** Owner of the connection. */
export class ValidatorStore implements AsyncDisposable {
  readonly users: Users
  readonly parties: Parties
  readonly outbox: Outbox
  readonly autoRenewals: AutoRenewals
  readonly floor: Floor
  /** Whose users these are; kept with them, so that it is gone when they are. */
  readonly identity: KeptText
  /** The last known address records of the scan nodes, as JSON. */
  readonly addresses: KeptText
  /** What proves that scan nodes lied, as JSON. */
  readonly evidence: KeptText
  readonly #redis: Redis

  private constructor(connection: StoreConnection, genesisHash: string) {
    this.#redis = connection.redis
    this.users = createUsers(connection)
    this.parties = createParties(connection)
    this.outbox = createOutbox(connection)
    this.autoRenewals = createAutoRenewals(connection)
    this.floor = createFloor(connection, genesisHash)
    this.identity = createKeptText(connection, { key: KEYS.identity, genesisHash })
    this.addresses = createKeptText(connection, { key: KEYS.addresses, genesisHash })
    this.evidence = createKeptText(connection, { key: KEYS.evidence, genesisHash })
  }

  /** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis is away, or could lose what it acknowledges. */
  static async create(config: ValidatorStoreConfig): Promise<ValidatorStore> {
    return new ValidatorStore(
      await openConnection(config.redis, config.onUnchecked),
      config.genesisHash,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.floor.flush()
    this.#redis.disconnect()
  }
}
