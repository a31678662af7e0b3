/** Reading bodies (D-5, D-14): JSON whatever an absent content type says, and raw bytes where declared. */
import type { RouteDef } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent where no operation stands behind the path. */
    readonly route?: RouteDef
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** The ledger's decoder takes 32 levels inside a command (Rule 1); nobody needs more than a few around it. */
const DEPTH_MAX = 64
const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d,
]
/** A member's name, plain or with an escaped underscore; only then is the body looked through. */
const MAY_BE_POISONED = /__proto__|\\u005f/i

/** Installs the only parser: it sees every body, since the route decides what a content type means. */
export function installBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => readBody(request, body),
  )
}

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { route } = request.routeOptions.config
  if (route?.body === undefined || bytes.byteLength === 0) return undefined
  requireKnownEncoding(request, route)
  return route.body === 'bytes' ? new Uint8Array(bytes) : parseJson(bytes)
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

/** @throws {ScanError} MALFORMED_BODY. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  let value: unknown
  try {
    text = decoder.decode(bytes)
    // Whoever walks through a value by recursion may rely on this.
    if (isTooDeep(text)) throw new RangeError('too deep')
    value = JSON.parse(text)
  } catch {
    // The reasons of JSON.parse and TextDecoder quote the body, which may hold a secret.
    throw new ScanError(
      'MALFORMED_BODY',
      `the body is not JSON in UTF-8, at most ${DEPTH_MAX} levels deep`,
    )
  }
  if (MAY_BE_POISONED.test(text) && hasProtoMember(text))
    throw new ScanError('MALFORMED_BODY', 'the body has a member called __proto__')
  return value
}

function hasProtoMember(text: string): boolean {
  let found = false
  JSON.parse(text, (key, member) => {
    if (key === '__proto__') found = true
    return member
  })
  return found
}

function isTooDeep(text: string): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = endOfString(text, index)
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth++
      if (depth > DEPTH_MAX) return true
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
  }
  return false
}

/** Of the string that begins at a quote: where it ends, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashCount = 0
    while (text.charCodeAt(end - 1 - slashCount) === BACKSLASH) slashCount++
    if (slashCount % 2 === 0) return end
  }
  return text.length
}
