/** The updates of the ledger over one WebSocket (D-28). */

import { isJsGetUpdatesResponse } from '../generated/ledger-checks.ts'
import { readFrames, type WebSocketConstructor } from '../http/socket.ts'
import type { Clock } from '../platform/clock.ts'
import { requestOf, type UpdateElement, type UpdateRange } from './update-pages.ts'

/** Several at once, as they came; the last of a range that ends says so. */
export type UpdateBatch = { readonly updates: readonly UpdateElement[]; readonly isLast: boolean }

const WAITING_MAX = 1000

/**
 * Opens a socket and yields what comes, until the range ends.
 *
 * @throws As `readFrames`.
 */
export async function* readSocket(
  parts: {
    readonly WebSocket: WebSocketConstructor
    /** Of the ledger interface, http or https. */
    readonly url: string
    readonly token: string | null
    readonly clock: Clock
  },
  range: UpdateRange,
): AsyncGenerator<UpdateBatch> {
  const frames = readFrames({
    WebSocket: parts.WebSocket,
    url: `${parts.url}/v2/updates`,
    protocols: ['daml.ws.auth', ...(parts.token === null ? [] : [`jwt.token.${parts.token}`])],
    clock: parts.clock,
    signal: range.signal,
    what: 'updates',
    request: requestOf(range),
    isFrame: isJsGetUpdatesResponse,
    isFinite: range.end !== null,
    waitingMax: WAITING_MAX,
  })
  for await (const { frames: updates, isDone } of frames) yield { updates, isLast: isDone }
}
