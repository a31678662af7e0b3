/** For tests: a log's Redis with its ACL users, a network's genesis, and readers and writers on them. */

import { createKeyPair, createSystemClock, systemRandom } from '@quorumscan/base'
import type { LogEntry, Ordering } from '@quorumscan/ledger'
import type { RedisAddress } from '@quorumscan/redis'
import { startRedis, type TestRedis } from '@quorumscan/testkit'
import { LOG_RULES, LOG_USER } from '../acl.ts'
import { type LogConnection, openLogConnection } from '../connection.ts'
import { createLogFeed, type LogFeed } from '../feed.ts'
import { type LogGenesis, type SignedGroup, signGroup } from '../group.ts'
import { createLogReader, type LogReaderOptions } from '../reader.ts'
import { createLogWriter, type LogWriter, type LogWriterOptions } from '../writer.ts'

export const START_MICROS = 1_700_000_000_000_000
export const keyPair = createKeyPair()
export const genesis: LogGenesis = {
  hash: 'ab'.repeat(32),
  recordTime: START_MICROS,
  ordering: { driver: 'redis', key: keyPair.publicKey },
}
export const never = new AbortController().signal

const PASSWORD = 'writer-password'

export type LogRedis = AsyncDisposable & {
  readonly redis: TestRedis
  readonly address: RedisAddress
  /** Knows what the writers write. */
  readonly feed: LogFeed
  writer(options?: Partial<LogWriterOptions>): Promise<LogWriter>
  reader(options?: Partial<LogReaderOptions>): Ordering
  connection(): Promise<LogConnection>
}

export async function startLogRedis(fsync = 'always'): Promise<LogRedis> {
  const redis = await startRedis([
    '--appendonly',
    'yes',
    '--appendfsync',
    fsync,
    '--maxmemory-policy',
    'noeviction',
    ...['--user', LOG_USER, 'on', `>${PASSWORD}`, ...LOG_RULES.split(' ')],
  ])
  const address = { path: redis.socketPath, username: LOG_USER, password: PASSWORD }
  const feed = createLogFeed({ redis: address, clock: createSystemClock() })
  return {
    redis,
    address,
    feed,
    writer: (options) =>
      createLogWriter({
        redis: address,
        genesis,
        keyPair,
        clock: createSystemClock(),
        random: systemRandom,
        witnesses: null,
        signal: never,
        onCommitted: feed.publish,
        ...options,
      }),
    reader: (options) =>
      createLogReader({
        log: {
          submit: async () => {},
          open: (request) => feed.open({ ...request, peer: 'a reader' }),
        },
        genesis,
        clock: createSystemClock(),
        random: systemRandom,
        ...options,
      }),
    connection: () => openLogConnection(address, { signal: never }),
    async [Symbol.asyncDispose]() {
      await feed[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}

/** Reads from `from` until `until` says that it is enough. */
export async function readUntil(
  ordering: Ordering,
  options: {
    readonly until: (entries: readonly LogEntry[]) => boolean
    readonly from?: number
    readonly expected?: Parameters<Ordering['follow']>[0]['expected']
    readonly batchEntriesMax?: number
    readonly onBatch?: (batch: readonly LogEntry[]) => void
  },
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  const stop = new AbortController()
  const batches = ordering.follow({
    from: options.from ?? 0,
    expected: options.expected ?? null,
    batchEntriesMax: options.batchEntriesMax ?? 100,
    signal: stop.signal,
  })
  for await (const batch of batches) {
    options.onBatch?.(batch)
    entries.push(...batch)
    if (options.until(entries)) stop.abort()
  }
  return entries
}

/** Groups that hold the entries in order, cut after the given numbers of entries. */
export function chainOf(
  entries: readonly { readonly recordTime: number; readonly bytes: Uint8Array }[],
  sizes: readonly number[],
): SignedGroup[] {
  const groups: SignedGroup[] = []
  let done = 0
  for (let index = 0; done < entries.length; index++) {
    const size = sizes[index] ?? entries.length
    groups.push(
      signGroup(
        {
          firstOffset: done + 1,
          previousHash: groups.at(-1)?.hash ?? genesis.hash,
          entries: entries.slice(done, done + size),
        },
        { genesisHash: genesis.hash, keyPair },
      ),
    )
    done += size
  }
  return groups
}

export async function appendAll(
  connection: LogConnection,
  groups: readonly SignedGroup[],
): Promise<void> {
  for (const group of groups)
    if (!(await connection.append(group, group.firstOffset - 1))) throw new Error('fenced')
}
