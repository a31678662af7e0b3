/**
 * Following the log: what a replica sees of it. Everything is verified here (signature, chain, gaps,
 * times); what the entries mean is not looked at.
 */
import { type Clock, type Random, sha256, toHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { LogEntry, Ordering } from '@quorumscan/ledger'
import { type ChainEnd, chainEndOf, chainStart, extendChain, openRawGroup } from './chain.ts'
import {
  type LogConnection,
  type LogRedisAddress,
  openLogConnection,
  type RawGroup,
} from './connection.ts'
import { type LogGenesis, LogGroupError, type SignedGroup } from './group.ts'
import { LogForkError, LogUnavailableError } from './log-errors.ts'
import { reconnectDelayMs } from './reconnect.ts'

type FollowOptions = Parameters<Ordering['follow']>[0]

export type LogReaderOptions = {
  /** Of the ACL user `reader`. */
  readonly redis: LogRedisAddress
  readonly genesis: LogGenesis
  /** How entries reach the synchronizer: the apps pass http's submit client. */
  readonly submit: Ordering['submit']
  /** Given every group that was verified, before its entries are. */
  readonly keep?: (groups: readonly SignedGroup[]) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  /** Told of every lost connection. */
  readonly onProblem?: (error: LogUnavailableError) => void
}

/** Groups in one read: at most 32 MiB in memory, as a group has at most 1 MiB. */
const GROUPS_PER_READ_MAX = 32
/** After a wait without news the end is verified again, so that a log that lost it is noticed. */
const WAIT_MS = 2000

/** The ordering port over Redis Streams. Each `follow` has a connection of its own. */
export function createLogReader(options: LogReaderOptions): Ordering {
  return {
    submit: options.submit,
    follow: (request) => follow(options, request),
  }
}

async function* follow(
  options: LogReaderOptions,
  request: FollowOptions,
): AsyncGenerator<readonly LogEntry[]> {
  const { signal } = request
  let end: ChainEnd | null = request.from === 0 ? chainStart(options.genesis) : null
  let failures = 0
  while (!signal.aborted) {
    let connection: LogConnection | undefined
    try {
      connection = await openLogConnection(options.redis, { signal })
      let entries: readonly LogEntry[] = []
      if (end === null) [end, entries] = await findStart(connection, request, options.genesis)
      else await verifyEnd(connection, end, options.genesis)
      for (;;) {
        failures = 0
        for (let start = 0; start < entries.length; start += request.batchEntriesMax) {
          if (signal.aborted) return
          yield entries.slice(start, start + request.batchEntriesMax)
        }
        const raw: RawGroup[] = await connection.next(end.offset, {
          countMax: GROUPS_PER_READ_MAX,
          waitMs: WAIT_MS,
        })
        if (raw.length === 0) await verifyEnd(connection, end, options.genesis)
        const read = await readGroups(connection, { raw, end, genesis: options.genesis })
        end = read.end
        await options.keep?.(read.groups)
        entries = read.groups.flatMap((group) => group.entries)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof LogGroupError || error instanceof LogForkError) throw regressed(error)
      if (!(error instanceof LogUnavailableError)) throw error
      options.onProblem?.(error)
      failures++
    } finally {
      connection?.close()
    }
    await options.clock
      .delay(reconnectDelayMs(failures, options.random), signal)
      .catch(() => undefined) // Aborted: the loop ends.
  }
}

/** The group that holds the entry applied last, and the entries behind it in the same group. */
async function findStart(
  connection: LogConnection,
  request: FollowOptions,
  genesis: LogGenesis,
): Promise<[ChainEnd, readonly LogEntry[]]> {
  const group = await groupOf(connection, request.from, genesis)
  const entry = group.entries[request.from - group.firstOffset]
  if (
    entry?.recordTime !== request.expected?.recordTime ||
    entry === undefined ||
    toHex(sha256(entry.bytes)) !== request.expected?.entryHash
  )
    throw new LogGroupError('chain', `the log holds another entry at ${request.from}`)
  return [chainEndOf(group), group.entries.filter(({ offset }) => offset > request.from)]
}

/** Whether the log still holds what was read: after a lost connection, and when it is silent. */
async function verifyEnd(
  connection: LogConnection,
  end: ChainEnd,
  genesis: LogGenesis,
): Promise<void> {
  if (end.group === null) return
  const group = await groupOf(connection, end.offset, genesis)
  if (group.hash !== end.hash) throw new LogForkError([end.group, group])
}

async function groupOf(
  connection: LogConnection,
  offset: number,
  genesis: LogGenesis,
): Promise<SignedGroup> {
  const [raw] = await connection.range(offset, 1)
  if (raw === undefined) throw new LogGroupError('position', `the log ends before ${offset}`)
  const group = openRawGroup(raw, genesis)
  if (group.firstOffset > offset)
    throw new LogGroupError(
      'position',
      `the log lacks ${offset}, it goes on at ${group.firstOffset}`,
    )
  return group
}

async function readGroups(
  connection: LogConnection,
  input: {
    readonly raw: readonly RawGroup[]
    readonly end: ChainEnd
    readonly genesis: LogGenesis
  },
): Promise<{ end: ChainEnd; groups: SignedGroup[] }> {
  let { end } = input
  const groups: SignedGroup[] = []
  for (const raw of input.raw) {
    const group = openRawGroup(raw, input.genesis)
    try {
      end = extendChain(end, group)
    } catch (error) {
      // Signed, but no successor of what we read: if there is a second group for an offset that we
      // hold a group of, that is evidence, not only a broken log.
      if (end.group !== null && group.firstOffset <= end.offset)
        throw new LogForkError([end.group, group])
      await verifyEnd(connection, end, input.genesis)
      throw error
    }
    groups.push(group)
  }
  return { end, groups }
}

function regressed(cause: LogGroupError | LogForkError): ScanError {
  return new ScanError('LOG_REGRESSED', `the log cannot be followed: ${cause.message}`, { cause })
}
