/**
 * Makes a scan node lie, with its own keys, by hooks around its honest handlers. It signs its lies as an honest node signs
 * the truth, so that only other nodes can show that they are false.
 */
import { type Clock, type Random, randomHex, toHex } from '@quorumscan/base'
import type { Replica } from '@quorumscan/replica'
import type { HttpServer } from '@quorumscan/server'
import {
  encodeStateStatement,
  formatInstant,
  type Lookup,
  parseInstant,
} from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE, type CertifiedEntry } from '@quorumscan/verifier/certified'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { isVisibleLie, type LieKind } from '../../view/lies.ts'
import { garbageBody, oversizedBody, trickledBody } from './bodies.ts'
import { type LieContext, lieAboutDocument, lieAboutEntry } from './false-answers.ts'

/** The target of a redirect: no process listens there. */
const UNREACHABLE_URL = 'http://127.0.0.1:9/'
/** How far beyond the log the claimed head is. */
const HEAD_AHEAD = 1_000_000_000
const HOUR_MICROS = 3_600_000_000
const SIGNATURE_BYTES = 64
/** The names of a chaos run, each requested in several ways. */
const PROOFS_MAX = 1000
const HASH_BYTES = 32
const KNOWN_NAMES = ['dso.ns', 'sv-1.sv.ns']

type Position = Awaited<ReturnType<Replica['pin']>>

type LiarDeps = {
  readonly genesisHash: string
  readonly sign: (statement: Uint8Array) => Uint8Array
  /** The party that profits. */
  readonly liar: string
  readonly replica: Pick<Replica, 'head' | 'pin' | 'lookups'>
  readonly clock: Clock
  readonly random: Random
}

type Batch = { readonly lookups: readonly Lookup[]; at_offset?: number; min_offset?: number }

/** A certificate with one signature: the form of a node's own statements. */
type NodeStatement = {
  readonly offset: number
  readonly record_time: number
  readonly history_hash: string
  readonly signatures: readonly (readonly [member: string, signature: string])[]
}

type Answer = { readonly request: FastifyRequest; readonly reply: FastifyReply; payload: unknown }

/**
 * Adds the hooks. They do nothing until the returned function sets a lie; null: the node is honest. With an address it lies
 * to the client at this address, and to no other one. A client that comes through a faulty edge has no address.
 */
export function installLiar(
  server: HttpServer,
  deps: LiarDeps,
): (next: LieKind | null, to?: string | null) => void {
  let kind: LieKind | null = null
  let victim: string | null = null
  let staleOffset = 0
  let callCount = 0
  /** The proofs that were given since the lie began, by request. */
  const firstProofs = new LRUCache<string, string | Buffer>({ max: PROOFS_MAX })
  /** The positions of requests that are read at another one. */
  const askedPositions = new WeakMap<FastifyRequest, Position>()

  const isVictim = ({ socket: { remoteAddress = '' } }: FastifyRequest): boolean =>
    victim === null || remoteAddress.replace(/^::ffff:/, '') === victim

  const readStale = async (request: FastifyRequest): Promise<void> => {
    if (!isLiedAbout(request) || !isVictim(request) || isCertified(request)) return
    const asked = askedOffset(request)
    if (asked !== null && asked <= staleOffset) return
    // Beyond the head: the honest refusal.
    const position = await deps.replica.pin(asked, AbortSignal.timeout(1000)).catch(() => null)
    if (position === null) return
    askedPositions.set(request, position)
    readAt(request, staleOffset)
  }

  const lieInstead = async (lie: LieKind, answer: Answer): Promise<unknown> => {
    const { request, reply, payload } = answer
    if (!isLiedAbout(request) || !isVictim(request) || !isVisibleLie(lie)) return payload
    if (lie === 'stale' && isCertified(request)) return firstSince(answer)
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload ?? ''))
    switch (lie) {
      case 'redirect':
        reply.code(302).header('location', UNREACHABLE_URL)
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
        // Readers refuse an answer without a length at once.
        reply.header('content-length', String(body.byteLength))
        return trickledBody(body, deps.clock)
      case 'head':
        claimHead(reply)
        return payload
      case 'withhold':
        return withholdSigned(request, reply) ?? payload
      default:
        callCount += 1
        if (lie === 'equivocate' && callCount % 2 === 0) return payload
        return (await falseAnswer(lie, answer, body.toString())) ?? payload
    }
  }

  /** A proof is true for ever. A node that gives only old ones keeps its readers in the past. */
  const firstSince = ({ request, reply, payload }: Answer): unknown => {
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

  // Callbacks, so that an honest node creates no promise.
  server.addHook('preValidation', (request, _reply, done) => {
    if (kind === 'stale') readStale(request).then(() => done(), done)
    else done()
  })
  server.addHook('onSend', (request, reply, payload, done) => {
    if (kind === null) done(null, payload)
    else
      lieInstead(kind, { request, reply, payload }).then(
        (body) => done(null, typeof body === 'string' ? Buffer.from(body) : body),
        (error: Error) => done(error),
      )
  })

  /** Null: no other answer than the honest one. */
  const falseAnswer = async (lie: LieKind, { request, reply }: Answer, body: string) => {
    const operation = operationOf(request)
    const single = singleLookup(request)
    const isAbsence = single !== null && reply.statusCode === 404
    if (reply.statusCode !== 200 && !isAbsence) return null
    const asked = askedPositions.get(request)
    if (asked !== undefined) claimPosition(reply, asked)
    const offset = asked?.offset ?? Number(reply.getHeader('x-ledger-offset') ?? 0)
    const other = lie === 'other-name' ? await otherEntry(offset, request) : null
    const context: LieContext = { liar: deps.liar, other }
    if (lie === 'signature')
      return body.replace(/[0-9a-f]{128}/g, () => randomHex(deps.random, SIGNATURE_BYTES))
    const document = JSON.parse(body)
    if (operation === 'listStateStatements' && lie === 'equivocate')
      return JSON.stringify({ statements: withContradictions(document.statements) })
    if (operation === 'lookupEntries') {
      const results = (request.body as Batch).lookups.map((lookup, index) => {
        const entry = document.results[index]?.entry ?? null
        return { entry: lieAboutEntry(lie, { lookup, entry }, context) }
      })
      return JSON.stringify({ results })
    }
    if (single === null) return JSON.stringify(lieAboutDocument(lie, document, context))
    const truth = { lookup: single, entry: isAbsence ? null : document.entry }
    const entry = lieAboutEntry(lie, truth, context)
    if (entry === null && isAbsence) return body
    reply.code(entry === null ? 404 : 200)
    const absence = { error: 'No ans entry found', code: 'ENTRY_NOT_FOUND' }
    return JSON.stringify(entry === null ? absence : { entry })
  }

  /** Each state, and another one for the same offset, both signed. */
  const withContradictions = (statements: readonly NodeStatement[]): readonly object[] => {
    const others = statements.map((one) => {
      const { offset, record_time: recordTime, history_hash: historyHash } = one
      const stateRoot = randomHex(deps.random, HASH_BYTES)
      const point = { genesisHash: deps.genesisHash, offset, recordTime, historyHash, stateRoot }
      const signature = toHex(deps.sign(encodeStateStatement(point)))
      const signatures = one.signatures.map(([member]) => [member, signature])
      return { ...one, signatures, state_root: stateRoot }
    })
    return [...statements, ...others]
  }

  const otherEntry = async (offset: number, { body, params }: FastifyRequest) => {
    const name = KNOWN_NAMES.find((known) => !JSON.stringify([body, params]).includes(known))
    const [found] = await deps.replica.lookups.lookupNames([name ?? ''], offset).catch(() => [null])
    return found == null ? null : (JSON.parse(Buffer.from(found).toString()) as CertifiedEntry)
  }

  return (next, to = null) => {
    victim = to
    if (next === 'stale' && kind !== 'stale') {
      staleOffset = deps.replica.head().offset
      firstProofs.clear()
    }
    kind = next
  }
}

