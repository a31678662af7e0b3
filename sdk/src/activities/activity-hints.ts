/** Hints of a validator that there may be more coin activities. */
import { membersOf } from '@quorumscan/verifier'
import { createSocketReads, type WebSocketConstructor } from '../http/stream.ts'
import type { Clock } from '../platform/clock.ts'

/**
 * Yields the lowest offset to read at whenever there may be more activities, over one WebSocket of a validator. It ends
 * if no socket opens, and at once for a minute after that. Rows are read over HTTP with proofs, so that a lying
 * validator can only cause needless or late reads.
 *
 * @throws {QuorumscanError} An error that the validator sends, and NETWORK_ERROR when the connection is lost.
 */
export function createActivityHints(parts: {
  readonly WebSocket: WebSocketConstructor
  /** URL of the validator, http or https. */
  readonly url: string
  readonly clock: Clock
}) {
  const readSocket = createSocketReads(parts.WebSocket, parts.clock)
  return async function* hints(signal: AbortSignal | undefined): AsyncGenerator<number> {
    const batches = readSocket(null, {
      url: `${parts.url}/v0/scan-proxy/activities`,
      protocols: [],
      signal,
      what: 'activities',
      request: {},
      isFrame: isHint,
      isFinite: false,
    })
    for await (const { frames } of batches) yield Math.max(...frames.map(({ offset }) => offset))
  }
}

export type ActivityHints = ReturnType<typeof createActivityHints>

function isHint(body: unknown): body is { readonly offset: number } {
  const { offset } = membersOf(body)
  return typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0
}
