/**
 * The log of a member of a network that is ordered by blocks: each block is one group of the stream, in the member's
 * own Redis. Instead of a signature a group carries a seal: the block's height, and the app hash after it. If the
 * stream loses its end, the engine replays its blocks after the newest group.
 */

import { type Clock, concatBytes, fromHex, type Random, sha256, toHex, u64 } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import {
  idOf,
  type LogConnection,
  lastOffsetOf,
  openLogConnection,
  type RawGroup,
} from './connection.ts'
import { decodeGroup, type Group, LogGroupError, type StreamGroup } from './group.ts'
import { LogFencedError, LogUnavailableError } from './log-errors.ts'
import { reconnectDelayMs } from './reconnect.ts'

/** What a member must know of a block to continue after it. */
export type BlockSeal = {
  readonly height: number
  /** Hex. */
  readonly appHash: string
}

export type StoredBlock = Group &
  StreamGroup &
  BlockSeal & {
    /** The hash of the group, hex. */
    readonly hash: string
  }

const HEIGHT_BYTES = 8
const SEAL_BYTES = HEIGHT_BYTES + 32
/** At most 32 MiB in memory, as a group has at most 1 MiB. */
const GROUPS_PER_READ = 32

export function createBlockStore(options: {
  readonly redis: RedisAddress
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  /** Receives the reason why a group has to wait. */
  readonly onProblem: (error: unknown) => void
}) {
  const { clock, random, signal } = options
  let connection: LogConnection | null = null

  /** Repeats work that failed because Redis is down or full, until it succeeds. */
  const untilDone = async <T>(work: (connection: LogConnection) => Promise<T>): Promise<T> => {
    for (let failures = 1; ; failures++) {
      try {
        if (connection === null || !connection.isOpen())
          connection = await openLogConnection(options.redis, { signal })
        return await work(connection)
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof LogUnavailableError)) throw error
        options.onProblem(error)
      }
      await clock.delay(reconnectDelayMs(failures, random), signal)
    }
  }

  /** The block with this offset; null: it was trimmed, or does not exist yet. */
  const blockAt = async (offset: Offset): Promise<StoredBlock | null> => {
    const [raw] = await untilDone((redis) => redis.range(offset, 1))
    if (raw === undefined) return null
    const block = openBlock(raw)
    return block.firstOffset > offset ? null : block
  }

  return {
    blockAt,
    /**
     * The block that determines the app hash at an offset: the newest at or before it that is not a checkpoint. Null: the
     * log does not have it.
     */
    async agreedAt(offset: Offset): Promise<StoredBlock | null> {
      const [first] = await untilDone((redis) => redis.range(0, 1))
      const at = await blockAt(offset)
      if (first === undefined || at === null) return null
      // Blocks since the one that is looked for have the same app hash.
      let found = at
      for (let low = openBlock(first).firstOffset; low < found.firstOffset; ) {
        const middle = await blockAt(Math.floor((low + found.firstOffset - 1) / 2))
        if (middle === null) return null // It was trimmed meanwhile.
        if (middle.appHash === at.appHash) found = middle
        else low = middle.lastOffset + 1
      }
      return found.hash === at.appHash ? found : null
    },
    /**
     * Replaces the whole log by one block, with which the log begins from then on.
     *
     * @throws {LogGroupError} If its bytes are not a group.
     */
    async beginWith(bytes: Uint8Array, seal: BlockSeal): Promise<StoredBlock> {
      const { firstOffset, lastOffset, previousHash } = decodeGroup(bytes)
      const raw = { id: idOf(lastOffset), bytes, signature: encodeSeal(seal) }
      const start = { offset: firstOffset - 1, hash: previousHash }
      await untilDone((redis) => redis.replace(start, raw))
      return openBlock(raw)
    },
    /** The newest block; null: the log is empty. */
    async newest(): Promise<StoredBlock | null> {
      const raw = await untilDone((redis) => redis.newest())
      return raw === null ? null : openBlock(raw)
    },
    /** The blocks from the newest back, until the first one that is not newer than `recordTime`. */
    async newerThan(recordTime: Micros): Promise<readonly StoredBlock[]> {
      const blocks: StoredBlock[] = []
      for (let before: string | null = null; ; ) {
        const id: string | null = before
        const raws: RawGroup[] = await untilDone((redis) => redis.newestBefore(id, GROUPS_PER_READ))
        for (const raw of raws) {
          const block = openBlock(raw)
          if ((block.entries.at(-1)?.recordTime ?? 0) <= recordTime) return blocks
          blocks.push(block)
          before = raw.id
        }
        if (raws.length < GROUPS_PER_READ) return blocks
      }
    },
    /**
     * Resolves with the group, as followers receive it, when it is in the stream. Waits for a Redis that is down or full.
     *
     * @throws {LogFencedError} If the stream has another group there: another process has written the log.
     * @throws The signal's reason.
     */
    append: (
      { firstOffset, lastOffset, bytes }: Omit<StreamGroup, 'signature'>,
      seal: BlockSeal,
    ): Promise<StreamGroup> =>
      untilDone(async (redis) => {
        const group = { firstOffset, lastOffset, bytes, signature: encodeSeal(seal) }
        const afterOffset = firstOffset - 1
        if (await redis.append(group, afterOffset)) return group
        // The answer to an earlier try may have been lost.
        const newest = await redis.newest()
        if (newest !== null && toHex(sha256(newest.bytes)) === toHex(sha256(bytes))) return group
        throw new LogFencedError(
          `the log does not end at ${afterOffset}, where this process left it, but at ${newest === null ? 0 : lastOffsetOf(newest)}`,
        )
      }),
    [Symbol.dispose]: () => connection?.close(),
  }
}

export type BlockStore = ReturnType<typeof createBlockStore>

function encodeSeal({ height, appHash }: BlockSeal): Uint8Array {
  return concatBytes([u64(height), fromHex(appHash)])
}

/** @throws {LogGroupError} `malformed`. */
function openBlock({ bytes, signature: seal }: RawGroup): StoredBlock {
  const group = decodeGroup(bytes)
  if (seal.byteLength !== SEAL_BYTES)
    throw new LogGroupError('malformed', `the group at ${group.firstOffset} has no seal of a block`)
  const height = Number(new DataView(seal.buffer, seal.byteOffset).getBigUint64(0))
  const appHash = toHex(seal.subarray(HEIGHT_BYTES))
  return { ...group, bytes, signature: seal, hash: toHex(sha256(bytes)), height, appHash }
}
