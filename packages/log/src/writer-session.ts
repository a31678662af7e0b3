/** Opens a connection of the writer, and checks what must hold before a group is appended. */

import { sha256, toHex } from '@quorumscan/base'
import type { RedisAddress } from '@quorumscan/redis'
import { type ChainEnd, chainEndOf, chainStart, openRawGroup } from './chain.ts'
import { type LogConnection, openLogConnection } from './connection.ts'
import type { LogGenesis, SignedGroup } from './group.ts'
import { LogConfigError, LogFencedError } from './log-errors.ts'

/** The end of the log that the writer knows to be on disk, and the group that it sent without receiving the answer. */
export type WriterPosition = {
  /** Null before the first look at the log. */
  readonly end: ChainEnd | null
  /** It is never signed again: there must not be two groups for one offset. */
  readonly unsettled: SignedGroup | null
}

export type WriterSession = WriterPosition & {
  readonly end: ChainEnd
  readonly connection: LogConnection
}

/**
 * Connects to a Redis whose writes are durable and whose log ends where the writer left it. A group that
 * was sent earlier is settled if the log holds it.
 *
 * @throws {LogUnavailableError} To be tried again.
 * @throws {LogConfigError} @throws {LogFencedError} @throws {LogGroupError} The writer must not continue.
 */
export async function openWriterSession(options: {
  readonly redis: RedisAddress
  readonly genesis: LogGenesis
  readonly position: WriterPosition
  readonly signal: AbortSignal
  readonly onClose: () => void
}): Promise<WriterSession> {
  const { genesis, position } = options
  const connection = await openLogConnection(options.redis, options)
  try {
    await assertDurable(connection)
    const newest = await connection.newest()
    const newestHash = newest === null ? genesis.hash : toHex(sha256(newest.bytes))
    if (position.end === null) {
      const end = newest === null ? chainStart(genesis) : chainEndOf(openRawGroup(newest, genesis))
      return { connection, end, unsettled: null }
    }
    if (newestHash === position.unsettled?.hash)
      return { connection, end: chainEndOf(position.unsettled), unsettled: null }
    if (newestHash === position.end.hash)
      return { connection, end: position.end, unsettled: position.unsettled }
    throw new LogFencedError(
      `the log does not end at ${position.end.offset}, where this writer left it, but at ${newest?.id ?? 'its start'}`,
    )
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Rule 3: acknowledged writes are durable. */
async function assertDurable(connection: LogConnection): Promise<void> {
  const needed = {
    appendonly: 'yes',
    appendfsync: 'always',
    // Without a limit the machine would end Redis when its memory is full.
    maxmemory: 1,
    'maxmemory-policy': 'noeviction',
  }
  const { wrong, unknown } = await connection.check(needed)
  const problems = [...wrong, ...unknown]
  if (problems.length > 0)
    throw new LogConfigError(
      `the log's Redis may lose what it acknowledged: ${problems.join('; ')}`,
    )
}
