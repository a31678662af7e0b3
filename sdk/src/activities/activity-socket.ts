/**
 * The history of coin over one WebSocket of a validator: pages as its scan proxy gives them over HTTP, each
 * checked in the same way, so that a proxy that sends them unasked need not be trusted either.
 */
import type { ReadOptions, ReadRequest } from '@quorumscan/consensus'
import { isVerifiedAnswer } from '../generated/checks.ts'
import { createSocketTrials } from '../http/reconnect.ts'
import { readFrames, SocketRefused, type WebSocketConstructor } from '../http/socket.ts'
import { type Answered, isAnswered } from '../names/lookups.ts'
import { outcomeError } from '../names/outcome-error.ts'
import type { Verified } from '../names/proxy-outcome.ts'
import type { ProxySource } from '../names/proxy-source.ts'
import type { Clock } from '../platform/clock.ts'

/** Each has up to 12 MB; a consumer who is behind by so many is read for again. */
const WAITING_MAX = 8

/** Where a stream begins. `requestOf` says which page comes after a row. */
export type PagesFrom = {
  readonly after: string | null
  readonly requestOf: (after: string | null) => ReadRequest
  /** event_id of the last row; null where the page is empty. */
  readonly lastOf: (page: Answered<unknown>) => string | null
  readonly read: ReadOptions
  readonly signal: AbortSignal | undefined
}

/**
 * Pages as they come, each verified and not older than the one before; an empty one says that there is no
 * more yet. It ends where no socket opens, at once for a minute after one did not.
 *
 * @throws {QuorumscanError} As a lookup, and NETWORK_ERROR when the connection is lost.
 */
export type LivePages = (from: PagesFrom) => AsyncGenerator<Answered<unknown>>

export function createActivitySocket(parts: {
  readonly WebSocket: WebSocketConstructor
  /** Of the validator, http or https. */
  readonly url: string
  readonly clock: Clock
  readonly source: Pick<ProxySource, 'judge'>
}): LivePages {
  const { WebSocket, clock, source } = parts
  const trials = createSocketTrials(clock)

  async function* verified(from: PagesFrom): AsyncGenerator<Answered<unknown>> {
    const { requestOf, signal } = from
    let { after, read } = from
    const batches = readFrames({
      WebSocket,
      url: `${parts.url}/v0/scan-proxy/activities`,
      protocols: [],
      clock,
      signal,
      what: 'activities',
      request: firstFrame(requestOf(after), read),
      isFrame: isPageFrame,
      isFinite: false,
      waitingMax: WAITING_MAX,
    })
    for await (const { frames } of batches)
      for (const frame of frames) {
        const header = (name: string) => textOf(frame.headers[name])
        const outcome = await source.judge(requestOf(after), read, { body: frame, header })
        signal?.throwIfAborted()
        if (!isAnswered(outcome)) throw outcomeError('follow activities', outcome)
        yield outcome
        after = from.lastOf(outcome) ?? after
        read = { ...read, minOffset: Math.max(read.minOffset ?? 0, outcome.offset) }
      }
  }

  return async function* livePages(from) {
    if (!trials.isWorthTrying(null)) return
    try {
      yield* verified(from)
    } catch (error) {
      if (!(error instanceof SocketRefused)) throw error
      trials.noteRefusal(null)
    }
  }
}

function firstFrame(request: ReadRequest, read: ReadOptions): object {
  const { threshold, minOffset, maxAgeMs } = read
  const isBounded = maxAgeMs !== undefined && maxAgeMs !== Number.POSITIVE_INFINITY
  return {
    ...(request.parameters as object),
    ...(threshold === undefined ? {} : { quorum: String(threshold) }),
    ...(minOffset === undefined ? {} : { min_offset: minOffset }),
    ...(isBounded ? { max_age_ms: Math.ceil(maxAgeMs) } : {}),
  }
}

/** A page, with what HTTP says in headers. */
type PageFrame = Verified & { readonly headers: Readonly<Record<string, unknown>> }

function isPageFrame(body: unknown): body is PageFrame {
  return isVerifiedAnswer(body) && typeof Object(body).headers === 'object'
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
