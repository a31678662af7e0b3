/** Collects the pieces of a body, of an answer or a request, bounded in bytes and in number. */
import { concatBytes } from '@quorumscan/verifier'

/** These may be of any size, such as the last piece of a packet or buffer. */
const PIECES_FREE = 64
/** Average size of all further pieces: below the smallest packets of slow links, far above one byte. */
const PIECE_BYTES_MIN = 256

/** An answer or a request has more bytes than its reader accepts, decompressed, or too many pieces. */
export class BodyTooLargeError extends RangeError {}

/** If the length is known, pieces are copied into one buffer as they arrive. */
export function createBodyPieces(bytesMax: number, lengthDeclared: number | null = null) {
  const pieces: Uint8Array[] = []
  let whole: Uint8Array<ArrayBuffer> | null = null
  let pieceCount = 0
  let byteCount = 0
  return {
    /** @throws {BodyTooLargeError} If the body is too large, or comes in pieces that are too small. */
    add(piece: Uint8Array): void {
      const start = byteCount
      byteCount += piece.byteLength
      if (byteCount > Math.min(bytesMax, lengthDeclared ?? bytesMax))
        throw new BodyTooLargeError(`a body of more than ${bytesMax} bytes`)
      pieceCount++
      // Each piece costs time and memory here, and nothing at its sender.
      if ((pieceCount - PIECES_FREE) * PIECE_BYTES_MIN > byteCount)
        throw new BodyTooLargeError('a body in too small pieces')
      if (lengthDeclared === null) pieces.push(piece)
      else {
        whole ??= new Uint8Array(lengthDeclared)
        whole.set(piece, start)
      }
    },
    /** All of it, as plain bytes: a Buffer's `slice` would not copy. */
    bytes: (): Uint8Array<ArrayBuffer> => whole?.subarray(0, byteCount) ?? concatBytes(pieces),
  }
}
