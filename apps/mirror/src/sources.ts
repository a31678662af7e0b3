/**
 * The sources of a mirror, which is judged by what they prove. A source that answers with anything else loses its place
 * for a time: while another one is there, it is not asked. The order of all others stays, the one that answered last
 * first. A refusal is not proven: it is passed on if no source answers, and costs its source the place if one does.
 */
import type { Clock } from '@quorumscan/base'
import { catalogue, type ErrorCode, ScanError } from '@quorumscan/errors'
import {
  machineOf,
  parseNodeUrl,
  shownUrl,
  type Transport,
  type TransportReply,
  urlProblem,
} from '@quorumscan/reader'
import { createPenalties, UsageError } from '@quorumscan/runtime'

/** The largest answer of a source: the largest page, with many names next to its entries. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** A node waits up to a second for an offset; one that takes this long hangs. */
export const SOURCE_WAIT_MS = 3000
/** Requests to sources at a time. Each may receive the largest answer. */
const REQUESTS_MAX = 32
const RETRY_AFTER_SECONDS_MAX = 60
const MESSAGE_CHARACTERS_MAX = 300

export type SourceRequest = {
  /** The path with its query. */
  readonly path: string
  readonly accept: string
  readonly body: Uint8Array<ArrayBuffer> | null
}

type Opener<T> = {
  /** Rejects an answer that proves nothing. */
  open(reply: TransportReply): Promise<T>
  isLate(opened: T): boolean
}

export type Sources = ReturnType<typeof createSources>

/** @throws {UsageError} If a source is not an http or https URL. */
export function createSources(options: {
  readonly sources: readonly string[]
  readonly transport: Transport
  readonly clock: Clock
}) {
  const { transport, clock } = options
  const sources = options.sources.map((source) => {
    const url = parseNodeUrl(source, true)
    if (url === undefined)
      throw new UsageError(`the source ${shownUrl(source)} ${urlProblem(source)}`)
    return { url }
  })
  type Source = (typeof sources)[number]
  const penalties = createPenalties<Source>(clock)
  let first = 0
  let requestCount = 0

  const inOrder = (): readonly Source[] =>
    penalties.inOrder([...sources.slice(first), ...sources.slice(0, first)])

  const request = ({ url }: Source, { path, accept, body }: SourceRequest) =>
    transport.request({
      url,
      method: body === null ? 'GET' : 'POST',
      path,
      headers: { accept, ...(body !== null && { 'content-type': 'application/json' }) },
      body,
      bytesMax: ANSWER_BYTES_MAX,
      channel: 'lookup',
      isPublicOnly: false, // The operator chose the sources.
      signal: AbortSignal.timeout(SOURCE_WAIT_MS),
    })

  const askAll = async <T>(asked: SourceRequest, { open, isLate }: Opener<T>): Promise<T> => {
    /** Of those that a later source can contradict. */
    const doubtful: Source[] = []
    let refusal: ScanError | null = null
    let late: T | null = null
    for (const source of inOrder()) {
      const reply = await request(source, asked).catch(() => null)
      // It is silent, or its answer too large: another one may answer.
      if (reply === null) continue
      if (reply.status !== 200) {
        const error = refusalOf(reply)
        // 5xx and 429 are of a server, or its proxy, that cannot answer now.
        const isRefused = reply.status < 500 && reply.status !== 429
        if (isRefused && error === null) penalties.note(source)
        else if (isRefused) doubtful.push(source)
        refusal ??= error
        continue
      }
      const opened = await open(reply).catch(() => null)
      if (opened === null) penalties.note(source)
      else if (isLate(opened)) {
        doubtful.push(source)
        late ??= opened
      } else {
        first = sources.indexOf(source)
        for (const other of doubtful) penalties.note(other)
        return opened
      }
    }
    if (late !== null) return late
    throw refusal ?? new ScanError('DEPENDENCY_UNAVAILABLE', 'no source of this mirror answers')
  }

  return {
    /**
     * The first answer that proves something and is not late; if all are late, the first.
     *
     * @throws {ScanError} The first refusal; DEPENDENCY_UNAVAILABLE if no source answers; OVERLOADED.
     */
    async ask<T>(asked: SourceRequest, opener: Opener<T>): Promise<T> {
      if (requestCount >= REQUESTS_MAX) throw new ScanError('OVERLOADED', 'too many requests wait')
      requestCount++
      try {
        return await askAll(asked, opener)
      } finally {
        requestCount--
      }
    },
    /** What `open` makes of the answer of each machine that answers so: one has one voice, under whatever addresses. */
    async askEach<T>(
      asked: SourceRequest,
      open: (reply: TransportReply) => Promise<T>,
    ): Promise<readonly T[]> {
      const machines = new Map(sources.map((source) => [machineOf(source.url), source]))
      const opened = [...machines.values()].map(async (source) => {
        try {
          return [await open(await request(source, asked))]
        } catch {
          return []
        }
      })
      return (await Promise.all(opened)).flat()
    },
  }
}

/** The error of D-6 that a source answers, in the form of this server; null: the answer is none. */
function refusalOf({ status, header, body }: TransportReply): ScanError | null {
  const { code, error } = membersOf(body)
  if (typeof code !== 'string' || !Object.hasOwn(catalogue, code)) return null
  if (typeof error !== 'string' || catalogue[code as ErrorCode].httpStatus !== status) return null
  const seconds = /^\d{1,4}$/.exec(header('retry-after') ?? '')?.[0]
  const retryAfterSeconds =
    seconds === undefined ? null : Math.min(Number(seconds), RETRY_AFTER_SECONDS_MAX)
  const message = error.slice(0, MESSAGE_CHARACTERS_MAX)
  return new ScanError(code as ErrorCode, message, { retryAfterSeconds })
}

function membersOf(body: Uint8Array): { readonly code?: unknown; readonly error?: unknown } {
  try {
    return Object(JSON.parse(Buffer.from(body).toString('utf8')))
  } catch {
    return {}
  }
}
