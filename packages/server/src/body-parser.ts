/** Reading bodies (D-5, D-14): JSON whatever an absent content type says, and raw bytes where declared. */
import type { IncomingMessage } from 'node:http'
import type { RouteDef } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import { parseStrictJson } from '@quorumscan/verifier'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parse as parseLossless } from 'lossless-json'
import type { Client } from './client.ts'
import type { Deadlines } from './deadlines.ts'
import { readBody } from './read-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent where no operation stands behind the path. */
    readonly route?: RouteDef
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Parsing and checking so many bytes takes as long as a lookup, 0.1 ms; shorter bodies are part of any request. */
const JSON_BYTES_PER_UNIT = 16 * 1024
/** The ledger takes 32 levels inside a command; nobody needs more than a few around it. */
const DEPTH_MAX = 64
/** To find the first of them that breaks a rule takes up to 10 µs each; the largest batch has some 800. */
const VALUES_MAX = 4_096

/** Installs the only parser: it sees every body, since the route decides what a content type means. */
export function installBodyParser(app: FastifyInstance, deadlines: Deadlines): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    decodeBody(
      request,
      await readBody(payload, { bytesMax: request.routeOptions.bodyLimit, deadlines }),
    ),
  )
}

function decodeBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { route } = request.routeOptions.config
  if (route?.body === undefined || bytes.byteLength === 0) return undefined
  requireKnownEncoding(request, route)
  if (route.body === 'bytes') return new Uint8Array(bytes)
  chargeForJson(request.client, bytes)
  return parseJson(bytes)
}

/** Charges for a long body before it is parsed, whatever it holds. @throws {ScanError} RATE_LIMITED. */
export function chargeForJson(client: Client, { byteLength }: Uint8Array): void {
  const units = Math.floor(byteLength / JSON_BYTES_PER_UNIT)
  if (units > 0) client.charge(units)
}

function requireKnownEncoding(request: FastifyRequest, route: RouteDef): void {
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

/** Where a number may stand that a double does not hold; only then is the slower parser needed. */
const MAY_BE_LARGE = /[[:,]\s*-?[0-9]{16}/
const INTEGER = /^-?[0-9]{16,40}$/

/** As `parseJson`; integers beyond 2^53 are bigints. @throws {ScanError} MALFORMED_BODY. */
export function parseExactJson(bytes: Uint8Array, valuesMax?: number): unknown {
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
    // The reasons of parsers quote the body, which may hold a secret.
    throw new ScanError(
      'MALFORMED_BODY',
      'the body is not JSON in UTF-8 without doubled members and __proto__, ' +
        `at most ${DEPTH_MAX} levels deep and of at most ${valuesMax} values`,
    )
  }
}
