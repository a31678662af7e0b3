/** One route with its handler, as a function for fastify: check, charge, call, check the answer, send. */
import { Readable } from 'node:stream'
import {
  type HeadersOf,
  type ParamsOf,
  type QueryOf,
  type RouteDef,
  unitsOf,
} from '@quorumscan/api'
import { assert } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import type { Client } from './client.ts'
import type { Deadlines } from './deadlines.ts'
import type { ApiRequest, Handler, Reply } from './handler.ts'
import { requireWellFormedQuery } from './query-parser.ts'
import type { Responder } from './responder.ts'
import { compileChecks } from './validation.ts'
import type { WorkInHand } from './work-in-hand.ts'

/** Of a stream, beyond the piece that its source gave last. */
const STREAM_BUFFER_BYTES = 64 * 1024

export type Binding = {
  readonly route: RouteDef
  /** Its type is checked where the table is given (`Handlers`); here only the declaration counts. */
  readonly handler: Handler<RouteDef, unknown>
  readonly responder: Responder
  readonly deadlines: Deadlines
  readonly work: WorkInHand
}

export function bindHandler(
  binding: Binding,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const { route, responder, work } = binding
  const check = compileChecks(route)
  const isAnswer = answerCheckOf(route)

  return async (request, reply) => {
    requireWellFormedQuery(request.query)
    const parts = {
      params: check.params(request.params),
      query: check.query(request.query),
      headers: check.headers(request.headers),
      body: check.body(request.body),
    }
    // Once more: many may have been admitted before any of them was read, and had its price.
    if (route.cost !== 0) work.admit(request.client)
    const units = unitsOf(route, parts)
    const rest = units - admissionUnits(route)
    if (rest > 0) request.client.charge(rest)

    work.begin(units)
    const answer = await new Call(request, reply, { ...parts, units, work })
      .run(binding)
      .catch((error: unknown) => {
        work.end(units, error)
        throw error
      })
    work.end(units)
    if ('error' in answer) return responder.sendError(reply, answer.error, answer.headers)
    const body: unknown = answer.body
    assert(
      body instanceof Uint8Array || isAnswer(body),
      `${route.operationId} answers what it does not declare`,
    )
    return responder.send(reply, {
      status: answer.status ?? 200,
      headers: answer.headers ?? {},
      body:
        body instanceof Uint8Array || body === null
          ? body
          : isStream(body)
            ? Readable.from(body, { objectMode: false, highWaterMark: STREAM_BUFFER_BYTES })
            : JSON.stringify(body),
    })
  }
}

function answerCheckOf({ response }: RouteDef): (body: unknown) => boolean {
  if (response === null) return (body) => body === null
  if (response === 'bytes') return isStream
  const compiled = Compile(response)
  return (body) => compiled.Check(body)
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** What a request costs before it has been read; the rest is charged when its price is known. */
export function admissionUnits(route: RouteDef | undefined): number {
  return typeof route?.cost === 'number' ? route.cost : 1
}

type Parts = Readonly<Record<'params' | 'query' | 'headers' | 'body', unknown>> & {
  readonly units: number
  readonly work: WorkInHand
}

// One each for all, as where they were made says nothing, and to find out is dear.
const OVER = new ScanError('REQUEST_TIMEOUT', 'the request is over')
const GONE = new ScanError('REQUEST_TIMEOUT', 'the client went away')

/** What a handler is given, and what belongs to it until it has answered: the signal and the deadline. */
class Call implements ApiRequest<RouteDef, unknown> {
  readonly params: ParamsOf<RouteDef>
  readonly query: QueryOf<RouteDef>
  readonly headers: HeadersOf<RouteDef>
  readonly body: never
  readonly user: never
  readonly client: Client
  readonly requestId: string
  readonly url: string
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #units: number
  readonly #work: WorkInHand
  #abort: AbortController | null = null
  #isOver = false

  constructor(request: FastifyRequest, reply: FastifyReply, parts: Parts) {
    this.params = parts.params as ParamsOf<RouteDef>
    this.query = parts.query as QueryOf<RouteDef>
    this.headers = parts.headers as HeadersOf<RouteDef>
    this.body = parts.body as never
    this.user = request.user as never
    this.client = request.client
    this.requestId = request.id
    this.url = request.url
    this.#request = request
    this.#reply = reply
    this.#units = parts.units
    this.#work = parts.work
  }

  header(name: string): string | null {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : null
  }

  get forward(): Readonly<Record<string, string>> {
    return { 'x-request-id': this.requestId, ...this.#request.traced?.headers }
  }

  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#work.pause(this.#units)
    try {
      return await wait()
    } finally {
      this.#work.resume(this.#units)
    }
  }

  /** Made when somebody asks for it: most requests are answered from memory and wait for nothing. */
  get signal(): AbortSignal {
    if (this.#abort !== null) return this.#abort.signal
    const abort = new AbortController()
    this.#abort = abort
    const { raw } = this.#reply
    // Fastify's own request.signal fires as soon as the body has been read.
    const onClose = () => abort.abort(GONE)
    if (this.#isOver) abort.abort(OVER)
    else if (raw.destroyed) onClose()
    // After the answer it does nothing more: the signal has fired.
    else raw.once('close', onClose)
    return abort.signal
  }

  /** Runs the handler with a signal that fires when the client goes away or the deadline passes. */
  run({ deadlines, handler }: Binding): Promise<Reply<RouteDef>> {
    return new Promise((resolve, reject) => {
      const stopTimer = deadlines.start(() => {
        reject(new ScanError('DEPENDENCY_UNAVAILABLE', 'the operation took too long'))
        this.#end()
      })
      const fail = (error: unknown) => {
        stopTimer()
        this.#end()
        reject(error)
      }
      const { traced } = this.#request
      try {
        const answer = traced === null ? handler(this) : traced.run(() => handler(this))
        answer.then((answer) => {
          stopTimer()
          // The client of a stream is there for as long as it reads.
          if ('error' in answer || !isStream(answer.body)) this.#end()
          resolve(answer)
        }, fail)
      } catch (error) {
        // A promise fails only by a rejection, but a handler may throw before it returns one.
        fail(error)
      }
    })
  }

  #end(): void {
    this.#isOver = true
    this.#abort?.abort(OVER)
  }
}
