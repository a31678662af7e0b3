/** A body as it comes in, of an answer or a request, bounded in bytes and in pieces. */
import { concatBytes } from '@quorumscan/verifier'

/** However small they are: the last of every packet, of every buffer on the way. */
const PIECES_FREE = 64
/** Of all further ones on average: below the smallest packets of slow links, far above one byte. */
const PIECE_BYTES_MIN = 256

/** Where it is known how long the body will be, pieces are copied as they come, and not kept beside the whole. */
export function createBodyPieces(bytesMax: number, lengthSaid: number | null = null) {
  const pieces: Uint8Array[] = []
  let whole: Uint8Array<ArrayBuffer> | null = null
  let pieceCount = 0
  let byteCount = 0
  return {
    /** @throws {RangeError} If the body is too large, or comes in pieces that are too small. */
    add(piece: Uint8Array): void {
      const start = byteCount
      byteCount += piece.byteLength
      if (byteCount > Math.min(bytesMax, lengthSaid ?? bytesMax))
        throw new RangeError(`a body of more than ${bytesMax} bytes, or than it was said to have`)
      pieceCount++
      // What each piece costs us, in time and memory, costs its sender nothing.
      if ((pieceCount - PIECES_FREE) * PIECE_BYTES_MIN > byteCount)
        throw new RangeError('a body in pieces that are too small')
      if (lengthSaid === null) pieces.push(piece)
      else {
        whole ??= new Uint8Array(lengthSaid)
        whole.set(piece, start)
      }
    },
    /** All of it, as plain bytes: a Buffer's `slice` would not copy. */
    bytes: (): Uint8Array<ArrayBuffer> => whole?.subarray(0, byteCount) ?? concatBytes(pieces),
  }
}
