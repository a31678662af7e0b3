/** Snapshots of the state, as nodes list them. */
import { Type } from 'typebox'
import { about, component, part } from './members.ts'
import { Hex32, LedgerOffset } from './scalars.ts'

const Snapshot = component('Snapshot', 'A snapshot of the state, and who vouches for it.', {
  offset: about(LedgerOffset, 'Where the ledger was in this state.'),
  record_time: Type.Integer({ minimum: 0, description: 'Microseconds since the epoch, there.' }),
  history_hash: about(Hex32, 'The history hash at the offset.'),
  content_hash: about(Hex32, 'SHA-256 of the manifest.'),
  signatures: Type.Array(
    part('What one member signed.', {
      name: Type.String({ description: 'Of the member in the genesis.' }),
      signature: Type.String({ description: 'Of its scan key, hex.' }),
    }),
    { description: 'That of the answering node, and those that it knows of others.' },
  ),
})

export const SnapshotsAnswer = component('SnapshotsAnswer', 'The snapshots that a node has.', {
  snapshots: Type.Array(Snapshot, { maxItems: 3, description: 'The newest first.' }),
})
