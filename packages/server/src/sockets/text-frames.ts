/**
 * Text frames of a server (RFC 6455 §5.2), many in one buffer: a system call for tens of frames, and no object for each.
 * `ws` makes two buffers, a task and a callback for each frame, which cost streams a third of their time.
 */

/** A buffer ends with the frame that exceeds this; a client that does not take this in 30 s does not read. */
const BUFFER_BYTES = 128 * 1024
const FINAL_TEXT = 0x81
/** Payloads up to this size have their length in the second byte. */
const SHORT_BYTES_MAX = 125
/** Payloads up to this size have it in the next two bytes, longer ones in the next eight. */
const MIDDLE_BYTES_MAX = 65_535

/** Frames of the texts. Each buffer has whole frames, so that control frames can be sent between buffers. */
export function* textFrames(texts: readonly string[]): Generator<Buffer, void, undefined> {
  for (let first = 0; first < texts.length; ) {
    const sizes: number[] = []
    let bytes = 0
    while (bytes <= BUFFER_BYTES) {
      const text = texts[first + sizes.length]
      if (text === undefined) break
      const size = Buffer.byteLength(text)
      sizes.push(size)
      bytes += headerBytes(size) + size
    }
    const buffer = Buffer.allocUnsafeSlow(bytes)
    let position = 0
    for (const [index, size] of sizes.entries()) {
      position = writeHeader(buffer, position, size)
      const text = texts[first + index] ?? ''
      // ASCII, as nearly all are: copied instead of encoded.
      position += buffer.write(text, position, size === text.length ? 'latin1' : 'utf8')
    }
    yield buffer
    first += sizes.length
  }
}

function headerBytes(size: number): number {
  if (size <= SHORT_BYTES_MAX) return 2
  return size <= MIDDLE_BYTES_MAX ? 4 : 10
}

/** Returns where the payload begins. */
function writeHeader(buffer: Buffer, start: number, size: number): number {
  buffer[start] = FINAL_TEXT
  if (size <= SHORT_BYTES_MAX) return buffer.writeUInt8(size, start + 1)
  if (size <= MIDDLE_BYTES_MAX) {
    buffer[start + 1] = 126
    return buffer.writeUInt16BE(size, start + 2)
  }
  buffer[start + 1] = 127
  return buffer.writeBigUInt64BE(BigInt(size), start + 2)
}
