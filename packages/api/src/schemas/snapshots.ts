/** Snapshots of the state, as nodes list them. */
import { Type } from 'typebox'
import * as m from './members.ts'
import { Hex32, LedgerOffset } from './scalars.ts'

const Snapshot = m.component('Snapshot', 'A snapshot of the state, and who vouches for it.', {
  offset: m.about(LedgerOffset, 'Where the ledger was in this state.'),
  record_time: m.integer(0, 'Microseconds since the epoch, there.'),
  history_hash: m.about(Hex32, 'The history hash at the offset.'),
  content_hash: m.about(Hex32, 'SHA-256 of the manifest.'),
  signatures: m.array(
    'That of the answering node, and those that it knows of others.',
    m.part('What one member signed.', {
      name: m.string('Of the member in the genesis.'),
      signature: m.string('Of its scan key, hex.'),
    }),
  ),
})

export const SnapshotsAnswer = m.component('SnapshotsAnswer', 'The snapshots that a node has.', {
  snapshots: Type.Array(Snapshot, { maxItems: 3, description: 'The newest first.' }),
})
