/**
 * The snapshots of a process. A member signs and stores its own snapshots, and gathers the signatures of other members.
 * A process that needs a snapshot loads the newest one that f + 1 members signed, from all members that have it.
 * `SnapshotFiles` stores snapshots, `createSnapshotPeers` requests those of others.
 */

import { type Clock, linkedController, toHex } from '@quorumscan/base'
import type { PeerSnapshot, Snapshots } from '@quorumscan/ledger'
import { type Logger, type Metrics, type Peer, type PeerClient, repeat } from '@quorumscan/runtime'
import type { HistoryPoint } from '@quorumscan/verifier'
import { memberSetOf } from '@quorumscan/verifier'
import { openSnapshotFiles, type SnapshotFiles, type StoredSnapshot } from './snapshot-files.ts'
import {
  isConfirmed,
  keyOfOffer,
  type Network,
  type SnapshotOffer,
  statementOf,
} from './snapshot-offer.ts'
import { createSnapshotPeers, type ListedSnapshot } from './snapshot-peers.ts'

/** Between rounds in which the store requests the signatures of other members, until all have signed. */
const POLL_MS = 5_000

/** A name that declarations of other packages can refer to. */
export interface SnapshotStore extends Awaited<ReturnType<typeof createSnapshotStore>> {}

/** Implements the port `Snapshots`, and serves the snapshots that this node made. */
export async function createSnapshotStore(
  options: Network & {
    /** The member whose scan key the process has, and its directory of snapshots; null: it stores none. */
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
  },
) {
  const { own, clock, logger } = options
  const network: Network = options
  const peers = createSnapshotPeers({
    ...options,
    network,
    onProblem: (err, { name }) => logger.debug({ err, node: name }, 'a snapshot cannot be read'),
  })
  const files = own && (await openSnapshotFiles(own.directory, network))
  const stored = (): readonly StoredSnapshot[] => files?.stored() ?? []

  options.metrics.sampled('gauge', {
    name: 'snapshot_offset',
    help: 'Offset of the newest snapshot of the state that this node made; 0 for none.',
    read: () => [[[], stored()[0]?.offset ?? 0]],
  })

  /** Adds the signatures of other members to the snapshots of this node. Drops a snapshot if f + 1 members signed another one. */
  const gather = async (own: SnapshotFiles, ending: AbortSignal): Promise<void> => {
    const memberCount = memberSetOf(network.genesis).n
    if (own.stored().every(({ signatures }) => signatures.size === memberCount)) return
    const listed = await peers.list(ending)
    for (const snapshot of own.stored()) {
      const same = listed.find((one) => keyOfOffer(one) === keyOfOffer(snapshot))
      const signatures = new Map([...snapshot.signatures, ...(same?.signatures ?? [])])
      if (signatures.size > snapshot.signatures.size) await own.store({ ...snapshot, signatures })
      const { offset } = snapshot
      const isOther = listed.some(
        (one) => one.offset === offset && one !== same && isConfirmed(one, network),
      )
      if (!isOther) continue
      logger.fatal({ offset }, 'other members signed another snapshot: wipe this replica')
      await own.drop(offset)
    }
  }

  const closing = new AbortController()
  const { signal } = closing
  const gathering =
    files &&
    repeat((ending) => gather(files, ending), {
      clock,
      everyMs: POLL_MS,
      waitsFirst: true,
      onError: (err) => logger.warn({ err }, 'signatures of snapshots cannot be stored'),
    })

  const take: Snapshots['take'] = async (point, content) => {
    // A member signs at most one snapshot of an offset.
    if (own === null || files === null || stored().some(({ offset }) => offset >= point.offset))
      return
    const written = await files.write(point, content)
    const signature = toHex(own.sign(statementOf(written, network)))
    await files.store({ ...written, signatures: new Map([[own.name, signature]]) })
    const { offset, manifest } = written
    logger.info({ offset, bytes: manifest.contentBytes }, 'a snapshot of the state was taken')
  }
  async function* contentOf(one: ListedSnapshot, asking: AbortSignal) {
    const ending = linkedController(asking, signal)
    try {
      yield* peers.content(one, ending.signal)
    } finally {
      ending.abort()
    }
  }
  return {
    ...(own !== null && { take }),
    async find(after: number, asking: AbortSignal): Promise<PeerSnapshot | null> {
      const asked = linkedController(asking, signal)
      const isUsable = (one: SnapshotOffer) => one.offset > after && isConfirmed(one, network)
      const listed = await peers
        .list(asked.signal, (offers) => offers.some(isUsable))
        .finally(() => asked.abort())
      const found = listed.find(isUsable)
      const usable = stored().find(isUsable)
      if (files !== null && usable !== undefined && (found?.offset ?? 0) <= usable.offset)
        return { point: pointOf(usable), content: files.content(usable) }
      if (found === undefined) return null
      const nodes = found.holders.map(({ name }) => name)
      logger.info({ offset: found.offset, nodes }, 'loading the state from a snapshot')
      return { point: pointOf(found), content: contentOf(found, asking) }
    },
    /** Snapshots of this node, newest first. */
    stored,
    /** Null where the piece does not exist. */
    piece: async (offset: number, index: number) => (await files?.piece(offset, index)) ?? null,
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort(new Error('the process is stopping'))
      await gathering?.[Symbol.asyncDispose]()
    },
  }
}

function pointOf({ offset, recordTime, historyHash }: HistoryPoint): HistoryPoint {
  return { offset, recordTime, historyHash }
}
