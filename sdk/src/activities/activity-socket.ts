/**
 * When there may be more activities, by one WebSocket of a validator. It proves nothing: rows are read over HTTP, with
 * proofs, so that who lies here can only make us read in vain, or later.
 */
import { createSocketTrials } from '../http/reconnect.ts'
import { readFrames, SocketRefused, type WebSocketConstructor } from '../http/socket.ts'
import type { Clock } from '../platform/clock.ts'

/** Frames while a page is read, of which the last is looked at: five a second at most. */
const WAITING_MAX = 1000

/**
 * An offset whenever it is time to read on, there or behind it. It ends where no socket opens, at once for a minute
 * after one did not.
 *
 * @throws {QuorumscanError} What the validator says, and NETWORK_ERROR when the connection is lost.
 */
export type ActivityNews = (signal: AbortSignal | undefined) => AsyncGenerator<number>

export function createActivitySocket(parts: {
  readonly WebSocket: WebSocketConstructor
  /** Of the validator, http or https. */
  readonly url: string
  readonly clock: Clock
}): ActivityNews {
  const { WebSocket, url, clock } = parts
  const trials = createSocketTrials(clock)
  return async function* news(signal) {
    if (!trials.isWorthTrying(null)) return
    const batches = readFrames({
      WebSocket,
      url: `${url}/v0/scan-proxy/activities`,
      protocols: [],
      clock,
      signal,
      what: 'activities',
      request: {},
      isFrame: isNews,
      isFinite: false,
      waitingMax: WAITING_MAX,
    })
    try {
      for await (const { frames } of batches) yield Math.max(...frames.map(({ offset }) => offset))
    } catch (error) {
      if (!(error instanceof SocketRefused)) throw error
      trials.noteRefusal(null)
    }
  }
}

function isNews(body: unknown): body is { readonly offset: number } {
  const { offset } = Object(body)
  return Number.isSafeInteger(offset) && offset >= 0
}
