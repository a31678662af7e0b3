/** The routes by which a node serves its snapshots to a node that starts without a state. */
import type { scanRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import type { Handlers } from '@quorumscan/server'
import { encodeManifest, toWireOffer } from './snapshot-offer.ts'
import type { SnapshotStore } from './snapshots.ts'

const BYTES = { 'content-type': 'application/octet-stream' }

export function createSnapshotHandlers({ snapshots }: { readonly snapshots: SnapshotStore }) {
  const notFound = (offset: number) =>
    new ScanError('SNAPSHOT_NOT_FOUND', `no such piece of a snapshot of offset ${offset}`)
  return {
    listSnapshots: async () => ({ body: { snapshots: snapshots.stored().map(toWireOffer) } }),
    async getSnapshotManifest({ params: { offset } }) {
      const found = snapshots.stored().find((one) => one.offset === offset)
      if (found === undefined) throw notFound(offset)
      return { headers: BYTES, body: encodeManifest(found.manifest) }
    },
    async getSnapshotPiece({ params: { offset, index } }) {
      const piece = await snapshots.piece(offset, index)
      if (piece === null) throw notFound(offset)
      return { headers: BYTES, body: piece }
    },
  } satisfies Partial<Handlers<typeof scanRoutes>>
}
