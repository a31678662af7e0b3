/**
 * State sync: the snapshots that a member gives to one that lacks older blocks. The application needs only the end of the
 * log to continue, and that is in one group. So a snapshot of a block is the group that it made, as one piece. Its hash is
 * the app hash, which the engine has verified before it offers the snapshot. Only a block with entries can be a snapshot,
 * as an empty block leaves the app hash unchanged. Pure.
 */
import { fromHex, sha256, toHex } from '@quorumscan/base'
import type { StoredBlock } from '@quorumscan/log'
import {
  ResponseOfferSnapshot_Result as Offered,
  type RequestOfferSnapshot,
  type ResponseListSnapshots,
} from 'cosmjs-types/tendermint/abci/types'

/** A sync anchor: a block with entries, with which a log can start. Its app hash is the hash of its group. */
export type AnchorBlock = Pick<StoredBlock, 'height' | 'appHash'>

const FORMAT = 1

export function listedSnapshots(anchors: readonly AnchorBlock[]): ResponseListSnapshots {
  return {
    snapshots: anchors.map(({ height, appHash }) => ({
      height: BigInt(height),
      format: FORMAT,
      chunks: 1,
      hash: fromHex(appHash),
      metadata: new Uint8Array(0),
    })),
  }
}

/**
 * The answer to a snapshot that the engine offers. The height must be the one that enough members named: a later one, after
 * empty blocks, has the same app hash.
 *
 * @param wanted - Null: the member needs no snapshot.
 */
export function answerOffer(
  { snapshot, appHash }: RequestOfferSnapshot,
  wanted: Pick<AnchorBlock, 'height'> | null,
): Offered {
  if (snapshot === undefined || wanted === null) return Offered.REJECT
  if (snapshot.format !== FORMAT) return Offered.REJECT_FORMAT
  const isIt =
    Number(snapshot.height) === wanted.height &&
    snapshot.chunks === 1 &&
    toHex(snapshot.hash) === toHex(appHash)
  return isIt ? Offered.ACCEPT : Offered.REJECT
}

/** Whether this is the group of the snapshot that was accepted. */
export function isGroupOf(chunk: Uint8Array, { appHash }: AnchorBlock): boolean {
  return toHex(sha256(chunk)) === appHash
}
