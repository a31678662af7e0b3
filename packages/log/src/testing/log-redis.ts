/** For tests: a log's Redis with its ACL users, and readers and writers on it. */

import { createSystemClock, systemRandom } from '@quorumscan/base'
import type { Ordering } from '@quorumscan/ledger'
import type { RedisAddress } from '@quorumscan/redis'
import { startRedis, type TestRedis } from '@quorumscan/testkit'
import { LOG_RULES, LOG_USER } from '../acl.ts'
import { type LogConnection, openLogConnection } from '../connection.ts'
import { createLogFeed, type LogFeed } from '../feed.ts'
import type { SignedGroup } from '../group.ts'
import { createOrderingClient, type OrderingClientOptions } from '../ordering-client.ts'
import { createLogWriter, type LogWriter, type LogWriterOptions } from '../writer.ts'
import { genesis, keyPair, never } from './signed-groups.ts'

const PASSWORD = 'writer-password'

export type LogRedis = AsyncDisposable & {
  readonly redis: TestRedis
  readonly address: RedisAddress
  /** Knows what the writers write. */
  readonly feed: LogFeed
  writer(options?: Partial<LogWriterOptions>): Promise<LogWriter>
  reader(options?: Partial<OrderingClientOptions>): Ordering
  connection(): Promise<LogConnection>
  /** Deletes all data. */
  empty(): Promise<void>
}

export async function startLogRedis(fsync = 'always'): Promise<LogRedis> {
  const redis = await startRedis([
    '--appendonly',
    'yes',
    '--appendfsync',
    fsync,
    '--maxmemory-policy',
    'noeviction',
    '--user',
    LOG_USER,
    'on',
    `>${PASSWORD}`,
    ...LOG_RULES.split(' '),
  ])
  const address = { path: redis.socketPath, username: LOG_USER, password: PASSWORD }
  const clock = createSystemClock()
  const feed = createLogFeed({ redis: address, clock })
  const shared = { genesis, clock, random: systemRandom }
  const own = { redis: address, keyPair, onCommitted: feed.publish }
  return {
    redis,
    address,
    feed,
    writer: (options) =>
      createLogWriter({ ...shared, ...own, confirmingNodes: null, signal: never, ...options }),
    reader: (options) =>
      createOrderingClient({
        log: {
          submit: async () => {},
          open: (request) => feed.open({ ...request, peer: 'a reader' }),
        },
        ...shared,
        ...options,
      }),
    connection: () => openLogConnection(address, { signal: never }),
    async empty() {
      const admin = redis.connect()
      await admin.flushall()
      admin.disconnect()
    },
    async [Symbol.asyncDispose]() {
      await feed[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}

export async function appendAll(connection: LogConnection, groups: readonly SignedGroup[]) {
  for (const group of groups)
    if (!(await connection.append(group, group.firstOffset - 1))) throw new Error('fenced')
}
