/**
 * What a member keeps: the log after the newest snapshot of the state that a quorum has, the blocks of its engine that may
 * still be evidence, and the groups of sync anchors (`block-snapshots.ts`).
 */

import { type BlockStore, type LogStart, trimLog } from '@quorumscan/log'
import type { LogPosition } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import type { EvidenceAge } from '@quorumscan/verifier'
import type { AnchorBlock } from './block-snapshots.ts'
import { microsOf, type Tip } from './blocks.ts'
import { readBlockHash, readBlockTime, readStatus } from './engine-answers.ts'
import type { EngineRpc } from './engine-rpc.ts'
import { timestampOf } from './votes.ts'

/** The newest, and the one before, which a member may be fetching. */
const ANCHORS_MAX = 2
/** The engine proves the result of a block by the next one, and continues with the one after that. */
const BLOCKS_AFTER_ANCHOR = 2

/** A sync anchor that this member names to others. */
export type PublishedAnchor = AnchorBlock & {
  /** The hash of the block, as engines have it; hex. */
  readonly blockHash: string
}

export function createRetention(options: {
  readonly store: Pick<BlockStore, 'agreedAt' | 'blockAt'>
  readonly redis: RedisAddress
  readonly rpc: EngineRpc
  readonly evidenceAge: EvidenceAge
  readonly tip: () => Tip
}) {
  const { store, redis, rpc, evidenceAge, tip } = options
  let anchors: readonly (PublishedAnchor & { readonly lastOffset: number })[] = []
  let height = 0

  const addAnchor = async (offset: number): Promise<void> => {
    const block = await store.agreedAt(offset)
    if (block === null || block.height + BLOCKS_AFTER_ANCHOR > tip().height) return
    if (anchors.some((one) => one.height === block.height)) return
    const { appHash, lastOffset } = block
    const commit = await rpc.call('commit', { height: String(block.height) })
    const fresh = { height: block.height, appHash, lastOffset, blockHash: readBlockHash(commit) }
    anchors = [fresh, ...anchors].toSorted((a, b) => b.height - a.height).slice(0, ANCHORS_MAX)
  }
  const advance = async (firstOffset: number): Promise<void> => {
    const first = await store.blockAt(firstOffset)
    if (first === null) return
    const { earliest, latest, latestTime } = readStatus(await rpc.call('status'))
    const nowMicros = microsOf(timestampOf(latestTime))
    height = await firstRetainedHeight({
      from: Math.max(height, earliest),
      // A vote is evidence until it is older than both.
      to: Math.min(first.height, latest - evidenceAge.blocks),
      async isExpired(at) {
        const answer = await rpc.call('header', { height: String(at) })
        return nowMicros - microsOf(timestampOf(readBlockTime(answer))) > evidenceAge.micros
      },
    })
  }
  return {
    /** The newest first. */
    anchors: (): readonly PublishedAnchor[] => anchors,
    /** The group that the block of an anchor made; null: the block is not an anchor. */
    async groupOf(height: number): Promise<Uint8Array | null> {
      const block = anchors.find((one) => one.height === height)
      return block === undefined ? null : ((await store.blockAt(block.lastOffset))?.bytes ?? null)
    },
    /** The height below which the engine may delete its blocks; 0: it keeps all. */
    height: () => height,
    /**
     * As `OrderedLog.trim`; the sync anchor from which others can reach `before.offset` stays.
     *
     * @throws {EngineUnavailableError} @throws {EngineRefusedError} @throws {LogUnavailableError} Then nothing is deleted.
     */
    async trim(before: LogPosition, signal: AbortSignal): Promise<LogStart | null> {
      if (before.offset > 0) await addAnchor(before.offset)
      const oldest = anchors.at(-1)?.lastOffset ?? 0
      const bound = { ...before, offset: Math.min(before.offset, oldest) }
      const start = await trimLog({ redis, before: bound, signal })
      if (start !== null) await advance(start.offset + 1)
      return start
    },
  }
}

/**
 * The first height in [from, to] that must be kept; `to` if none. Expired heights come before kept ones. The answer is
 * nearly always near `from`.
 */
export async function firstRetainedHeight(options: {
  readonly from: number
  readonly to: number
  readonly isExpired: (height: number) => Promise<boolean>
}): Promise<number> {
  const { to, isExpired } = options
  let { from } = options
  let step = 1
  let end = to
  // All before `from` are expired. `end` is not expired, or is `to`.
  while (from < end) {
    const at = Math.min(from + step - 1, Math.floor((from + end - 1) / 2))
    if (await isExpired(at)) {
      from = at + 1
      step *= 2
    } else end = at
  }
  return from
}
