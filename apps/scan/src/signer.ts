/**
 * What the node puts its name to (D-41): statements with the scan key. They hold nothing but what follows
 * from the log, and Ed25519 is deterministic: a statement that is signed again, after a restart or a step
 * back, has the same bytes (Rule 3), so an honest node never gives evidence against itself.
 */
import { type KeyPair, sha256Hex, toHex } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalRequest,
  encodeAnswerStatement,
} from '@quorumscan/consensus'
import type { Pinned } from '@quorumscan/replica'

/** One answer, before it is put into the reply or a batch. */
export type Answer = { readonly request: CanonicalRequest; readonly bytes: Uint8Array }

export type Signer = {
  /** Signature of the answer at that place in history, hex. */
  answer(answer: Answer, at: Pinned): string
}

export function createSigner(identity: {
  readonly genesisHash: string
  readonly scanKey: KeyPair
}): Signer {
  const { genesisHash, scanKey } = identity
  return {
    answer: ({ request, bytes }, at) =>
      toHex(
        scanKey.sign(
          encodeAnswerStatement({
            genesisHash,
            ...placeOf(at),
            requestHash: sha256Hex(canonicalRequest(request)),
            answerHash: sha256Hex(bytes),
          }),
        ),
      ),
  }
}

function placeOf(at: Pinned): Pick<Pinned, 'offset' | 'recordTime' | 'historyHash'> {
  return { offset: at.offset, recordTime: at.recordTime, historyHash: at.historyHash }
}