function operationOf(request: FastifyRequest): string {
  return request.routeOptions.config.route?.operationId ?? ''
}

/** Health is reported truly: it is not a statement about the ledger. */
function isLiedAbout(request: FastifyRequest): boolean {
  const { route } = request.routeOptions.config
  return route !== undefined && route.cost !== 0 && request.method !== 'OPTIONS'
}

function isCertified(request: FastifyRequest): boolean {
  return request.headers['accept'] === CERTIFIED_MEDIA_TYPE
}

/** An answer without statements or proofs; null: the request asks for neither. */
function withholdSigned(request: FastifyRequest, reply: FastifyReply): string | null {
  if (operationOf(request) === 'listStateStatements') return JSON.stringify({ statements: [] })
  if (!isCertified(request)) return null
  reply.code(503)
  return JSON.stringify({ error: 'No certificate yet', code: 'NO_CERTIFICATE' })
}

function singleLookup(request: FastifyRequest): Lookup | null {
  const { name = '', party = '' } = request.params as Partial<Record<'name' | 'party', string>>
  const operation = operationOf(request)
  if (operation === 'getEntryByName') return { name }
  return operation === 'getEntryByParty' ? { party } : null
}

function askedOffset(request: FastifyRequest): number | null {
  const inBody = (request.body as Partial<Batch> | null | undefined)?.at_offset
  const asked = inBody ?? request.headers['x-read-at-offset'] ?? null
  return asked === null ? null : Number(asked)
}

function readAt(request: FastifyRequest, offset: number): void {
  if (operationOf(request) === 'lookupEntries') {
    const { min_offset: _floor, ...batch } = request.body as Batch
    request.body = { ...batch, at_offset: offset }
  } else request.headers['x-read-at-offset'] = String(offset)
}

function claimPosition(reply: FastifyReply, position: Position): void {
  reply.header('x-ledger-offset', String(position.offset))
  reply.header('x-ledger-record-time', formatInstant(position.recordTime))
  reply.header('x-ledger-history-hash', position.historyHash)
}

function claimHead(reply: FastifyReply): void {
  const head = Number(reply.getHeader('x-ledger-head'))
  const time = parseInstant(String(reply.getHeader('x-ledger-head-time')))
  if (!Number.isSafeInteger(head)) return
  reply.header('x-ledger-head', String(head + HEAD_AHEAD))
  if (typeof time === 'number')
    reply.header('x-ledger-head-time', formatInstant(time + HOUR_MICROS))
}
