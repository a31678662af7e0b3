/**
 * A mirror: an untrusted cache of certified answers. It asks nodes or other mirrors, and caches their answers for as
 * long as they allow. It does not check them: readers do, so they need not trust it. With a genesis it also serves names
 * in the form of the draft standard, which it verifies itself: their readers trust it (D-76).
 */
import {
  CERTIFIED_MEDIA_TYPE,
  type RouteDef,
  type RouteTable,
  scanRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { type Clock, sha256, singleFlight } from '@quorumscan/base'
import { isCertified } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import {
  parseNodeUrl,
  shownUrl,
  type Transport,
  type TransportReply,
  urlProblem,
} from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { UsageError } from '@quorumscan/runtime'
import { type ProxyNetwork, partyNameHandlers } from '@quorumscan/scan-proxy'
import { buildServer, type Handler, type HttpServer } from '@quorumscan/server'
import { utf8 } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'

/** The largest answer of a source: the largest page, with many names next to its entries. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** Cached answers with their paths: some ten thousand lookups of names. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024
/** The limit for the time that a source allows. Hardly any reader accepts an older answer. */
const CACHED_MS_MAX = 60_000
/** A node waits up to a second for an offset; one that takes this long hangs. */
const SOURCE_WAIT_MS = 3000
/** Requests to sources at a time. Each may receive the largest answer. */
const REQUESTS_MAX = 32
/** The headers that the mirror passes on. */
const HEADERS = ['content-type', 'cache-control', 'vary', 'retry-after']

export type MirrorOptions = {
  /** Base addresses of nodes or of mirrors. */
  readonly sources: readonly string[]
  readonly transport: Transport
  readonly clock: Clock
  /** The network whose names are served in the form of the draft standard. Default: none is. */
  readonly names?: ProxyNetwork
}

type MirrorRequest = {
  readonly route: RouteDef
  /** The path with its query. */
  readonly path: string
  readonly body: Uint8Array<ArrayBuffer> | null
}

/** A cached reply; its times are of the monotonic clock. */
type Cached = { readonly reply: TransportReply; readonly sinceMs: number; readonly untilMs: number }

/**
 * The server of a mirror: `listen({host, port})` starts it, `close()` ends it.
 *
 * @throws {UsageError} If a source is not an http or https URL.
 */
export function buildMirror(options: MirrorOptions): HttpServer {
  const { clock } = options
  const ask = createSources(options)
  const cache = new LRUCache<string, Cached>({
    maxSize: CACHED_BYTES_MAX,
    sizeCalculation: ({ reply }, path) => reply.body.byteLength + path.length,
  })
  const fetchOne = async (asked: MirrorRequest): Promise<Cached> => {
    const reply = await ask(asked)
    const ageMs = 1000 * secondsIn(reply.header('age'), /^(\d+)$/)
    const sinceMs = clock.monotonicMs() - ageMs
    const cached = { reply, sinceMs, untilMs: sinceMs + Math.min(CACHED_MS_MAX, allowedMs(reply)) }
    if (cached.untilMs > clock.monotonicMs()) cache.set(asked.path, cached)
    return cached
  }
  /** One request for all readers that wait for the same answer. */
  const fetchShared = singleFlight(fetchOne, ({ path }) => path)

  const get = (asked: MirrorRequest): Cached | Promise<Cached> => {
    const cached = cache.get(asked.path)
    return cached !== undefined && cached.untilMs > clock.monotonicMs()
      ? cached
      : fetchShared(asked)
  }

  const handlerOf =
    (route: RouteDef): Handler<RouteDef, never> =>
    async (request) => {
      const { url: path } = request
      // The path is appended to the address of a source: only certified routes may be reached.
      if (!path.startsWith('/v0/')) throw new ScanError('ROUTE_NOT_FOUND', 'no such path')
      if (hasCertifiedForm(route) && !isCertified(request))
        throw new ScanError(
          'INVALID_ARGUMENT',
          `a mirror has certified answers only: send accept: ${CERTIFIED_MEDIA_TYPE}`,
        )
      const isGet = route.method === 'GET'
      const asked = { route, path, body: isGet ? null : utf8(JSON.stringify(request.body)) }
      const { reply, sinceMs } = isGet
        ? await get(asked)
        : { reply: await ask(asked), sinceMs: clock.monotonicMs() }
      const passed = HEADERS.flatMap((name) => {
        const value = reply.header(name)
        return value === null ? [] : [[name, value]]
      })
      const age = String(Math.floor((clock.monotonicMs() - sinceMs) / 1000))
      const headers = { ...Object.fromEntries(passed), age }
      return { status: reply.status, headers, body: reply.body }
    }

  const handlers = Object.entries(mirrored).map(([id, route]) => [id, handlerOf(route)])
  const { names } = options
  return buildServer({
    routes: names === undefined ? mirrored : { ...mirrored, ...nameRoutes },
    handlers: { ...Object.fromEntries(handlers), ...(names && nameHandlers(names, options)) },
    prefix: null,
    rateLimit: null, // Sources have their own limits, and a cached answer costs next to nothing.
    clock,
  })
}

const { proxyResolve, proxyReverseResolve } = validatorRoutes
const nameRoutes: RouteTable = { proxyResolve, proxyReverseResolve }

/** Answers that the sources prove. */
function nameHandlers(names: ProxyNetwork, options: MirrorOptions) {
  const { genesis, genesisHash } = names
  const bounds = { seeds: options.sources, areSeedsAll: true, waitMs: SOURCE_WAIT_MS }
  const reader = createCertifiedReader({ ...options, genesis, genesisHash, sha256, ...bounds })
  return partyNameHandlers(names, reader)
}

function hasCertifiedForm({ otherForms = {} }: RouteDef): boolean {
  return Object.hasOwn(otherForms, CERTIFIED_MEDIA_TYPE)
}

/** The routes that a reader of certified answers uses. */
const mirrored: RouteTable = Object.fromEntries(
  Object.entries<RouteDef>(scanRoutes).filter(
    ([id, route]) => hasCertifiedForm(route) || id === 'getCertificate' || id === 'getGenesis',
  ),
)

/** Asks the source that answered last, and the others where it does not, one after the other. */
function createSources({ sources, transport }: MirrorOptions) {
  const urls = sources.map((source) => {
    const url = parseNodeUrl(source, true)
    if (url === undefined)
      throw new UsageError(`the source ${shownUrl(source)} ${urlProblem(source)}`)
    return url
  })
  let first = 0
  let requestCount = 0

  const askAll = async ({ route, path, body }: MirrorRequest): Promise<TransportReply> => {
    const form = hasCertifiedForm(route) ? CERTIFIED_MEDIA_TYPE : 'application/json'
    let refusal: TransportReply | null = null
    const begin = first
    for (const index of urls.keys()) {
      const place = (begin + index) % urls.length
      try {
        const reply = await transport.request({
          url: urls[place] as string,
          method: body === null ? 'GET' : 'POST',
          path,
          headers: { accept: form, ...(body !== null && { 'content-type': 'application/json' }) },
          body,
          bytesMax: ANSWER_BYTES_MAX,
          channel: 'lookup',
          isPublicOnly: false, // The operator chose the sources.
          signal: AbortSignal.timeout(SOURCE_WAIT_MS),
        })
        if (reply.status < 500 && reply.status !== 429) {
          first = place
          return reply
        }
        refusal = reply
      } catch {
        // Try the next source.
      }
    }
    if (refusal !== null) return refusal
    throw new ScanError('DEPENDENCY_UNAVAILABLE', 'no source of this mirror answers')
  }

  return async (asked: MirrorRequest): Promise<TransportReply> => {
    if (requestCount >= REQUESTS_MAX) throw new ScanError('OVERLOADED', 'too many requests wait')
    requestCount++
    try {
      return await askAll(asked)
    } finally {
      requestCount--
    }
  }
}

/** How long a shared cache may store the answer. */
function allowedMs({ status, header }: TransportReply): number {
  const control = header('cache-control') ?? ''
  if (status !== 200 || /\b(?:no-store|no-cache|private)\b/.test(control)) return 0
  return 1000 * secondsIn(control, /\bmax-age=(\d+)/)
}

function secondsIn(text: string | null, pattern: RegExp): number {
  return Number(pattern.exec(text ?? '')?.[1] ?? 0)
}
