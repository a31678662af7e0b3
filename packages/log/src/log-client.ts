/** The HTTP client of the synchronizer: submits entries, and opens the stream of the log. */

import type { ClientTls, Clock } from '@quorumscan/base'
import { catalogue, type ErrorCode, ScanError } from '@quorumscan/errors'
import type { LogSource } from '@quorumscan/ledger'
import { createBodyPieces, parseJson, readRefusal, type TransportReply } from '@quorumscan/reader'
import {
  connectorOf,
  createPeerClient,
  PEER_TOKEN_HEADER,
  type PeerRequest,
  type Tracer,
} from '@quorumscan/runtime'
import { membersOf } from '@quorumscan/verifier'
import { type Dispatcher, Pool } from 'undici'

/** The synchronizer's longest answer is an error body. */
const REPLY_BYTES_MAX = 64 * 1024
/** Concurrent submissions. Each waits a third of a second for its block, so these are some 200 a second. */
const SUBMISSIONS_MAX = 64
/** 32 pieces of each member of the largest network, twice over. */
const EVIDENCE_BYTES_MAX = 1024 * 1024
/** The votes of a hundred members on a block, in JSON. */
const ENGINE_ANSWER_BYTES_MAX = 256 * 1024

/** Buffer of the stream. The ordering client receives its content as one piece: some hundred registrations. */
const STREAM_BUFFER_BYTES = 1024 * 1024
/** Five heartbeats of the synchronizer: a stream that is silent for so long is dead. */
const STREAM_SILENCE_MS_MAX = 10_000

/** Its stream and its `submit` are a `LogSource` of `packages/ledger`. */
export function createLogClient(options: {
  readonly url: string
  /** Makes this process a peer of the synchronizer. Without it, the limits of anonymous clients apply, and no stream is opened. A function is called for each request. */
  readonly token?: (() => string) | string | null
  /** The TLS context of its connections; null: the default of Node.js. */
  readonly trust?: ClientTls | null
  readonly tracer?: Tracer | null
  /** Of the limits of requests. Default: that of the machine. */
  readonly clock?: Clock
}) {
  const { url, token = null, trust = null, tracer = null, clock } = options
  const { origin, pathname } = new URL(url)
  const tokenNow = () => (typeof token === 'function' ? token() : token)
  const client = createPeerClient({
    trust,
    tracer,
    ...(clock && { clock }),
    nameOf: () => 'synchronizer',
    connectionsMax: SUBMISSIONS_MAX,
    peerTokenByOrigin: {
      get: (asked) => (asked === origin ? (tokenNow() ?? undefined) : undefined),
    },
  })
  const streams = new Pool(origin, {
    connect: connectorOf(trust),
    headersTimeout: STREAM_SILENCE_MS_MAX,
    bodyTimeout: STREAM_SILENCE_MS_MAX,
  })
  const reach = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof ScanError) throw cause
      throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer cannot be reached', { cause })
    }
  }
  const ask = (request: Pick<PeerRequest, 'path' | 'body' | 'bytesMax'>, signal: AbortSignal) =>
    reach(signal, () => client.request(url, { ...request, signal }))

  return {
    /**
     * As `Ordering.submit`.
     *
     * @throws {ScanError} RATE_LIMITED, BODY_TOO_LARGE, INVALID_ARGUMENT, SUBMISSION_EXPIRED, LOG_FULL, CLOCK_OFF,
     *   LOG_REGRESSED, NOT_READY, OVERLOADED: not accepted;
     *   DEPENDENCY_UNAVAILABLE: unknown. Or the signal's reason.
     */
    async submit(body: Uint8Array, signal: AbortSignal): Promise<void> {
      const reply = await ask({ path: '/v0/submit', body, bytesMax: REPLY_BYTES_MAX }, signal)
      if (reply.status !== 200) throw refusal(reply)
    },
    /**
     * The evidence that it found against members. It is not verified here.
     *
     * @throws {ScanError} DEPENDENCY_UNAVAILABLE. Or the signal's reason.
     */
    async evidence(signal: AbortSignal): Promise<readonly unknown[]> {
      const reply = await ask({ path: '/v0/evidence', bytesMax: EVIDENCE_BYTES_MAX }, signal)
      const { evidence } = membersOf(parseJson(reply.body))
      if (reply.status === 200 && Array.isArray(evidence)) return evidence
      const message = `the evidence of the synchronizer could not be read (status ${reply.status})`
      throw new ScanError('DEPENDENCY_UNAVAILABLE', message)
    },
    /**
     * Why the synchronizer is not ready, as it reports; null while it is.
     *
     * @throws {ScanError} DEPENDENCY_UNAVAILABLE if it does not answer. Or the signal's reason.
     */
    async readiness(signal: AbortSignal): Promise<ScanError | null> {
      const reply = await ask({ path: '/readyz', bytesMax: REPLY_BYTES_MAX }, signal)
      return reply.status === 200 ? null : errorOf(reply)
    },
    /**
     * Passes another member's request on to the engine, and returns the answer. The synchronizer checks the signature.
     *
     * @throws {ScanError} What the synchronizer refuses with; DEPENDENCY_UNAVAILABLE if it cannot be reached.
     */
    async readEngine(body: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
      const request = { path: '/v0/engine-reads', body, bytesMax: ENGINE_ANSWER_BYTES_MAX }
      const reply = await ask(request, signal)
      if (reply.status === 200) return reply.body
      throw errorOf(reply)
    },
    /**
     * As `LogSource.open`.
     *
     * @throws {ScanError} What the synchronizer refuses with: UNAUTHENTICATED, OVERLOADED, OFFSET_PRUNED, …;
     *   DEPENDENCY_UNAVAILABLE if it cannot be reached. Or the signal's reason.
     */
    open: ({ from, signal }: Parameters<LogSource['open']>[0]) =>
      reach(signal, async (): Promise<AsyncIterable<Uint8Array>> => {
        signal.throwIfAborted()
        const current = tokenNow()
        const answer = await streams.request({
          method: 'GET',
          path: `${pathname.replace(/\/$/, '')}/v0/log?from=${from}`,
          headers: current === null ? {} : { [PEER_TOKEN_HEADER]: current },
          highWaterMark: STREAM_BUFFER_BYTES,
          signal,
        })
        if (answer.statusCode === 200) return answer.body
        throw await streamRefusal(answer)
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([client[Symbol.asyncDispose](), streams.destroy()])
    },
  }
}

