/**
 * Sends the log to followers: the newest groups from memory, older ones from Redis. A group is read for a follower only
 * when it is ready for more, so a slow follower costs no more than a quick one.
 */

import { type Clock, concatBytes, held, succeeds } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { type LogConnection, lastOffsetOf, openLogConnection, type RawGroup } from './connection.ts'
import { encodeFrame } from './frame.ts'
import { decodeGroup, LogGroupError, type StreamGroup } from './group.ts'

/** All nodes of the largest network, and validators. */
export const FOLLOWERS_MAX = 128
/** Streams of one peer: lost ones that the synchronizer has not noticed yet, and those that the peer opened again. */
export const FOLLOWERS_PER_PEER_MAX = 4
/** Read from Redis for one follower at once: at most 8 MiB, some milliseconds of work. */
const GROUPS_PER_READ = 8
/** A follower that receives nothing for several times as long opens another stream. */
const HEARTBEAT_MS = 2000

type Follower = {
  readonly peer: string
  readonly isAdmitted: () => boolean
  isOver: boolean
  wake: () => void
}

export function createLogFeed(options: { readonly redis: RedisAddress; readonly clock: Clock }) {
  const recent = createRecentFrames()
  const followers = held(
    { owner: 'log', name: 'followers', kind: 'work', bound: FOLLOWERS_MAX },
    new Set<Follower>(),
  )
  const closing = new AbortController()
  let head: Offset = 0
  let opening: Promise<LogConnection> | null = null

  const connect = (): Promise<LogConnection> => {
    const forget = () => {
      if (opening === connecting) opening = null
    }
    const connecting = openLogConnection(options.redis, { signal: closing.signal, onClose: forget })
    connecting.catch(forget)
    return connecting
  }
  const stored = async (from: Offset, countMax: number): Promise<RawGroup[]> => {
    opening ??= connect()
    return await (await opening).range(from, countMax)
  }

  const assertStored = async (from: Offset): Promise<void> => {
    const [raw] = await stored(from, 1)
    if (raw === undefined || firstOffsetOf(raw) <= from) return
    const [oldest] = await stored(0, 1)
    if (oldest?.id === raw.id)
      throw new ScanError(
        'OFFSET_PRUNED',
        `the log does not reach back to offset ${from}: it begins at ${firstOffsetOf(raw)}`,
      )
  }

  const remove = (follower: Follower): void => {
    follower.isOver = true
    followers.delete(follower)
    follower.wake()
  }
  const addFollower = (peer: string, isAdmitted: () => boolean): Follower => {
    if (closing.signal.aborted) throw new ScanError('NOT_READY', 'the log is being closed')
    const [oldest, ...others] = [...followers].filter((one) => one.peer === peer)
    if (oldest !== undefined && others.length + 1 >= FOLLOWERS_PER_PEER_MAX) remove(oldest)
    if (followers.size >= FOLLOWERS_MAX)
      throw new ScanError('OVERLOADED', `${FOLLOWERS_MAX} processes follow the log already`)
    const follower = { peer, isAdmitted, isOver: false, wake: () => {} }
    followers.add(follower)
    return follower
  }

  /** True when there may be a new group; false when a heartbeat is due. */
  const untilNews = async (follower: Follower): Promise<boolean> => {
    const woken = new AbortController()
    follower.wake = () => woken.abort()
    const isLate = await succeeds(options.clock.delay(HEARTBEAT_MS, woken.signal))
    follower.wake = () => {}
    return !isLate
  }

  async function* frames(follower: Follower, from: Offset): AsyncGenerator<Uint8Array> {
    let next = from
    const heartbeat = () => encodeFrame({ offset: head, group: null })
    yield heartbeat()
    while (!follower.isOver && follower.isAdmitted()) {
      const fresh = recent.from(next)
      if (fresh !== null) {
        next = fresh.next
        yield fresh.bytes
        continue
      }
      const read = next <= head ? await stored(next, GROUPS_PER_READ) : []
      // A group that the writer does not know to be on disk is not sent.
      const groups = read.filter((raw) => lastOffsetOf(raw) <= head)
      const last = groups.at(-1)
      if (last !== undefined) {
        next = lastOffsetOf(last) + 1
        yield concatBytes(
          groups.map((raw) => encodeFrame({ offset: lastOffsetOf(raw), group: raw })),
        )
      } else if (!follower.isOver && !(await untilNews(follower))) yield heartbeat()
    }
    remove(follower)
  }

  return {
    /** Publishes a group that is on disk. A group that was published already changes nothing. */
    publish(group: StreamGroup): void {
      if (group.lastOffset <= head) return
      head = group.lastOffset
      recent.add(group)
      for (const { wake } of followers) wake()
    },
    /**
     * The log as frames, from the group that holds `from` on. It does not end by itself. While the log is shorter,
     * it consists of heartbeats.
     *
     * @param options.peer - The follower. When a peer opens too many streams, its oldest one ends.
     * @param options.isAdmitted - Whether the peer may still follow. Otherwise the stream ends, within 2 s.
     * @param options.signal - Ends the stream, whether or not anything was read.
     * @throws {ScanError} OVERLOADED, OFFSET_PRUNED, DEPENDENCY_UNAVAILABLE, NOT_READY when it is closed.
     */
    async open(options: {
      readonly from: Offset
      readonly peer: string
      readonly isAdmitted?: () => boolean
      readonly signal: AbortSignal
    }): Promise<AsyncIterable<Uint8Array>> {
      const { from, peer, isAdmitted = () => true, signal } = options
      const follower = addFollower(peer, isAdmitted)
      const onAbort = () => remove(follower)
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        signal.throwIfAborted()
        if (!recent.holds(from)) await assertStored(from)
        return frames(follower, from)
      } catch (error) {
        remove(follower)
        if (error instanceof ScanError) throw error
        throw new ScanError('DEPENDENCY_UNAVAILABLE', "the log's Redis is not available", {
          cause: error,
        })
      }
    },
    /** Streams that are open. */
    followerCount: () => followers.size,
    async [Symbol.asyncDispose]() {
      closing.abort()
      for (const follower of followers) remove(follower)
      ;(await opening?.catch(() => null))?.close()
    },
  }
}

