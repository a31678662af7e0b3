/**
 * Makes a scan node lie, with its own keys, in hooks around its honest handlers. Everything that it signs
 * it signs as an honest node would, so that only other nodes can show that it is not true.
 */
import { type Clock, type Random, randomHex, toHex } from '@quorumscan/base'
import type { Replica } from '@quorumscan/replica'
import type { HttpServer } from '@quorumscan/server'
import {
  encodeStateStatement,
  formatInstant as formatTime,
  type Lookup,
  parseInstant,
} from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE, type CertifiedEntry } from '@quorumscan/verifier/certified'
import { LRUCache } from 'lru-cache'
import type { LieKind } from '../../view/lies.ts'
import { garbageBody, oversizedBody, trickledBody } from './bodies.ts'
import { type LieContext, lieAboutDocument, lieAboutEntry } from './said.ts'

/** Where a redirect leads: nobody listens there. */
const ELSEWHERE = 'http://127.0.0.1:9/'
/** How far beyond the log the head is claimed to be. */
const HEAD_AHEAD = 1_000_000_000
const HOUR_MICROS = 3_600_000_000
const SIGNATURE_BYTES = 64
/** Of the names of a chaos run, each asked for in a few ways. */
const PROOFS_MAX = 1000
const HASH_BYTES = 32
const KNOWN_NAMES = ['dso.ns', 'sv-1.sv.ns']

type Place = Awaited<ReturnType<Replica['pin']>>

/** What the liar knows of its node. */
type LiarDeps = {
  readonly genesisHash: string
  readonly sign: (statement: Uint8Array) => Uint8Array
  /** The party that profits. */
  readonly liar: string
  readonly replica: Pick<Replica, 'head' | 'pin' | 'lookups'>
  readonly clock: Clock
  readonly random: Random
}

type Hooked = {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly query: unknown
  readonly params: unknown
  body: unknown
  headers: Record<string, unknown>
  readonly routeOptions: {
    readonly config: { readonly route?: { cost: unknown; operationId: string } }
  }
}

type Batch = {
  readonly lookups: readonly Lookup[]
  at_offset?: number
  min_offset?: number
}

/** A certificate with one signature, as nodes tell what they signed. */
type SignedState = {
  readonly offset: number
  readonly record_time: number
  readonly history_hash: string
  readonly signatures: readonly (readonly [member: string, signature: string])[]
}