export type LogClient = ReturnType<typeof createLogClient>

async function streamRefusal(answer: Dispatcher.ResponseData): Promise<ScanError> {
  const read = createBodyPieces(REPLY_BYTES_MAX)
  for await (const piece of answer.body) read.add(piece)
  return errorOf({ status: answer.statusCode, body: read.bytes(), header: () => null })
}

function errorOf(reply: TransportReply): ScanError {
  const { code, sentence } = readRefusal(reply)
  if (isErrorCode(code)) return new ScanError(code, sentence)
  return new ScanError('DEPENDENCY_UNAVAILABLE', `the synchronizer answered ${reply.status}`)
}

/** Refusals before the synchronizer wrote anything. Their sentence states the reason. */
const NOT_WRITTEN: ReadonlySet<ErrorCode> = new Set([
  'CLOCK_OFF',
  'LOG_FULL',
  'LOG_REGRESSED',
  'NOT_READY',
  'OVERLOADED',
  'SUBMISSION_EXPIRED',
])

function refusal(reply: TransportReply): ScanError {
  const { status } = reply
  const { code, sentence, retryAfterMs } = readRefusal(reply)
  const later = { retryAfterSeconds: (retryAfterMs || 1000) / 1000 }
  if (status === 429)
    return new ScanError('RATE_LIMITED', 'the synchronizer received too many requests', later)
  if (isErrorCode(code) && NOT_WRITTEN.has(code))
    return new ScanError(code, sentence, catalogue[code].retryable ? later : {})
  const cause = new Error(`status ${status}`)
  if (status === 413) return new ScanError('BODY_TOO_LARGE', 'the submission is too large')
  const why = sentence || 'the synchronizer refused the submission'
  if (status >= 400 && status < 500) return new ScanError('INVALID_ARGUMENT', why, { cause })
  const message = `the synchronizer did not accept the entry (status ${status}); it may be in the log`
  return new ScanError('DEPENDENCY_UNAVAILABLE', message, { cause })
}

/** Another program may answer at the address. */
function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code)
}
