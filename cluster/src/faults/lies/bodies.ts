/** Bodies that are not answers, and that a reader must survive. */
import { Readable } from 'node:stream'
import type { Clock, Random } from '@quorumscan/base'

/** Far above any bound of a reader. */
const OVERSIZE_BYTES = 100 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const TRICKLE_INTERVAL_MS = 1000
/** At least as long as a small answer, so that the length does not reveal it. */
const GARBAGE_BYTES_MIN = 64

/** Begins like an answer and continues for 100 MB. */
export function oversizedBody(): Readable {
  const chunk = Buffer.alloc(CHUNK_BYTES, 'x')
  return Readable.from(
    (function* () {
      yield Buffer.from('{"results":[{"entry":"')
      for (let sent = 0; sent < OVERSIZE_BYTES; sent += CHUNK_BYTES) yield chunk
      yield Buffer.from('"}]}')
    })(),
  )
}

/** The true answer, one byte per second. Ends early when the client disconnects. */
export function trickledBody(body: Buffer, clock: Clock): Readable {
  const gone = new AbortController()
  const stream = Readable.from(
    (async function* () {
      for (let index = 0; index < body.byteLength; index++) {
        yield body.subarray(index, index + 1)
        await clock.delay(TRICKLE_INTERVAL_MS, gone.signal).catch(() => {}) // The client has disconnected.
      }
    })(),
    { objectMode: false, highWaterMark: 1 },
  )
  stream.once('close', () => gone.abort())
  return stream
}

/** Random bytes. */
export function garbageBody(body: Buffer, random: Random): Buffer {
  return Buffer.from(random.bytes(Math.max(GARBAGE_BYTES_MIN, body.byteLength)))
}
