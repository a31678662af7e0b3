/**
 * The sources of a mirror, which are judged by what they prove (`askInTurn`). A source that answers with anything else, or is
 * silent while another one answers, loses its place for a time: while another one is there, it is not asked. The order of
 * all others stays, the one that answered last first. A refusal is not proven: it is passed on if no source answers, and
 * costs its source the place if one does.
 */

import { type Clock, createShares, withTimeout } from '@quorumscan/base'
import { catalogue, type ErrorCode, ScanError } from '@quorumscan/errors'
import {
  parseNodeUrl,
  platformResolver,
  resolveMachines,
  shownUrl,
  type Transport,
  type TransportReply,
  urlProblem,
} from '@quorumscan/reader'
import { askInTurn, createPenalties, type SourceAnswer, UsageError } from '@quorumscan/runtime'
import { membersOf } from '@quorumscan/verifier'

/** The largest answer of a source: the largest page, with many names next to its entries. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024
/** A node waits up to a second for an offset; one that takes this long hangs. */
export const SOURCE_WAIT_MS = 3000
/** Requests of readers at a time, who share it. A single one has eight, as many as a certified reader makes. */
const REQUESTS_MAX = 40
/** While so many requests to sources wait, silence asks no further source. Each may receive the largest answer. */
const FLIGHTS_MAX = 64
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
  const never = new AbortController().signal
  let first = 0
  const shares = createShares('requests of a mirror', { requests: REQUESTS_MAX })
  let flightCount = 0

  const request = async (
    { url }: Source,
    { path, accept, body }: SourceRequest,
    signal: AbortSignal,
  ) => {
    flightCount++
    try {
      return await transport.request({
        url,
        method: body === null ? 'GET' : 'POST',
        path,
        headers: { accept, ...(body !== null && { 'content-type': 'application/json' }) },
        body,
        bytesMax: ANSWER_BYTES_MAX,
        channel: 'lookup',
        isPublicOnly: false, // The operator chose the sources.
        signal,
      })
    } finally {
      flightCount--
    }
  }
  /** @param signal - Default: none. */
  const within = <T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) =>
    withTimeout({ clock, timeoutMs: SOURCE_WAIT_MS, ...(signal && { signal }) }, work, () => {
      throw new Error(`no answer within ${SOURCE_WAIT_MS} ms`)
    })

  const askAll = async <T>(asked: SourceRequest, { open, isLate }: Opener<T>): Promise<T> => {
    let refusal: ScanError | null = null
    const late: T[] = []
    const judge = async (reply: TransportReply): Promise<SourceAnswer<T>> => {
      if (reply.status !== 200) {
        const error = refusalOf(reply)
        refusal ??= error
        // They are of a server, or its proxy, that cannot answer now.
        if (reply.status >= 500 || reply.status === 429) return { kind: 'unable' }
        if (error === null) throw new Error('no answer of a node')
        return { kind: 'doubtful' }
      }
      const opened = await open(reply)
      if (!isLate(opened)) return { kind: 'proven', answer: opened }
      late.push(opened)
      return { kind: 'doubtful' }
    }
    const found = await askInTurn<Source, T>({
      sources: [...sources.slice(first), ...sources.slice(0, first)],
      penalties,
      clock,
      signal: never,
      ask: async (source, signal) =>
        await judge(await within((ending) => request(source, asked, ending), signal)),
      needsAnother: () => flightCount < FLIGHTS_MAX,
    })
    if (found !== null) {
      first = sources.indexOf(found.source)
      return found.answer
    }
    const [firstLate] = late
    if (firstLate !== undefined) return firstLate
    throw refusal ?? new ScanError('DEPENDENCY_UNAVAILABLE', 'no source of this mirror answers')
  }

  return {
    /**
     * The first answer that proves something and is not late; if all are late, the first.
     *
     * @param asked.reader - For whom: the network of its address.
     * @throws {ScanError} The first refusal; DEPENDENCY_UNAVAILABLE if no source answers; OVERLOADED.
     */
    async ask<T>(
      asked: SourceRequest & { readonly reader: string },
      opener: Opener<T>,
    ): Promise<T> {
      const release = shares.take(asked.reader, { requests: 1 })
      if (release === null) throw new ScanError('OVERLOADED', `too many ${shares.pool} wait`)
      try {
        return await askAll(asked, opener)
      } finally {
        release()
      }
    },
    /** What `open` makes of the answer of each machine that answers so: one has one voice, under whatever addresses. */
    async askEach<T>(
      asked: SourceRequest,
      open: (reply: TransportReply) => Promise<T>,
    ): Promise<{ readonly answers: readonly T[]; readonly machineCount: number }> {
      const urls = sources.map(({ url }) => url)
      const bounds = { resolve: platformResolver(), signal: AbortSignal.timeout(SOURCE_WAIT_MS) }
      const names = await resolveMachines(urls, bounds)
      const machines = new Map(sources.map((source, index) => [names[index], source]))
      const opened = [...machines.values()].map(async (source) => {
        try {
          return [await open(await within((signal) => request(source, asked, signal)))]
        } catch {
          penalties.note(source)
          return []
        }
      })
      return { answers: (await Promise.all(opened)).flat(), machineCount: machines.size }
    },
  }
}

/** The error of D-6 that a source answers, in the form of this server; null: the answer is none. */
function refusalOf({ status, header, body }: TransportReply): ScanError | null {
  const { code, error } = bodyMembers(body)
  if (typeof code !== 'string' || !Object.hasOwn(catalogue, code)) return null
  if (typeof error !== 'string' || catalogue[code as ErrorCode].httpStatus !== status) return null
  const seconds = /^\d{1,4}$/.exec(header('retry-after') ?? '')?.[0]
  const retryAfterSeconds =
    seconds === undefined ? null : Math.min(Number(seconds), RETRY_AFTER_SECONDS_MAX)
  const message = error.slice(0, MESSAGE_CHARACTERS_MAX)
  return new ScanError(code as ErrorCode, message, { retryAfterSeconds })
}

function bodyMembers(body: Uint8Array): ReturnType<typeof membersOf> {
  try {
    return membersOf(JSON.parse(Buffer.from(body).toString('utf8')))
  } catch {
    return {}
  }
}
