/**
 * Reads bodies (D-5, D-14): raw bytes, or JSON in the form of the interface. A body that is too large or arrives in too
 * many pieces is refused while it still arrives; `closing.ts` makes sure that the client can read the refusal.
 */
import type { IncomingMessage } from 'node:http'
import type { RouteDef } from '@quorumscan/api'
import { bufferOf } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { createBodyPieces } from '@quorumscan/reader'
import { parseStrictJson } from '@quorumscan/verifier'
import type { FastifyRequest } from 'fastify'
import { parse as parseLossless } from 'lossless-json'
import type { Client } from './client.ts'
import type { Deadlines } from './deadlines.ts'
import { type Reason, TOO_LARGE, TOO_LATE } from './errors.ts'
import { giveUpReading } from './listener.ts'

/** Bytes on the wire for each byte of the body. Chunks of a usual size need hardly more than one. */
const WIRE_FACTOR = 2
/** Wire bytes that are always allowed: read-ahead of the connection counts, too, 64 KiB at once. */
const WIRE_BYTES_FREE = 128 * 1024
/** Parsing and checking this number of bytes takes as long as a lookup, 0.1 ms. A shorter body is free. */
const JSON_BYTES_PER_UNIT = 16 * 1024
/** The ledger accepts 32 levels inside a command, with a few around it. */
const DEPTH_MAX = 64
/** Values of a body: finding the first invalid one takes up to 10 µs for each. The largest batch has some 800. */
const VALUES_MAX = 4_096

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a body to its end, within these bounds. */
export type BodyReader = (
  request: IncomingMessage,
  bounds: { readonly bytesMax: number; readonly msMax: number },
) => Promise<Buffer>

/**
 * @throws {ScanError} BODY_TOO_LARGE, MALFORMED_BODY for one in tiny pieces or cut short, or REQUEST_TIMEOUT for one that
 *   does not arrive in time.
 */
export function createBodyReader(deadlines: Deadlines): BodyReader {
  return (request, { bytesMax, msMax }) =>
    new Promise((resolve, reject) => {
      const body = createBodyPieces(bytesMax)
      const { socket } = request
      const wireBytesBefore = socket.bytesRead
      let byteCount = 0
      const settle = () => {
        stopTimer()
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      }
      const fail = (reason: Reason) => {
        settle()
        giveUpReading(request)
        reject(new ScanError(...reason))
      }
      const stopTimer = deadlines.start(msMax, () => fail(TOO_LATE))
      const onData = (piece: Buffer) => {
        byteCount += piece.byteLength
        if (byteCount > bytesMax) return fail(TOO_LARGE)
        if (socket.bytesRead - wireBytesBefore > WIRE_FACTOR * byteCount + WIRE_BYTES_FREE)
          return fail(SCATTERED)
        try {
          body.add(piece)
        } catch {
          fail(SCATTERED) // The other bound was checked above.
        }
      }
      const onEnd = () => {
        settle()
        resolve(bufferOf(body.bytes()))
      }
      const onClose = () => fail(['MALFORMED_BODY', 'the body ended early'])
      if (Number(request.headers['content-length']) > bytesMax) return fail(TOO_LARGE)
      request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
    })
}

const SCATTERED: Reason = ['MALFORMED_BODY', 'the body comes in too many small pieces']

/** The body of a `/v0` request; undefined if the route declares none. @throws {ScanError} If it is invalid. */
export function decodeBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { route } = request.routeOptions.config
  if (route?.body === undefined || bytes.byteLength === 0) return undefined
  assertKnownEncoding(request, route)
  if (route.body === 'bytes') return new Uint8Array(bytes)
  chargeForJson(request.client, bytes)
  return parseJson(bytes)
}

/** Charges for a long body before it is parsed. @throws {ScanError} RATE_LIMITED. */
export function chargeForJson(client: Client, { byteLength }: Uint8Array): void {
  const units = Math.floor(byteLength / JSON_BYTES_PER_UNIT)
  if (units > 0) client.charge(units)
}

function assertKnownEncoding(request: FastifyRequest, route: RouteDef): void {
  const type = request.headers['content-type'] ?? ''
  const essence = type.replace(/;.*$/s, '').trim().toLowerCase()
  const accepted =
    route.body === 'bytes'
      ? ['application/octet-stream']
      : ['application/json', ...(route.acceptsTextPlain === true ? ['text/plain'] : [])]
  // D-5: the most used ledger client sends no content type at all.
  if (essence !== '' && !accepted.includes(essence))
    throw new ScanError('UNSUPPORTED_MEDIA_TYPE', `the body must be ${accepted.join(' or ')}`)
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ScanError('UNSUPPORTED_MEDIA_TYPE', 'a body with a content-encoding is not read')
}

/** A number that a double may not represent; only then the slower parser is needed. */
const MAY_BE_LARGE = /[[:,]\s*-?[0-9]{16}/
const INTEGER = /^-?[0-9]{16,40}$/

/** Parses as `parseJson` does; integers beyond 2^53 are bigints. @throws {ScanError} MALFORMED_BODY. */
export function parseJsonWithBigInts(bytes: Uint8Array, valuesMax?: number): unknown {
  const value = parseJson(bytes, valuesMax)
  const text = decoder.decode(bytes)
  return MAY_BE_LARGE.test(text) ? parseLossless(text, undefined, exactNumber) : value
}

function exactNumber(text: string): number | bigint {
  const number = Number(text)
  return !Number.isSafeInteger(number) && INTEGER.test(text) ? BigInt(text) : number
}

/** @throws {ScanError} MALFORMED_BODY. */
export function parseJson(bytes: Uint8Array, valuesMax = VALUES_MAX): unknown {
  try {
    return parseStrictJson(decoder.decode(bytes), { depthMax: DEPTH_MAX, valuesMax })
  } catch {
    // The messages of parsers quote the body, which may contain a secret.
    throw new ScanError(
      'MALFORMED_BODY',
      'the body is not JSON in UTF-8 without duplicate fields and __proto__, ' +
        `at most ${DEPTH_MAX} levels deep and of at most ${valuesMax} values`,
    )
  }
}