/** Adds the hooks; they do nothing until the returned function sets a lie. Null: the node tells the truth. */
export function installLiar(server: HttpServer, deps: LiarDeps): (next: LieKind | null) => void {
  let kind: LieKind | null = null
  let staleOffset = 0
  let callCount = 0
  /** Proofs that were given since the lie began, by what was asked. */
  const firstProofs = new LRUCache<string, string | Buffer>({ max: PROOFS_MAX })
  /** Where those were to be read that are read elsewhere. */
  const askedPlaces = new WeakMap<object, Place>()

  const readStale = async (raw: object): Promise<void> => {
    const request = raw as Hooked
    if (!isLiedAbout(request) || isCertified(request)) return
    const asked = askedOffset(request)
    if (asked !== null && asked <= staleOffset) return
    // Beyond the head: the honest refusal.
    const place = await deps.replica.pin(asked, AbortSignal.timeout(1000)).catch(() => null)
    if (place === null) return
    askedPlaces.set(raw, place)
    readAt(request, staleOffset)
  }

  const lieInstead = async (
    lie: LieKind,
    { raw, reply, payload }: { readonly raw: object; readonly reply: Reply; payload: unknown },
  ): Promise<unknown> => {
    const request = raw as Hooked
    if (!isLiedAbout(request)) return payload
    if (lie === 'stale' && isCertified(request)) return firstSince(request, reply, payload)
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload ?? ''))
    switch (lie) {
      case 'redirect':
        reply.code(302).header('location', ELSEWHERE)
        return Buffer.alloc(0)
      case 'content-type':
        reply.header('content-type', 'text/html')
        return payload
      case 'garbage':
        reply.code(200)
        return garbageBody(body, deps.random)
      case 'oversize':
        reply.code(200)
        return oversizedBody()
      case 'trickle':
        // Whoever gave no length would not be listened to at all.
        reply.header('content-length', String(body.byteLength))
        return trickledBody(body, deps.clock)
      case 'head':
        claimHead(reply)
        return payload
      case 'confirm':
      case 'against':
      case 'flood':
        return payload
      case 'withhold':
        return withholdSigned(request, reply) ?? payload
      default: {
        callCount += 1
        if (lie === 'equivocate' && callCount % 2 === 0) return payload
        const said = await sayOtherwise({ request, reply, body, lie, asked: askedPlaces.get(raw) })
        return said ?? payload
      }
    }
  }

  /** A proof is true for ever: whoever gives none but old ones holds its readers in the past. */
  const firstSince = (request: Hooked, reply: Reply, payload: unknown): unknown => {
    const question = JSON.stringify([request.method, request.url, request.body])
    const first = firstProofs.get(question)
    if (first !== undefined) {
      reply.code(200)
      return first
    }
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (reply.statusCode === 200 && isText) firstProofs.set(question, payload)
    return payload
  }

  // Callbacks, so that an honest node pays for no promise.
  server.addHook('preValidation', (request, _reply, done) => {
    if (kind === 'stale') readStale(request).then(() => done(), done)
    else done()
  })
  server.addHook('onSend', (raw, reply, payload, done) => {
    if (kind === null) done(null, payload)
    else
      lieInstead(kind, { raw, reply, payload }).then(
        (said) => done(null, said),
        (error: Error) => done(error),
      )
  })

  const sayOtherwise = async (said: Said): Promise<Buffer | null> => {
    const { request, reply, lie } = said
    const operation = request.routeOptions.config.route?.operationId ?? ''
    const single = singleLookup(operation, request)
    const isAbsence = single !== null && reply.statusCode === 404
    if (reply.statusCode !== 200 && !isAbsence) return null
    if (said.asked !== undefined) claimPlace(reply, said.asked)
    const context: LieContext = {
      liar: deps.liar,
      other:
        lie === 'other-name'
          ? await otherEntry(said.asked?.offset ?? offsetOf(reply), request)
          : null,
    }
    const document = JSON.parse(said.body.toString())
    if (lie === 'signature') return Buffer.from(withOtherSignatures(said.body.toString()))
    if (operation === 'listStateStatements' && lie === 'equivocate')
      return contradicting(document.statements)
    if (operation === 'lookupEntries') return lieInBatch(request, document, { lie, context })
    if (single === null)
      return Buffer.from(JSON.stringify(lieAboutDocument(lie, document, context)))
    const entry = lieAboutEntry(
      lie,
      { lookup: single, entry: isAbsence ? null : document.entry },
      context,
    )
    if (entry === null && isAbsence) return said.body
    reply.code(entry === null ? 404 : 200)
    return Buffer.from(
      entry === null
        ? JSON.stringify({ error: 'No ans entry found', code: 'ENTRY_NOT_FOUND' })
        : JSON.stringify({ entry }),
    )
  }

  const withOtherSignatures = (text: string): string =>
    text.replace(/[0-9a-f]{128}/g, () => randomHex(deps.random, SIGNATURE_BYTES))

  /** Each state with another one for the same offset, both signed. */
  const contradicting = (statements: readonly SignedState[]): Buffer => {
    const others = statements.map((one) => {
      const { offset, record_time: recordTime, history_hash: historyHash } = one
      const stateRoot = randomHex(deps.random, HASH_BYTES)
      const point = { genesisHash: deps.genesisHash, offset, recordTime, historyHash, stateRoot }
      const signature = toHex(deps.sign(encodeStateStatement(point)))
      const signatures = one.signatures.map(([member]) => [member, signature])
      return { ...one, signatures, state_root: stateRoot }
    })
    return Buffer.from(JSON.stringify({ statements: [...statements, ...others] }))
  }

  const otherEntry = async (offset: number, request: Hooked): Promise<CertifiedEntry | null> => {
    const name = KNOWN_NAMES.find(
      (known) => !JSON.stringify([request.body, request.params]).includes(known),
    )
    const [found] = await deps.replica.lookups.lookupNames([name ?? ''], offset).catch(() => [null])
    return found == null ? null : (JSON.parse(Buffer.from(found).toString()) as CertifiedEntry)
  }

  return (next) => {
    if (next === 'stale' && kind !== 'stale') {
      staleOffset = deps.replica.head().offset
      firstProofs.clear()
    }
    kind = next
  }
}