export type LogFeed = ReturnType<typeof createLogFeed>

/** 0 for a damaged group: the follower rejects it. */
function firstOffsetOf({ bytes }: RawGroup): Offset {
  try {
    return decodeGroup(bytes).firstOffset
  } catch (error) {
    if (error instanceof LogGroupError) return 0
    throw error
  }
}

/** Some seconds of a busy log. A follower that lags more is served from Redis. */
const CACHED_BYTES_MAX = 8 * 2 ** 20
const CACHED_FRAMES_MAX = 1024
/** Given at once, unless one group is larger. */
const PORTION_BYTES_MAX = 256 * 1024

type RecentFrame = Omit<StreamGroup, 'signature'>

export function createRecentFrames() {
  let cached: RecentFrame[] = []
  let cachedBytes = 0
  const holds = (offset: Offset) =>
    offset >= (cached[0]?.firstOffset ?? Number.POSITIVE_INFINITY) &&
    offset <= (cached.at(-1)?.lastOffset ?? 0)
  return {
    /** Adds a group. A group that does not follow the newest one replaces all. */
    add(group: StreamGroup): void {
      const { firstOffset, lastOffset } = group
      if (firstOffset !== (cached.at(-1)?.lastOffset ?? 0) + 1) {
        cached = []
        cachedBytes = 0
      }
      const bytes = encodeFrame({ offset: lastOffset, group })
      cached.push({ firstOffset, lastOffset, bytes })
      cachedBytes += bytes.byteLength
      while (cached.length > CACHED_FRAMES_MAX || cachedBytes > CACHED_BYTES_MAX)
        cachedBytes -= cached.shift()?.bytes.byteLength ?? 0
    },
    holds,
    /** The frames from the one that holds `offset` on, and where they end; null if it is not in memory. */
    from(offset: Offset): { readonly bytes: Uint8Array; readonly next: Offset } | null {
      if (!holds(offset)) return null
      // Nearly always among the newest.
      const start = cached.findLastIndex(({ firstOffset }) => firstOffset <= offset)
      const portion: Uint8Array[] = []
      let portionBytes = 0
      let next = offset
      for (const { bytes, lastOffset } of cached.slice(start)) {
        if (portion.length > 0 && portionBytes + bytes.byteLength > PORTION_BYTES_MAX) break
        portion.push(bytes)
        portionBytes += bytes.byteLength
        next = lastOffset + 1
      }
      const [only, ...others] = portion
      // All followers share the bytes of a single one.
      const bytes = only !== undefined && others.length === 0 ? only : concatBytes(portion)
      return { bytes, next }
    },
  }
}
