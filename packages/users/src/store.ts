/** What the validator must keep and no log holds, behind one connection. */
import type { Redis } from 'ioredis'
import { type AutoRenewals, createAutoRenewals } from './auto-renewals.ts'
import { openConnection } from './connection.ts'
import { createFloor, type Floor } from './floor.ts'
import { createKeptText, type KeptText } from './kept-text.ts'
import { KEYS } from './keys.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createParties, type Parties } from './parties.ts'
import { createUsers, type Users } from './users.ts'

export type ValidatorStoreConfig = {
  /** Unix socket of the validator's Redis. */
  readonly path: string
  /** Hex; the reader's floor, addresses and evidence belong to one network. */
  readonly genesisHash: string
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

  private constructor(redis: Redis, genesisHash: string) {
    this.#redis = redis
    this.users = createUsers(redis)
    this.parties = createParties(redis)
    this.outbox = createOutbox(redis)
    this.autoRenewals = createAutoRenewals(redis)
    this.floor = createFloor(redis, genesisHash)
    this.identity = createKeptText(redis, { key: KEYS.identity, genesisHash })
    this.addresses = createKeptText(redis, { key: KEYS.addresses, genesisHash })
    this.evidence = createKeptText(redis, { key: KEYS.evidence, genesisHash })
  }

  /** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis is away, or could lose what it acknowledges. */
  static async create(config: ValidatorStoreConfig): Promise<ValidatorStore> {
    return new ValidatorStore(await openConnection(config.path), config.genesisHash)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.floor.flush()
    this.#redis.disconnect()
  }
}
