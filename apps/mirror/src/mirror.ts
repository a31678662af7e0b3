/**
 * A mirror: an untrusted cache of certified answers. It asks nodes or other mirrors, checks what they answer, and caches
 * the answers for as long as nodes allow. Readers check them again, so they need not trust it. A source is judged by what it proves
 * (`sources.ts`); types and headers of answers are those of the route. It can also serve names in the form of the draft
 * standard, whose readers trust it (D-76).
 */
import {
  CERTIFIED_MEDIA_TYPE,
  type RouteDef,
  type RouteTable,
  scanRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { type Clock, sha256, singleFlight } from '@quorumscan/base'
import { CERTIFIED_HEADERS, isCertified } from '@quorumscan/certifier'
import { ScanError } from '@quorumscan/errors'
import type { Transport, TransportReply } from '@quorumscan/reader'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { type ProxyNetwork, partyNameHandlers } from '@quorumscan/scan-proxy'
import { buildServer, type Handler, type HttpServer } from '@quorumscan/server'
import {
  canonicalJson,
  createPlatformCrypto,
  type Genesis,
  hashGenesis,
  memberSetOf,
  parseGenesis,
  parseThreshold,
  thresholdVotes,
  utf8,
} from '@quorumscan/verifier'
import {
  createCertificateChecks,
  createCertifiedVerifier,
  InvalidProof,
  isBelowOffset,
  isStale,
} from '@quorumscan/verifier/certified'
import { LRUCache } from 'lru-cache'
import { type Decoded, proofQueryOf } from './queries.ts'
import { createSources, SOURCE_WAIT_MS, type Sources } from './sources.ts'

/** Cached answers with their paths: some ten thousand lookups of names. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024
/** What nodes allow (`CERTIFIED_HEADERS`): certificates are a second apart. */
const CACHED_MS = 1000
/** Readers accept hardly any older answer. It is used only if no source has a newer one. */
const AGE_MS_MAX = 60_000
/** A network that no majority of the sources named is chosen again after this, which is as long as a source loses its place. */
const UNSETTLED_MS = 60_000
const JSON_TYPE = 'application/json'

export type MirrorOptions = {
  /** Base addresses of nodes or of mirrors. */
  readonly sources: readonly string[]
  readonly transport: Transport
  readonly clock: Clock
  /** The network. Default: that of `names`, or else the one whose genesis most sources answer. */
  readonly network?: MirroredNetwork
  /** The network whose names are served in the form of the draft standard. Default: none is. */
  readonly names?: ProxyNetwork
}

type MirroredNetwork = { readonly genesis: Genesis; readonly genesisHash: string }

/** A checked answer; its times are of the monotonic clock. */
type Checked = {
  readonly body: Uint8Array
  readonly recordTime: number
  readonly sinceMs: number
}

type Mirrored = {
  readonly operation: string
  readonly route: RouteDef
  /** The path with its query. */
  readonly path: string
  readonly request: Decoded
  /** Who asks: the network of its address. */
  readonly reader: string
}

/**
 * The server of a mirror: `listen({host, port})` starts it, `close()` ends it.
 *
 * @throws {UsageError} If a source is not an http or https URL.
 */
export function buildMirror(options: MirrorOptions): HttpServer {
  const { clock } = options
  const sources = createSources(options)
  let known: Awaited<ReturnType<typeof createChecker>> | null = null
  let decidedAtMs = 0
  const decide = singleFlight(async () => {
    decidedAtMs = clock.monotonicMs()
    known = await createChecker(sources, options.network ?? options.names)
    return known
  })
  const checking = async () => {
    if (known === null) return await decide()
    // A liar may have been the only source that answered: it decides for a time, and no reader waits for the others.
    const isOld = clock.monotonicMs() - decidedAtMs >= UNSETTLED_MS
    if (!known.isSettled && isOld) decide().catch(() => {}) // No source answers: as before.
    return known
  }
  const cache = new LRUCache<string, Checked>({
    maxSize: CACHED_BYTES_MAX,
    sizeCalculation: ({ body }, path) => body.byteLength + path.length,
  })

  const fetchOne = async (mirrored: Mirrored): Promise<Checked> => {
    const { route, path, request, reader } = mirrored
    const check = (await checking()).checkOf(mirrored)
    return await sources.ask(
      {
        path,
        accept: hasCertifiedForm(route) ? CERTIFIED_MEDIA_TYPE : JSON_TYPE,
        body: route.method === 'GET' ? null : utf8(JSON.stringify(request.body)),
        reader,
      },
      {
        open: async (reply) => ({ ...(await check(reply)), sinceMs: sinceMsOf(reply, clock) }),
        isLate: ({ recordTime }) =>
          isStale(recordTime, { nowMicros: clock.nowMicros(), maxAgeMs: AGE_MS_MAX }),
      },
    )
  }
  const isFresh = ({ sinceMs }: Checked) => sinceMs + CACHED_MS > clock.monotonicMs()
  /** One request for all readers that wait for the same answer. */
  const fetchShared = singleFlight(
    async (mirrored: Mirrored) => {
      const checked = await fetchOne(mirrored)
      if (isFresh(checked)) cache.set(mirrored.path, checked)
      return checked
    },
    ({ path }) => path,
  )
  const get = (mirrored: Mirrored): Checked | Promise<Checked> => {
    const cached = cache.get(mirrored.path)
    return cached !== undefined && isFresh(cached) ? cached : fetchShared(mirrored)
  }

  const handlerOf =
    (operation: string, route: RouteDef): Handler<RouteDef, never> =>
    async (request) => {
      const { url: path } = request
      // The path is appended to the address of a source: only certified routes may be reached.
      if (!path.startsWith('/v0/')) throw new ScanError('ROUTE_NOT_FOUND', 'no such path')
      if (operation === 'getGenesis') return { body: (await checking()).genesisBytes }
      const isProven = hasCertifiedForm(route)
      if (isProven && !isCertified(request))
        throw new ScanError(
          'INVALID_ARGUMENT',
          `a mirror has certified answers only: send accept: ${CERTIFIED_MEDIA_TYPE}`,
        )
      const mirrored = {
        operation,
        route,
        path,
        request: request as unknown as Decoded,
        reader: request.client.network,
      }
      const { body, sinceMs } =
        route.method === 'GET' ? await get(mirrored) : await fetchOne(mirrored)
      const age = String(Math.max(0, Math.floor((clock.monotonicMs() - sinceMs) / 1000)))
      return { headers: { ...(isProven ? CERTIFIED_HEADERS : {}), age }, body }
    }

  const handlers = Object.entries(mirroredRoutes).map(([id, route]) => [id, handlerOf(id, route)])
  const { names } = options
  return buildServer({
    routes: names === undefined ? mirroredRoutes : { ...mirroredRoutes, ...nameRoutes },
    handlers: { ...Object.fromEntries(handlers), ...(names && nameHandlers(names, options)) },
    prefix: null,
    rateLimit: null, // Sources have their own limits, and a cached answer costs next to nothing.
    clock,
  })
}

/** Checks answers of one network. @throws {ScanError} DEPENDENCY_UNAVAILABLE if its genesis is not known yet. */
async function createChecker(sources: Sources, given: MirroredNetwork | undefined) {
  const { genesis, genesisHash, isSettled } =
    given === undefined ? await mostNamedNetwork(sources) : { ...given, isSettled: true }
  const network = { genesis, genesisHash, sha256, crypto: createPlatformCrypto() }
  const verifier = createCertifiedVerifier(network)
  const certificates = createCertificateChecks(network)
  const set = memberSetOf(genesis)
  return {
    isSettled,
    genesisBytes: utf8(canonicalJson(genesis)),
    /** The check of an answer to this request, which rejects one that proves nothing. */
    checkOf(mirrored: Mirrored) {
      const { signers, min_offset: minOffset } = optionsOf(mirrored.request)
      const threshold = parseThreshold(signers ?? 'weak', set)
      if (threshold === undefined)
        throw new ScanError('INVALID_QUORUM', 'signers is weak, strong, all or a number')
      const isCertificate = mirrored.operation === 'getCertificate'
      const query = isCertificate
        ? null
        : proofQueryOf(mirrored.operation, mirrored.request, network)
      const count = thresholdVotes(threshold, set) ?? 0
      return async ({ body }: TransportReply) => {
        const text = textOf(body)
        const proven =
          query === null
            ? await certificates.check(certificateIn(text))
            : await verifier.verify(text, query, threshold)
        const { offset, recordTime } = proven
        if (proven.signers.length < count || isBelowOffset(offset, minOffset ?? 0))
          throw new InvalidProof('NOT_PROVEN', 'the answer is not as recent or as signed as asked')
        return { body, recordTime }
      }
    },
  }
}

/** @throws {TypeError} If it is not UTF-8. */
function textOf(body: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
}

/** The certificate of an answer of `/v0/certificate`. @throws {InvalidProof} If it has another form. */
function certificateIn(text: string): string {
  const certificate = text.slice('{"certificate":'.length, -1)
  if (text === `{"certificate":${certificate}}`) return certificate
  throw new InvalidProof('MALFORMED', 'the answer is no certificate')
}

type ProofOptions = { readonly signers?: string | null; readonly min_offset?: number | null }

/** `signers` and `min_offset`, of the query or of the body. */
function optionsOf({ query, body }: Decoded): ProofOptions {
  return { ...(body as ProofOptions | undefined), ...(query as ProofOptions | undefined) }
}

/**
 * The network whose genesis most sources answer, of equal ones that of the first source. It is settled if more than half
 * of all answered so.
 */
async function mostNamedNetwork(
  sources: Sources,
): Promise<MirroredNetwork & { readonly isSettled: boolean }> {
  const asked = { path: '/v0/genesis', accept: JSON_TYPE, body: null }
  const { answers: networks, machineCount } = await sources.askEach(
    asked,
    async ({ status, body }) => {
      if (status !== 200) throw new Error('no genesis')
      const genesis = parseGenesis(JSON.parse(textOf(body)))
      return { genesis, genesisHash: await hashGenesis(genesis) }
    },
  )
  const votesOf = ({ genesisHash }: MirroredNetwork) =>
    networks.filter((other) => other.genesisHash === genesisHash).length
  // Stable: of equal ones the first stays first.
  const [most] = [...networks].sort((a, b) => votesOf(b) - votesOf(a))
  if (most !== undefined) return { ...most, isSettled: 2 * votesOf(most) > machineCount }
  throw new ScanError('DEPENDENCY_UNAVAILABLE', 'no source of this mirror has a genesis document')
}

/** Since when the source has the answer, by its `age`, which can only shorten the time in the cache. */
function sinceMsOf(reply: TransportReply, clock: Clock): number {
  const seconds = Number(/^\d{1,6}$/.exec(reply.header('age') ?? '')?.[0] ?? 0)
  return clock.monotonicMs() - 1000 * seconds
}

const { proxyResolve, proxyReverseResolve } = validatorRoutes
const nameRoutes: RouteTable = { proxyResolve, proxyReverseResolve }

/** Answers that the sources prove. */
function nameHandlers(names: ProxyNetwork, options: MirrorOptions) {
  const { genesis, genesisHash } = names
  const { sources: seeds, transport, clock } = options
  const bounds = { seeds, areSeedsAll: true, waitMs: SOURCE_WAIT_MS }
  const reader = createCertifiedReader({
    ...bounds,
    genesis,
    genesisHash,
    sha256,
    crypto: createPlatformCrypto(),
    transport,
    clock,
  })
  return partyNameHandlers(names, reader)
}

function hasCertifiedForm({ otherForms = {} }: RouteDef): boolean {
  return Object.hasOwn(otherForms, CERTIFIED_MEDIA_TYPE)
}

/** The routes that a reader of certified answers uses. */
const mirroredRoutes: RouteTable = Object.fromEntries(
  Object.entries<RouteDef>(scanRoutes).filter(
    ([id, route]) => hasCertifiedForm(route) || id === 'getCertificate' || id === 'getGenesis',
  ),
)
