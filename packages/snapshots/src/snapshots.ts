/**
 * The snapshots of a process: a member signs its own, keeps them, and gathers what others signed of the same; whoever
 * needs one takes the newest that f + 1 members signed, from all who have it. (`SnapshotFiles` keeps them,
 * `SnapshotPeers` asks for them.)
 */
import { anySignal, type Clock, toHex } from '@quorumscan/base'
import type { OfferedSnapshot, Snapshots } from '@quorumscan/ledger'
import { type Logger, type Metrics, type Peer, type PeerClient, repeat } from '@quorumscan/runtime'
import type { Genesis, HistoryPoint } from '@quorumscan/verifier'
import { type HeldSnapshot, openSnapshotFiles, type SnapshotFiles } from './snapshot-files.ts'
import {
  isVouchedFor,
  keyOfOffer,
  type Network,
  type SnapshotOffer,
  statementOf,
} from './snapshot-offer.ts'
import { createSnapshotPeers, type SnapshotPeers } from './snapshot-peers.ts'

/** Between rounds in which members are asked what they signed, while it is not all of them. */
const ROUND_MS = 5_000

/** A name that declarations of other packages can refer to. */
export interface SnapshotStore extends Awaited<ReturnType<typeof createSnapshotStore>> {}

/** Implements the port `Snapshots`, and shows what a node has of its own. */
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
  readonly client: PeerClient
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}) {
  const { genesis, genesisHash, own, clock, logger } = options
  const network: Network = { genesis, genesisHash }
  const peers = createSnapshotPeers({
    ...options,
    network,
    onProblem: (err, { name }) => logger.debug({ err, node: name }, 'a snapshot cannot be had'),
  })
  const files = own && (await openSnapshotFiles(own.directory, network))
  const held = (): readonly HeldSnapshot[] => files?.held() ?? []

  options.metrics.sampled('gauge', {
    name: 'snapshot_offset',
    help: 'Offset of the newest own snapshot of the state; 0 for none.',
    read: () => [[[], held()[0]?.offset ?? 0]],
  })

  const closing = new AbortController()
  const { signal } = closing
  const gathering =
    files &&
    repeat((ending) => gather(files, { network, peers, logger, signal: ending }), {
      clock,
      everyMs: ROUND_MS,
      waitsFirst: true,
      onError: (err) => logger.warn({ err }, 'signatures of snapshots cannot be kept'),
    })

  const take: Snapshots['take'] = async (point, content) => {
    // What is signed for an offset is said once.
    if (own === null || files === null || held().some(({ offset }) => offset >= point.offset))
      return
    const written = await files.write(point, content)
    const signature = toHex(own.sign(statementOf(written, network)))
    await files.keep({ ...written, signatures: new Map([[own.name, signature]]) })
    const { offset, manifest } = written
    logger.info({ offset, bytes: manifest.contentBytes }, 'a snapshot of the state was taken')
  }
  return {
    ...(own !== null && { take }),
    async find(after: number, asking: AbortSignal): Promise<OfferedSnapshot | null> {
      const any = anySignal([asking, signal])
      const isUsable = (one: SnapshotOffer) => one.offset > after && isVouchedFor(one, network)
      const found = (await peers.list(any)).find(isUsable)
      const stored = held().find(isUsable)
      if (files !== null && stored !== undefined && (found?.offset ?? 0) <= stored.offset)
        return { point: pointOf(stored), content: contentOf(stored, files) }
      if (found === undefined) return null
      const nodes = found.holders.map(({ name }) => name)
      logger.info({ offset: found.offset, nodes }, 'the state is taken from a snapshot')
      return { point: pointOf(found), content: peers.content(found, any) }
    },
    /** Own ones, newest first. */
    held,
    /** null: there is no such piece. */
    piece: async (offset: number, index: number) => (await files?.piece(offset, index)) ?? null,
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new Error('the process is stopping'))
      await gathering?.[Symbol.asyncDispose]()
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
    readonly logger: Logger
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { network, peers, logger, signal } = context
  const memberCount = network.genesis.nodes.length
  if (files.held().every(({ signatures }) => signatures.size === memberCount)) return
  const listed = await peers.list(signal)
  for (const own of files.held()) {
    const same = listed.find((one) => keyOfOffer(one) === keyOfOffer(own))
    const signatures = new Map([...own.signatures, ...(same?.signatures ?? [])])
    if (signatures.size > own.signatures.size) await files.keep({ ...own, signatures })
    const isContradicted = listed.some(
      (one) => one.offset === own.offset && one !== same && isVouchedFor(one, network),
    )
    if (!isContradicted) continue
    logger.fatal(
      { offset: own.offset },
      'others signed another snapshot: what is stored is not what the log made',
    )
    await files.drop(own.offset)
  }
}
