/** The snapshots of this node, for whoever starts anew. */
import type { scanRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import { encodeManifest, type Handlers, type SnapshotStore, toWireOffer } from '@quorumscan/http'

const BYTES = { 'content-type': 'application/octet-stream' }

export function createSnapshotHandlers({
  snapshots,
}: {
  readonly snapshots: SnapshotStore
}): Pick<
  Handlers<typeof scanRoutes>,
  'listSnapshots' | 'getSnapshotManifest' | 'getSnapshotPiece'
> {
  const notFound = (offset: number) =>
    new ScanError('SNAPSHOT_NOT_FOUND', `no such piece of a snapshot of offset ${offset}`)
  return {
    listSnapshots: async () => ({ body: { snapshots: snapshots.held().map(toWireOffer) } }),
    async getSnapshotManifest({ params: { offset } }) {
      const held = snapshots.held().find((one) => one.offset === offset)
      if (held === undefined) throw notFound(offset)
      return { headers: BYTES, body: encodeManifest(held.manifest) }
    },
    async getSnapshotPiece({ params: { offset, index } }) {
      const piece = await snapshots.piece(offset, index)
      if (piece === null) throw notFound(offset)
      return { headers: BYTES, body: piece }
    },
  }
}
