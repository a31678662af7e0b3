/**
 * The life of a request from its decoding to its answer, for every interface of a server. An interface passes in its
 * decoder; the error handler of its scope encodes errors.
 *
 *   decode   refusals of the interface
 *   cost     OVERLOADED if too much work is in progress, RATE_LIMITED if the client cannot pay the rest of the cost
 *   handle   with a signal that aborts when the client leaves or the deadline passes
 *   check    that the answer is of the declared shape
 *   send
 *   settle   the work beyond the cost that was charged before: rows that were read, JSON that was made
 */
import { Readable } from 'node:stream'
import type { RouteDef } from '@quorumscan/api'
import { assert } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from './client.ts'
import type { Deadlines } from './deadlines.ts'
import type { LoadShedder, Work } from './load-shedder.ts'
import { assertWellFormedQuery } from './query-parser.ts'
import type { Responder } from './respond.ts'
import { createWorkMeter } from './work-meter.ts'

/** The buffer of a stream, beyond the last piece of its source. */
const STREAM_BUFFER_BYTES = 64 * 1024

export type Answer = {
  /** 200 unless given. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A value of the declared shape, a stream, or bytes that are ready to send and not checked. */
  readonly body: unknown
  /** Sent in place of the body, with these headers. */
  readonly error?: ScanError
}

/** One operation of an interface. */
export type Operation<Input> = {
  readonly operationId: string
  /** Refusals are thrown. */
  decode(request: FastifyRequest): Input | Promise<Input>
  /** Units of all work of the request, which its client pays. */
  unitsOf(input: Input): number
  /** It waits for the ledger, and is no work for the load shedder meanwhile. */
  readonly isWaiting?: boolean
  /** Its work is known only when it was done, and may be much more than its units. */
  readonly isUnknown?: boolean
  handle(input: Input, call: RequestContext): Promise<Answer>
  isAnswer(body: unknown): boolean
  /** The deadline of the handler. */
  readonly msMax: number
}