/** What is answered otherwise, and where that was to be read. */
type Said = {
  readonly request: Hooked
  readonly reply: Reply
  readonly body: Buffer
  readonly lie: LieKind
  readonly asked: Place | undefined
}

type Reply = {
  readonly statusCode: number
  code(status: number): Reply
  header(name: string, value: string): Reply
  getHeader(name: string): unknown
}

function lieInBatch(
  request: Hooked,
  document: { readonly results: readonly { readonly entry: CertifiedEntry | null }[] },
  { lie, context }: { readonly lie: LieKind; readonly context: LieContext },
): Buffer {
  const { lookups } = request.body as Batch
  const results = lookups.map((lookup, index) => {
    const entry = document.results[index]?.entry ?? null
    return { entry: lieAboutEntry(lie, { lookup, entry }, context) }
  })
  return Buffer.from(JSON.stringify({ results }))
}

/** Health is left alone: whether the process lives is no statement about the ledger. */
function isLiedAbout(request: Hooked): boolean {
  const { route } = request.routeOptions.config
  return route !== undefined && route.cost !== 0 && request.method !== 'OPTIONS'
}

function isCertified(request: Hooked): boolean {
  return request.headers['accept'] === CERTIFIED_MEDIA_TYPE
}

/** What others could hold against it, or build on; null: this is neither. */
function withholdSigned(request: Hooked, reply: Reply): Buffer | null {
  const isStatements = request.routeOptions.config.route?.operationId === 'listStateStatements'
  if (isStatements) return Buffer.from(JSON.stringify({ statements: [] }))
  if (!isCertified(request)) return null
  reply.code(503)
  return Buffer.from(JSON.stringify({ error: 'No certificate yet', code: 'NO_CERTIFICATE' }))
}

function singleLookup(operation: string, request: Hooked): Lookup | null {
  const params = request.params as { readonly name?: string; readonly party?: string }
  if (operation === 'getEntryByName') return { name: params.name ?? '' }
  return operation === 'getEntryByParty' ? { party: params.party ?? '' } : null
}

function askedOffset(request: Hooked): number | null {
  const inBody = (request.body as Partial<Batch> | null | undefined)?.at_offset
  const asked = inBody ?? request.headers['x-read-at-offset'] ?? null
  return asked === null ? null : Number(asked)
}

function readAt(request: Hooked, offset: number): void {
  if (request.routeOptions.config.route?.operationId === 'lookupEntries') {
    const { min_offset: _floor, ...batch } = request.body as Batch
    request.body = { ...batch, at_offset: offset }
  } else request.headers['x-read-at-offset'] = String(offset)
}

function offsetOf(reply: Reply): number {
  return Number(reply.getHeader('x-ledger-offset') ?? 0)
}

function claimPlace(reply: Reply, place: Place): void {
  reply.header('x-ledger-offset', String(place.offset))
  reply.header('x-ledger-record-time', formatTime(place.recordTime))
  reply.header('x-ledger-history-hash', place.historyHash)
}

function claimHead(reply: Reply): void {
  const head = Number(reply.getHeader('x-ledger-head'))
  const time = parseInstant(String(reply.getHeader('x-ledger-head-time')))
  if (!Number.isSafeInteger(head)) return
  reply.header('x-ledger-head', String(head + HEAD_AHEAD))
  if (typeof time === 'number') reply.header('x-ledger-head-time', formatTime(time + HOUR_MICROS))
}
