import { concatBytes } from '@quorumscan/verifier'

/**
 * Splits a stream that was cut anywhere into its frames. Holds one frame at most: `frameBytesOf` bounds it.
 *
 * @param frameBytesOf - Returns the length of the first frame, header included. If the bytes are too few to contain the
 *   length, it returns how many bytes are needed before the next call.
 */
export function splitFrames(frameBytesOf: (bytes: Uint8Array) => number) {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let neededBytes = 1
  return {
    /** Bytes of a frame that is not complete yet. */
    heldBytes: () => heldBytes,
    /**
     * The frames that these bytes complete, each with its length in front, as views of the input.
     *
     * @throws What `frameBytesOf` throws, after the frames before it.
     */
    *add(piece: Uint8Array): Generator<Uint8Array> {
      held.push(piece)
      heldBytes += piece.byteLength
      // Many small pieces are put together once, not each time.
      if (heldBytes < neededBytes) return
      let rest = held.length === 1 ? piece : concatBytes(held)
      for (;;) {
        neededBytes = frameBytesOf(rest)
        if (rest.byteLength < neededBytes) break
        const frame = rest.subarray(0, neededBytes)
        rest = rest.subarray(neededBytes)
        yield frame
      }
      held = [rest]
      heldBytes = rest.byteLength
    },
  }
}
