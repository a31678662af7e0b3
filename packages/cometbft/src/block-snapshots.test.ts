import { fromHex, toHex, utf8 } from '@quorumscan/base'
import {
  ResponseOfferSnapshot_Result as Offered,
  RequestOfferSnapshot,
  Snapshot,
} from 'cosmjs-types/tendermint/abci/types'
import { expect, it } from 'vitest'
import { answerOffer, isGroupOf, listedSnapshots } from './block-snapshots.ts'
import { genesisTip, orderBlock } from './blocks.ts'

const appHash = 'cd'.repeat(32)
const block = { height: 7, appHash }

function offer(changes: Partial<Snapshot>) {
  const [listed] = listedSnapshots([block]).snapshots
  return RequestOfferSnapshot.fromPartial({
    snapshot: Snapshot.fromPartial({ ...listed, ...changes }),
    appHash: fromHex(appHash),
  })
}

it.each<[string, Partial<Snapshot>, number | null, Offered]>([
  ['that is listed, and wanted', {}, 7, Offered.ACCEPT],
  ['that this member does not need', {}, null, Offered.REJECT],
  ['of a later block, with the same app hash', { height: 8n }, 7, Offered.REJECT],
  ['of another state', { hash: new Uint8Array(32) }, 7, Offered.REJECT],
  ['in more pieces', { chunks: 2 }, 7, Offered.REJECT],
  ['in another form', { format: 2 }, 7, Offered.REJECT_FORMAT],
])('the offer of a snapshot %s gets the documented answer', (_, changes, height, expected) => {
  expect(answerOffer(offer(changes), height === null ? null : { height })).toBe(expected)
})

it('the app hash of a block matches no other group', () => {
  const start = genesisTip({ hash: 'ab'.repeat(32), recordTime: 1 })
  const { group, tip } = orderBlock(start, { height: 1, timeMicros: 5, entries: [utf8('a')] })
  expect(isGroupOf(group.bytes, tip)).toBe(true)
  const changed = Uint8Array.from(group.bytes)
  changed[changed.length - 1] = 0
  expect([isGroupOf(changed, tip), toHex(changed) === toHex(group.bytes)]).toEqual([false, false])
})
