/**
 * The snapshots of a process: a member signs its own, keeps them, and gathers what others signed of the same; whoever
 * needs one takes the newest that f + 1 members signed, from all who have it. (`SnapshotFiles` keeps them,
 * `SnapshotPeers` asks for them.)
 */
import { anySignal, type ClientTls, type Clock, toHex } from '@quorumscan/base'
import type { Logger, Metrics, Peer } from '@quorumscan/runtime'
import type { Genesis, HistoryPoint } from '@quorumscan/verifier'
import { type HeldSnapshot, openSnapshotFiles, type SnapshotFiles } from './snapshot-files.ts'
import {
  isVouchedFor,
  keyOfOffer,
  type Network,
  type SnapshotOffer,
  statementOf,
} from './snapshot-offer.ts'
import { createSnapshotPeers, type ListedSnapshot, type SnapshotPeers } from './snapshot-peers.ts'

/** Between rounds in which members are asked what they signed, while it is not all of them. */
const ROUND_MS = 5_000

/** An implementation of the port `Snapshots` of `packages/ledger`, with what a node shows of its own. */
export type SnapshotStore = AsyncDisposable & {
  /** Absent for who is no member, and where there is no directory. */
  take?(point: HistoryPoint, content: AsyncIterable<Uint8Array>): Promise<void>
  find(behind: number, signal: AbortSignal): Promise<FoundSnapshot | null>
  /** Own ones, newest first. */
  held(): readonly HeldSnapshot[]
  /** null: there is no such piece. */
  piece(offset: number, index: number): Promise<Uint8Array | null>
}

type FoundSnapshot = {
  readonly point: HistoryPoint
  readonly content: AsyncIterable<Uint8Array>
}

export async function createSnapshotStore(options: {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Member whose scan key the process has, and where it keeps its snapshots; null: it keeps none. */
  readonly own: {
    readonly name: string
    sign(statement: Uint8Array): Uint8Array
    readonly directory: string
  } | null
  readonly peers: readonly Peer[]
  readonly peerTokenByOrigin?: ReadonlyMap<string, string>
  /** Where addresses are https: what vouches for them. */
  readonly trust?: ClientTls | null
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}): Promise<SnapshotStore> {
  const { genesis, genesisHash, own, logger } = options
  const network: Network = { genesis, genesisHash }
  const peers = createSnapshotPeers({
    ...options,
    network,
    onProblem: (error, { name }) =>
      logger.debug({ err: error, node: name }, 'a snapshot cannot be had'),
  })
  const files = own === null ? null : await openSnapshotFiles(own.directory, network)
  const closing = new AbortController()
  const { signal } = closing

  options.metrics.sampled('gauge', {
    name: 'snapshot_offset',
    help: 'Offset of the newest own snapshot of the state; 0 for none.',
    read: () => [[[], files?.held()[0]?.offset ?? 0]],
  })

  const gathering =
    files === null ? Promise.resolve() : gather(files, { ...options, network, peers, signal })

  return {
    ...(own === null || files === null
      ? {}
      : {
          async take(point, content) {
            // What is signed for an offset is said once.
            if (files.held().some(({ offset }) => offset >= point.offset)) return
            const written = await files.write(point, content)
            const signature = toHex(own.sign(statementOf(written, network)))
            await files.keep({ ...written, signatures: new Map([[own.name, signature]]) })
            const { offset, manifest } = written
            logger.info(
              { offset, bytes: manifest.contentBytes },
              'a snapshot of the state was taken',
            )
          },
        }),
    async find(behind, asking) {
      const any = anySignal([asking, signal])
      const found = (await peers.list(any)).find(
        (one) => one.offset > behind && isVouchedFor(one, network),
      )
      const held = files?.held().find((one) => isVouchedFor(one, network))
      if (files !== null && held !== undefined && held.offset > behind) {
        if ((found?.offset ?? 0) <= held.offset)
          return { point: pointOf(held), content: contentOf(held, files) }
      }
      if (found === undefined) return null
      const nodes = found.holders.map(({ name }) => name)
      logger.info({ offset: found.offset, nodes }, 'the state is taken from a snapshot')
      return { point: pointOf(found), content: peers.content(found, any) }
    },
    held: () => files?.held() ?? [],
    piece: async (offset, index) => (await files?.piece(offset, index)) ?? null,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the process is stopping'))
      await gathering
      await peers[Symbol.asyncDispose]()
    },
  }
}

function pointOf({ offset, recordTime, historyHash }: SnapshotOffer): HistoryPoint {
  return { offset, recordTime, historyHash }
}

async function* contentOf({ offset, manifest }: HeldSnapshot, files: SnapshotFiles) {
  for (let index = 0; index < manifest.pieceHashes.length; index++) {
    const piece = await files.piece(offset, index)
    if (piece === null) throw new Error(`the own snapshot of offset ${offset} is damaged`)
    yield piece
  }
}

/** Adds what others signed of what is held, and drops what f + 1 others contradict. */
async function gather(
  files: SnapshotFiles,
  context: {
    readonly network: Network
    readonly peers: SnapshotPeers
    readonly clock: Clock
    readonly logger: Logger
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { network, peers, clock, logger, signal } = context
  const memberCount = network.genesis.nodes.length
  while (!signal.aborted) {
    try {
      await clock.delay(ROUND_MS, signal)
      if (files.held().every(({ signatures }) => signatures.size === memberCount)) continue
      const listed = await peers.list(signal)
      for (const own of files.held()) await add(own, listed)
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'signatures of snapshots cannot be kept')
    }
  }

  async function add(own: HeldSnapshot, listed: readonly ListedSnapshot[]): Promise<void> {
    const same = listed.find((one) => keyOfOffer(one) === keyOfOffer(own))
    const signatures = new Map([...own.signatures, ...(same?.signatures ?? [])])
    if (signatures.size > own.signatures.size) await files.keep({ ...own, signatures })
    const isContradicted = listed.some(
      (one) => one.offset === own.offset && one !== same && isVouchedFor(one, network),
    )
    if (!isContradicted) return
    logger.fatal(
      { offset: own.offset },
      'others signed another snapshot: what is stored is not what the log made',
    )
    await files.drop(own.offset)
  }
}
