/** When a stream tries again: after what failure, and whether with a socket. */
import { backoffMs } from '@quorumscan/verifier'
import type { Clock, Random } from '../platform/clock.ts'

/** Something on the way lets no WebSocket through: pages for so long. */
const SOCKET_RETRY_MS = 60_000

/** Milliseconds after so many failures in a row. */
export function retryPauseMs(failures: number, random: Random): number {
  return backoffMs(failures, { minMs: 500, maxMs: 10_000, random })
}

/** Whether a socket is worth trying. One that did not open with one token may with another. */
export type SocketTrials = {
  isWorthTrying(token: string | null): boolean
  noteRefusal(token: string | null): void
}

export function createSocketTrials(clock: Pick<Clock, 'monotonicMs'>): SocketTrials {
  let refusal: { readonly token: string | null; readonly atMs: number } | null = null
  return {
    isWorthTrying: (token) =>
      refusal === null ||
      refusal.token !== token ||
      clock.monotonicMs() - refusal.atMs >= SOCKET_RETRY_MS,
    noteRefusal(token) {
      refusal = { token, atMs: clock.monotonicMs() }
    },
  }
}