export type Bind = <Input>(
  operation: Operation<Input>,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Shared instances: capturing a stack trace is expensive, and the trace adds nothing. */
export const TOOK_TOO_LONG = new ScanError('DEPENDENCY_UNAVAILABLE', 'the deadline has passed')
const REQUEST_ENDED = new ScanError('REQUEST_TIMEOUT', 'the request has ended')
const CLIENT_DISCONNECTED = new ScanError('REQUEST_TIMEOUT', 'the client closed the connection')

export function createBind(server: {
  readonly shedder: LoadShedder
  readonly deadlines: Deadlines
  readonly responder: Responder
  /** Counts what clients pay for an operation. */
  readonly countUnits: (operationId: string, units: number) => void
}): Bind {
  const { shedder, deadlines, responder, countUnits } = server
  return (operation) => async (request, reply) => {
    assertWellFormedQuery(request.query)
    // Awaited only if it is a promise, so that the handler starts in the same turn of the load shedder.
    const decoded = operation.decode(request)
    const input = decoded instanceof Promise ? await decoded : decoded
    const units = operation.unitsOf(input)
    // Again: many may have been admitted before the cost of any was known.
    const unitsInProgress = operation.isWaiting === true ? 0 : units
    if (unitsInProgress > 0) shedder.assertRoom(request.client)
    const admitted = admissionUnits(request.routeOptions.config.route)
    const rest = units - admitted
    if (rest > 0) request.client.charge(rest)
    const begun = shedder.begin(request.client, unitsInProgress, {
      isUnknown: operation.isUnknown ?? false,
      onGone: (listener) => onGone(reply, listener),
    })
    const work = begun instanceof Promise ? await begun : begun
    // Meanwhile others of the client may have done more work than it can pay.
    if (begun instanceof Promise) assertNoDebt(request.client, work)
    const paid = Math.max(units, admitted)
    countUnits(operation.operationId, paid)
    const call = new RequestContext(request, reply, { work, paid })
    const settle = () => countUnits(operation.operationId, call.settle())
    const answer = await call
      .run(deadlines, operation.msMax, () => operation.handle(input, call))
      .catch((error: unknown) => {
        work.end(error)
        settle()
        throw error
      })
    const { status = 200, headers = {}, body, error } = answer
    work.end(error)
    if (error !== undefined || body instanceof Uint8Array) settle()
    if (error !== undefined) return responder.fail(reply, error, { headers })
    if (body instanceof Uint8Array) return responder.send(reply, { status, headers, body })
    assert(operation.isAnswer(body), `the answer of ${operation.operationId} is not as declared`)
    const encoded = encodeBody(body)
    if (typeof encoded === 'string') call.countBytes(encoded.length)
    settle()
    return responder.send(reply, { status, headers, body: encoded })
  }
}

/** Calls the listener once the client has left, or the answer was sent. */
function onGone({ raw }: FastifyReply, listener: () => void): void {
  if (raw.destroyed) listener()
  else raw.once('close', listener)
}

/** @throws {ScanError} RATE_LIMITED. */
function assertNoDebt(client: Client, work: Work): void {
  try {
    client.charge(0)
  } catch (error) {
    work.end(error)
    throw error
  }
}

function encodeBody(body: unknown): string | Readable | null {
  if (body === null) return null
  return isStream(body)
    ? Readable.from(body, { objectMode: false, highWaterMark: STREAM_BUFFER_BYTES })
    : JSON.stringify(body)
}

export function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** The units of a request before it is read; the rest is charged when its cost is known. */
export function admissionUnits(route: RouteDef | undefined): number {
  return typeof route?.cost === 'number' ? route.cost : 1
}

/** The state of a request until it is answered: its signal, its deadline, and its work in progress. */
export class RequestContext {
  readonly client: Client
  readonly requestId: string
  readonly url: string
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #work: Work
  /** Units that were charged before. */
  readonly #paid: number
  #abort: AbortController | null = null
  #isOver = false
  readonly #meter = createWorkMeter()

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    { work, paid }: { readonly work: Work; readonly paid: number },
  ) {
    this.client = request.client
    this.requestId = request.id
    this.url = request.url
    this.#request = request
    this.#reply = reply
    this.#work = work
    this.#paid = paid
  }

  header(name: string): string | null {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : null
  }

  get forward(): Readonly<Record<string, string>> {
    return { 'x-request-id': this.requestId, ...this.#request.traced?.headers }
  }

  /**
   * The request waits for news, and is no work for the load shedder until the returned function is called.
   *
   * @throws {ScanError} OVERLOADED if too many requests wait so.
   */
  pause(): () => void {
    return this.#work.pause()
  }

  async waiting<T>(wait: () => Promise<T>): Promise<T> {
    const resume = this.#work.pause()
    try {
      return await wait()
    } finally {
      resume()
    }
  }

  async waitingForNodes<T>(wait: () => Promise<T>): Promise<T> {
    const resume = this.#work.pauseOfNetwork()
    try {
      return await wait()
    } finally {
      resume()
    }
  }

  countRows(rows: number): void {
    this.#meter.countRows(rows)
  }

  /** JSON that was made for this request. Bytes that are stored ready to send do not count. */
  countBytes(bytes: number): void {
    this.#meter.countBytes(bytes)
  }

  /** Takes the units of the counted work that exceed the cost charged before, and returns them. Called once, at the end. */
  settle(): number {
    const owed = Math.max(0, this.#meter.takeUnits() - Math.max(this.#paid, 1))
    if (owed > 0) this.client.settle(owed)
    return owed
  }

  /** Created on demand: most requests are answered from memory, without a wait. */
  get signal(): AbortSignal {
    if (this.#abort !== null) return this.#abort.signal
    const abort = new AbortController()
    this.#abort = abort
    // Fastify's own request.signal aborts as soon as the body has been read.
    if (this.#isOver) abort.abort(REQUEST_ENDED)
    // After the answer it has no effect: the signal has aborted.
    else onGone(this.#reply, () => abort.abort(CLIENT_DISCONNECTED))
    return abort.signal
  }

  /** Runs the handler within its deadline. */
  run(deadlines: Deadlines, msMax: number, handle: () => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const stopTimer = deadlines.start(msMax, () => {
        reject(TOOK_TOO_LONG)
        this.#end()
      })
      const fail = (error: unknown) => {
        stopTimer()
        this.#end()
        reject(error)
      }
      const { traced } = this.#request
      try {
        const answer = traced === null ? handle() : traced.run(handle)
        answer.then((answer) => {
          stopTimer()
          // A stream continues while its client reads.
          if (!isStream(answer.body)) this.#end()
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
    this.#abort?.abort(REQUEST_ENDED)
  }
}
