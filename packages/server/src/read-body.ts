/**
 * Collecting the body of a request: what is too large or in too many pieces is given up on while it still comes,
 * before it has cost anything. `closing.ts` sees to it that the refusal can be read.
 */
import type { IncomingMessage } from 'node:http'
import { ScanError } from '@quorumscan/errors'
import { createBodyPieces } from '@quorumscan/reader'
import type { Deadlines } from './deadlines.ts'
import { giveUpReading } from './http-server.ts'

/** On the wire, for each byte of the body: chunks of a usual size need hardly more than one, … */
const WIRE_FACTOR = 2
/** … and what the connection has read ahead counts, too: 64 KiB at once. */
const WIRE_BYTES_FREE = 128 * 1024

/**
 * @throws {ScanError} BODY_TOO_LARGE, MALFORMED_BODY for one in tiny pieces or cut short, or REQUEST_TIMEOUT for one that
 *   does not arrive within the deadline.
 */
export function readBody(
  request: IncomingMessage,
  { bytesMax, deadlines }: { readonly bytesMax: number; readonly deadlines: Deadlines },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = createBodyPieces(bytesMax)
    const { socket } = request
    const wireBytesBefore = socket.bytesRead
    let byteCount = 0
    const stopTimer = deadlines.start(() =>
      fail(new ScanError('REQUEST_TIMEOUT', 'the request did not arrive completely in time')),
    )
    const settle = () => {
      stopTimer()
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
    }
    const fail = (error: ScanError) => {
      settle()
      giveUpReading(request)
      reject(error)
    }
    const onData = (piece: Buffer) => {
      byteCount += piece.byteLength
      if (byteCount > bytesMax) return fail(tooLarge())
      if (socket.bytesRead - wireBytesBefore > WIRE_FACTOR * byteCount + WIRE_BYTES_FREE)
        return fail(scattered())
      try {
        body.add(piece)
      } catch {
        fail(scattered()) // Of the two bounds that it has, the other one was looked at here.
      }
    }
    const onEnd = () => {
      settle()
      const { buffer, byteOffset, byteLength } = body.bytes()
      resolve(Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength))
    }
    const onClose = () => fail(new ScanError('MALFORMED_BODY', 'the body ended early'))
    if (Number(request.headers['content-length']) > bytesMax) return fail(tooLarge())
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function tooLarge(): ScanError {
  return new ScanError('BODY_TOO_LARGE', 'the body exceeds the limit of the operation')
}

function scattered(): ScanError {
  return new ScanError('MALFORMED_BODY', 'the body comes in too many small pieces')
}
