/**
 * One connection to the log's Redis, with the commands that the log needs. It never reconnects and
 * repeats nothing: its owner knows what a lost answer means. Every failure is a LogUnavailableError. A
 * command has 10 s.
 */
import type { Offset } from '@quorumscan/model'
import { checkSettings, execute, openRedis, type RedisAddress } from '@quorumscan/redis'
import { LOG_START_KEY, LOG_STREAM_KEY } from './acl.ts'
import { LogGroupError, type StreamGroup } from './group.ts'
import { LogUnavailableError } from './log-errors.ts'

/**
 * The only write to the log: adds one group after the newest, or does nothing.
 *
 * The stream's newest id fences writers: of two that believe in the same end, one wins, and the other
 * learns of it. It also makes a repeated call harmless, because the first moved the end.
 *
 * KEYS[1] log           stream: one element a group, id <last offset>-0, fields g (bytes), s (signature)
 * ARGV[1] expectedId    id of the newest group as the caller believes, '' for none
 * ARGV[2] groupId       id of the group to add
 * ARGV[3] group         bytes, passed through unread
 * ARGV[4] signature     bytes, passed through unread
 *
 * Returns 1 when added
 *         0 when the newest group is another (the caller reads it and decides)
 */
const APPEND_GROUP = `
local log = KEYS[1]
local expectedId, groupId, group, signature = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)
local newestId = ''
if newest[1] then newestId = newest[1][1] end
if newestId ~= expectedId then return 0 end
redis.call('XADD', log, groupId, 'g', group, 's', signature)
return 1
`

/** An element of the stream, unverified. */
export type RawGroup = {
  readonly id: string
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
}

/**
 * The beginning of a trimmed log: the end of the deleted part, from which the first remaining group continues. It is
 * written before groups are deleted, so that a log that lost its beginning is not mistaken for a trimmed one.
 */
export type LogStart = {
  readonly offset: Offset
  /** The hash of the group that ended there; hex. */
  readonly hash: string
}

/** @throws {LogUnavailableError} If it cannot be reached, refuses the user, or the signal aborts. */
export async function openLogConnection(
  address: RedisAddress,
  options: { readonly signal: AbortSignal; readonly onClose?: () => void },
) {
  let lastError: unknown
  const client = openRedis(address, 'log', (error) => {
    lastError = error
  })
  let isClosed = false
  const close = () => {
    // Once: on a stream that is closed already, ioredis waits 2 s for a close event that never comes.
    if (!isClosed) client.disconnect()
    isClosed = true
  }
  options.signal.addEventListener('abort', close)
  client.once('end', () => {
    isClosed = true
    options.signal.removeEventListener('abort', close)
    options.onClose?.()
  })
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      options.signal.throwIfAborted()
      return await work()
    } catch (error) {
      close()
      const cause = lastError ?? error
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new LogUnavailableError(`the log's Redis is not available: ${reason}`, { cause })
    }
  }
  await guarded(() => client.connect())
  /** Elements before the one with this id, newest first; null: from the newest on. */
  const newestBefore = async (id: string | null, countMax: number): Promise<RawGroup[]> => {
    const start = id === null ? '+' : `(${id}`
    const reply = await guarded(() =>
      client.xrevrangeBuffer(LOG_STREAM_KEY, start, '-', 'COUNT', countMax),
    )
    return reply.map(toRawGroup)
  }

  return {
    isOpen: () => client.status === 'ready',
    close,
    [Symbol.dispose]: close,
    /** Elements whose last offset is at least `from`, oldest first. */
    async range(from: Offset, countMax: number): Promise<RawGroup[]> {
      const ends = [idOf(from), '+'] as const
      const reply = guarded(() => client.xrangeBuffer(LOG_STREAM_KEY, ...ends, 'COUNT', countMax))
      return (await reply).map(toRawGroup)
    },
    newest: async () => (await newestBefore(null, 1))[0] ?? null,
    newestBefore,
    /** False if the newest element is not the one that ends at `expectedOffset` (0: none). */
    async append(
      group: Pick<StreamGroup, 'bytes' | 'signature' | 'lastOffset'>,
      expectedOffset: Offset,
    ): Promise<boolean> {
      const expectedId = expectedOffset === 0 ? '' : idOf(expectedOffset)
      const [, bytes, , signature] = fieldsOf(group)
      const args = [expectedId, idOf(group.lastOffset), bytes, signature]
      return (await guarded(() => client.eval(APPEND_GROUP, 1, LOG_STREAM_KEY, ...args))) === 1
    },
    /** Appends elements unchanged. No other process may write meanwhile. */
    add: (groups: readonly RawGroup[]) =>
      guarded(async () => {
        const pipeline = client.pipeline()
        for (const group of groups) pipeline.xadd(LOG_STREAM_KEY, group.id, ...fieldsOf(group))
        await execute(pipeline)
      }),
    /** The start of the log; null: the genesis. @throws {LogGroupError} If it cannot be read. */
    async start(): Promise<LogStart | null> {
      const text = await guarded(() => client.get(LOG_START_KEY))
      if (text === null) return null
      const [, offset, hash] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text) ?? []
      if (offset === undefined || hash === undefined)
        throw new LogGroupError('malformed', `the key ${LOG_START_KEY} of the log is malformed`)
      return { offset: Number(offset), hash }
    },
    /** Stores that the log begins there, and deletes the groups that end there or before. */
    trim: (start: LogStart) =>
      guarded(async () => {
        // Not in one transaction: with its default user off, Redis skips transactions when it loads its AOF.
        await client.set(LOG_START_KEY, startText(start))
        await client.xtrim(LOG_STREAM_KEY, 'MINID', idOf(start.offset + 1))
      }),
    /** Replaces the whole log by one group after this start. No other process may write meanwhile. */
    replace: (start: LogStart, group: RawGroup) =>
      guarded(async () => {
        const change = client.multi().del(LOG_STREAM_KEY).set(LOG_START_KEY, startText(start))
        await execute(change.xadd(LOG_STREAM_KEY, group.id, ...fieldsOf(group)))
      }),
    check: (required: Parameters<typeof checkSettings>[1]) =>
      guarded(() => checkSettings(client, required)),
  }
}

export type LogConnection = Awaited<ReturnType<typeof openLogConnection>>

/** The fields of an element of the stream of groups. */
export function fieldsOf({ bytes, signature }: Pick<RawGroup, 'bytes' | 'signature'>) {
  return ['g', Buffer.from(bytes), 's', Buffer.from(signature)] as const
}

function startText({ offset, hash }: LogStart): string {
  return `${offset} ${hash}`
}

/** Stream id of the group that ends at this offset. */
export function idOf(lastOffset: number): string {
  return `${lastOffset}-0`
}

/** The offset in the id. A whole group ends there. */
export function lastOffsetOf({ id }: RawGroup): number {
  return Number.parseInt(id, 10)
}

/** An element without the two fields becomes a group of no bytes, which is malformed when it is opened. */
function toRawGroup([id, fields]: [Buffer, Buffer[]]): RawGroup {
  const [nameG, bytes, nameS, signature] = fields
  const isGroup = nameG?.toString() === 'g' && nameS?.toString() === 's'
  return {
    id: id.toString(),
    bytes: new Uint8Array(isGroup && bytes !== undefined ? bytes : []),
    signature: new Uint8Array(isGroup && signature !== undefined ? signature : []),
  }
}
