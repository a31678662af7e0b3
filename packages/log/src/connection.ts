/**
 * One connection to the log's Redis, with the few commands that the log needs. It never reconnects by
 * itself and repeats nothing: its owner knows what a lost answer means. Every failure is a
 * LogUnavailableError, a command has 10 s.
 */
import { checkSettings, openRedis, type RedisAddress } from '@quorumscan/redis'
import { LOG_START_KEY, LOG_STREAM_KEY } from './acl.ts'
import { APPEND_GROUP } from './append-script.ts'
import type { StreamGroup } from './group.ts'
import { LogUnavailableError } from './log-errors.ts'
import { decodeLogStart, encodeLogStart, type LogStart } from './log-start.ts'

/** An element of the stream, unverified. */
export type RawGroup = {
  readonly id: string
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
}

export type LogConnection = {
  isOpen(): boolean
  /** Elements whose last offset is at least `from`, oldest first. */
  range(from: number, countMax: number): Promise<RawGroup[]>
  newest(): Promise<RawGroup | null>
  /** Elements before the one with this id, newest first; null: from the newest on. */
  newestBefore(id: string | null, countMax: number): Promise<RawGroup[]>
  /** False if the newest element is not the one that ends at `expectedOffset` (0: none). */
  append(
    group: Pick<StreamGroup, 'bytes' | 'signature' | 'lastOffset'>,
    expectedOffset: number,
  ): Promise<boolean>
  /** Adds elements as they are behind all others, where nobody else writes. */
  add(groups: readonly RawGroup[]): Promise<void>
  /** Where the log begins; null: with the genesis. @throws {LogGroupError} If that cannot be read. */
  start(): Promise<LogStart | null>
  /** Writes down that the log begins there, and takes out what ends there or before. */
  trim(start: LogStart): Promise<void>
  /** Puts one group in the place of all, behind this start, where nobody else writes. */
  replace(start: LogStart, group: RawGroup): Promise<void>
  check: (required: Parameters<typeof checkSettings>[1]) => ReturnType<typeof checkSettings>
  close(): void
}

type Options = { readonly signal: AbortSignal; readonly onClose?: () => void }

/** @throws {LogUnavailableError} If it cannot be reached, refuses the user, or the signal aborts. */
export async function openLogConnection(
  address: RedisAddress,
  options: Options,
): Promise<LogConnection> {
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
  const newestBefore = async (id: string | null, countMax: number) => {
    const start = id === null ? '+' : `(${id}`
    const reply = await guarded(() =>
      client.xrevrangeBuffer(LOG_STREAM_KEY, start, '-', 'COUNT', countMax),
    )
    return reply.map(toRawGroup)
  }

  return {
    isOpen: () => client.status === 'ready',
    close,
    range: async (from, countMax) =>
      (
        await guarded(() => client.xrangeBuffer(LOG_STREAM_KEY, idOf(from), '+', 'COUNT', countMax))
      ).map(toRawGroup),
    newest: async () => (await newestBefore(null, 1))[0] ?? null,
    newestBefore,
    append: async (group, expectedOffset) =>
      (await guarded(() =>
        client.eval(
          APPEND_GROUP,
          1,
          LOG_STREAM_KEY,
          expectedOffset === 0 ? '' : idOf(expectedOffset),
          idOf(group.lastOffset),
          Buffer.from(group.bytes),
          Buffer.from(group.signature),
        ),
      )) === 1,
    add: (groups) =>
      guarded(async () => {
        const pipeline = client.pipeline()
        for (const { id, bytes, signature } of groups)
          pipeline.xadd(LOG_STREAM_KEY, id, 'g', Buffer.from(bytes), 's', Buffer.from(signature))
        for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error
      }),
    async start() {
      const text = await guarded(() => client.get(LOG_START_KEY))
      return text === null ? null : decodeLogStart(text)
    },
    trim: (start) =>
      guarded(async () => {
        // Not in one transaction: a Redis whose default user is off passes over those of its file when it starts.
        await client.set(LOG_START_KEY, encodeLogStart(start))
        await client.xtrim(LOG_STREAM_KEY, 'MINID', idOf(start.offset + 1))
      }),
    replace: (start, { id, bytes, signature }) =>
      guarded(async () => {
        const change = client.multi().del(LOG_STREAM_KEY).set(LOG_START_KEY, encodeLogStart(start))
        change.xadd(LOG_STREAM_KEY, id, 'g', Buffer.from(bytes), 's', Buffer.from(signature))
        for (const [error] of (await change.exec()) ?? []) if (error !== null) throw error
      }),
    check: (required) => guarded(() => checkSettings(client, required)),
  }
}

/** Stream id of the group that ends at this offset. */
export function idOf(lastOffset: number): string {
  return `${lastOffset}-0`
}

/** What the id says: true of a group that is whole. */
export function lastOffsetOf({ id }: RawGroup): number {
  return Number.parseInt(id, 10)
}

/** An element without the two fields becomes a group of no bytes, which is malformed to whoever opens it. */
function toRawGroup([id, fields]: [Buffer, Buffer[]]): RawGroup {
  const [nameG, bytes, nameS, signature] = fields
  const isGroup = nameG?.toString() === 'g' && nameS?.toString() === 's'
  return {
    id: id.toString(),
    bytes: new Uint8Array(isGroup && bytes !== undefined ? bytes : []),
    signature: new Uint8Array(isGroup && signature !== undefined ? signature : []),
  }
}
