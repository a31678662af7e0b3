/**
 * One member of a network that is ordered by CometBFT: the application of its engine, with the log that it makes in
 * the member's own Redis. The rest of the process uses it like the writer of a single synchronizer.
 */

import { openAll, type Random, sha256Hex, withResolvers } from '@quorumscan/base'
import { createBlockStore, type StoredBlock, type StreamGroup } from '@quorumscan/log'
import type { Micros } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import type { Logger } from '@quorumscan/runtime'
import { EVIDENCE_AGE, NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { serveAbci } from './abci-server.ts'
import { type Application, type ApplicationOptions, createApplication } from './application.ts'
import type { AnchorBlock } from './block-snapshots.ts'
import { type BlockGroup, genesisTip, type Tip } from './blocks.ts'
import { signBundle } from './bundles.ts'
import { type EngineInput, nodeIdOf } from './engine-files.ts'
import type { EngineRpc } from './engine-rpc.ts'
import { createMempoolPolicy, type MempoolOptions } from './mempool-policy.ts'
import { createOrderedHashes } from './ordered-hashes.ts'
import { createRetention } from './retention.ts'
import { createSubmission } from './submission.ts'

export type MemberOptions = Pick<
  ApplicationOptions,
  'blockVersionAt' | 'onMisbehavior' | 'wantedHeight'
> &
  Pick<EngineInput, 'genesis' | 'ordering' | 'nodeKey' | 'sockets'> &
  Omit<MempoolOptions, 'ownId' | 'isOrdered' | 'recordTime'> & {
    /** The member's own. */
    readonly redis: RedisAddress
    readonly rpc: EngineRpc
    /** Called with each group that is in the log. */
    readonly onGroup: (group: StreamGroup) => void
    readonly random: Random
    readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>
  }

/**
 * Reads where the log ends, and listens for the engine, which repeats whatever is missing.
 *
 * @throws {LogGroupError} If the newest group is not a block of this member.
 */
export async function createMember(options: MemberOptions) {
  const { genesis, genesisHash, ordering, nodeKey, redis, rpc } = options
  const { checkEntry, isPeer, clock, random, logger } = options
  const closing = new AbortController()
  const ordered = createOrderedHashes()
  const store = createBlockStore({
    redis,
    clock,
    random,
    signal: closing.signal,
    onProblem: (error) => logger.warn({ err: error }, 'the log cannot be reached'),
  })
  return openAll(async (resources) => {
    resources.onClose(() => {
      closing.abort()
      store[Symbol.dispose]()
    })
    const newest = await store.newest()
    if (newest !== null) options.onGroup(newest)
    const tip = newest === null ? genesisTip({ ...genesis, hash: genesisHash }) : tipAfter(newest)
    for (const block of (await store.newerThan(tip.recordTime - NOT_AFTER_MICROS_MAX)).toReversed())
      for (const { bytes, recordTime } of block.entries) ordered.add(sha256Hex(bytes), recordTime)

    const { promise: failed, reject: fail } = withResolvers<never>()
    failed.catch(() => {}) // The caller of `failed` gets the reason.

    const ownId = nodeIdOf(nodeKey.publicKey)
    const recordTime = () => application.tip().recordTime
    const isOrdered = ordered.has
    const mempool = createMempoolPolicy({
      genesisHash,
      ownId,
      isPeer,
      checkEntry,
      isOrdered,
      recordTime,
      charge: options.charge,
      chargeSender: options.chargeSender,
      assertRoom: options.assertRoom,
      clock,
    })
    /** The greatest `notAfter` of entries that were admitted. */
    const lastOf = (entries: readonly Uint8Array[]): Micros =>
      Math.max(...entries.map(checkEntry).map((one) => (one.kind === 'entry' ? one.notAfter : 0)))
    const bundle = (entries: readonly Uint8Array[]) =>
      signBundle(entries, { notAfter: lastOf(entries), genesisHash, key: nodeKey })
    const { admit } = mempool
    const submission = createSubmission({ rpc, isOrdered, admit, bundle, clock })

    const publish = async (group: BlockGroup, after: Tip): Promise<void> => {
      const stored = await store.append(group, after).catch((error: unknown) => {
        if (!closing.signal.aborted) fail(error)
        throw error
      })
      for (const { bytes, recordTime } of group.entries) {
        const entryHash = sha256Hex(bytes)
        ordered.add(entryHash, recordTime)
        submission.ordered(entryHash)
      }
      options.onGroup(stored)
    }

    const startLogFrom = async (group: Uint8Array, anchor: AnchorBlock): Promise<Tip> => {
      const stored = await store.beginWith(group, anchor)
      options.onGroup(stored)
      return tipAfter(stored)
    }
    const { evidenceAge = EVIDENCE_AGE } = ordering
    const ownTip = () => application.tip()
    const retention = createRetention({ store, redis, rpc, evidenceAge, tip: ownTip })
    const application: Application = createApplication({
      genesisHash,
      validators: ordering.validators,
      limits: { bytesMax: ordering.blockBytesMax, contractsMax: ordering.blockContractsMax },
      blockVersionAt: options.blockVersionAt,
      tip,
      checkEntry,
      isOrdered,
      mempool,
      isPeer,
      onMisbehavior: options.onMisbehavior,
      publish,
      retainHeight: retention.height,
      anchors: retention.anchors,
      groupOf: retention.groupOf,
      wantedHeight: options.wantedHeight,
      startLogFrom,
    })
    resources.opened(await serveAbci({ socketPath: options.sockets.abci, application, logger }))
    return {
      /** Resolves when the entry is in the log. @throws {ScanError} As `submit` of `submission.ts`. */
      append: submission.submit,
      /** Newest entry that followers can have. */
      head: ownTip,
      lastCommit: () => application.lastCommit(),
      /** The same as of the application. */
      voteHeightOf: (address: string) => application.voteHeightOf(address),
      retention,
      /** Rejects when this process must not continue: the log is another one than it knows. */
      failed,
    }
  })
}

export type Member = Awaited<ReturnType<typeof createMember>>

function tipAfter({ lastOffset, hash, height, appHash, entries }: StoredBlock): Tip {
  const recordTime = entries.at(-1)?.recordTime ?? 0
  return { height, offset: lastOffset, recordTime, hash, appHash }
}
