/** One route with its handler, as a function for fastify: check, charge, call, check the answer, send. */
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
import type { Deadlines } from './deadlines.ts'
import type { ApiRequest, Handler, Reply } from './handler.ts'
import { requireWellFormedQuery } from './query-parser.ts'
import type { Responder } from './responder.ts'
import { compileChecks } from './validation.ts'

export type Binding = {
  readonly route: RouteDef
  /** Its type is checked where the table is given (`Handlers`); here only the declaration counts. */
  readonly handler: Handler<RouteDef, unknown>
  readonly responder: Responder
  readonly deadlines: Deadlines
}

export function bindHandler(
  binding: Binding,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const { route, responder } = binding
  const check = compileChecks(route)
  const response = route.response === null ? null : Compile(route.response)

  return async (request, reply) => {
    requireWellFormedQuery(request.query)
    const parts = {
      params: check.params(request.params),
      query: check.query(request.query),
      headers: check.headers(request.headers),
      body: check.body(request.body),
    }
    const rest = unitsOf(route, parts) - admissionUnits(route)
    if (rest > 0) request.client.budget.charge(request.client.key, rest)

    const answer = await withinDeadline(binding.deadlines, reply, (running) =>
      binding.handler(toApiRequest(request, parts, running)),
    )
    if ('error' in answer) return responder.sendError(reply, answer.error, answer.headers)
    const { body } = answer
    assert(
      body instanceof Uint8Array || (response === null ? body === null : response.Check(body)),
      `${route.operationId} answers what it does not declare`,
    )
    return responder.send(reply, {
      status: answer.status ?? 200,
      headers: answer.headers ?? {},
      body: body instanceof Uint8Array || body === null ? body : JSON.stringify(body),
    })
  }
}

/** What a request costs before it has been read; the rest is charged when its price is known. */
export function admissionUnits(route: RouteDef | undefined): number {
  return typeof route?.cost === 'number' ? route.cost : 1
}

type Parts = Readonly<Record<'params' | 'query' | 'headers' | 'body', unknown>>

/** What belongs to a request until it has been answered. */
type Running = {
  /** Made when somebody asks for it: most requests are answered from memory and wait for nothing. */
  readonly signal: () => AbortSignal
  end(reason: ScanError): void
}

function createRunning(reply: FastifyReply): Running {
  let abort: AbortController | null = null
  let over: ScanError | null = null
  // Fastify's own request.signal fires as soon as the body has been read.
  const onClose = () => abort?.abort(new ScanError('REQUEST_TIMEOUT', 'the client went away'))
  return {
    signal() {
      if (abort !== null) return abort.signal
      abort = new AbortController()
      if (over !== null) abort.abort(over)
      else if (reply.raw.destroyed) onClose()
      else reply.raw.once('close', onClose)
      return abort.signal
    },
    end(reason) {
      over = reason
      if (abort === null) return
      reply.raw.off('close', onClose)
      abort.abort(reason)
    },
  }
}

function toApiRequest(
  request: FastifyRequest,
  parts: Parts,
  running: Running,
): ApiRequest<RouteDef, unknown> {
  return {
    params: parts.params as ParamsOf<RouteDef>,
    query: parts.query as QueryOf<RouteDef>,
    headers: parts.headers as HeadersOf<RouteDef>,
    body: parts.body as never,
    user: request.user as never,
    header: (name) => {
      const value = request.headers[name]
      return typeof value === 'string' ? value : null
    },
    requestId: request.id,
    forward: { 'x-request-id': request.id, ...request.traced?.headers },
    get signal() {
      return running.signal()
    },
  }
}

const TOO_LATE = () => new ScanError('DEPENDENCY_UNAVAILABLE', 'the operation took too long')
const OVER = new ScanError('REQUEST_TIMEOUT', 'the request is over')

/** Runs the handler with a signal that fires when the client goes away or the deadline passes. */
function withinDeadline(
  deadlines: Deadlines,
  reply: FastifyReply,
  run: (running: Running) => Promise<Reply<RouteDef>>,
): Promise<Reply<RouteDef>> {
  const running = createRunning(reply)
  return new Promise((resolve, reject) => {
    const end = deadlines.start(() => {
      reject(TOO_LATE())
      running.end(OVER)
    })
    run(running).then(
      (answer) => {
        end()
        running.end(OVER)
        resolve(answer)
      },
      (error) => {
        end()
        running.end(OVER)
        reject(error)
      },
    )
  })
}
