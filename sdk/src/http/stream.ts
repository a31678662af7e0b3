/** Streams: walked to their end or followed, over a socket where one opens, resumed where they were. */
import { backoffMs } from '@quorumscan/verifier'
import { isQuorumscanError } from '../errors.ts'
import { type Checkpoint, createProgress } from '../platform/checkpoint.ts'
import type { Clock, Random } from '../platform/clock.ts'
import {
  type FrameBatch,
  type FramesOptions,
  readFrames,
  SocketRefused,
  type WebSocketConstructor,
} from './socket.ts'

/** Something on the way lets no WebSocket through: pages for so long. */
const SOCKET_RETRY_MS = 60_000

/** Milliseconds after so many failures in a row. */
export function retryPauseMs(failures: number, random: Random): number {
  return backoffMs(failures, { minMs: 500, maxMs: 10_000, random })
}

/**
 * Yields each item once, in order. Failures that may pass are waited out, and the stream continues after the last item.
 *
 * @throws {QuorumscanError} What does not pass, and STORE_UNAVAILABLE. @throws The reason of the aborted signal.
 */
export async function* follow<Frame, Item>(stream: {
  readonly checkpoint: Checkpoint | undefined
  /** Where to begin. Default: at the checkpoint, else at the beginning. */
  readonly after: string | undefined
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** What comes after the position of the last item. It is called again when it ends without `isDone`, or fails. */
  read(position: () => string | null): AsyncIterable<FrameBatch<Frame>>
  /** `item` null: it only says how far the stream is. */
  take(frame: Frame): { readonly position: string; readonly item: Item | null }
  /** After so many failures in a row; null: the stream fails. */
  pauseMs(failures: number): number | null
}): AsyncGenerator<Item, void> {
  const { clock, signal } = stream
  const progress = createProgress(stream.checkpoint)
  let after = stream.after ?? (await progress.load())
  let failures = 0
  try {
    for (;;) {
      try {
        for await (const { frames, isDone } of stream.read(() => after)) {
          for (const frame of frames) {
            const { position, item } = stream.take(frame)
            if (item !== null) yield item
            after = position
            progress.note(position)
          }
          failures = 0
          await progress.save()
          if (isDone) return
        }
      } catch (error) {
        signal?.throwIfAborted()
        const pauseMs = stream.pauseMs(++failures)
        if (pauseMs === null || !isQuorumscanError(error) || !error.retryable) throw error
        await clock.delay(pauseMs, signal)
      }
    }
  } finally {
    await progress.save()
  }
}

/**
 * Reads over sockets, as `readFrames` does. Returns false where none opens, and for a minute after one did not: one
 * that did not open with one token may with another.
 */
export type SocketReads = <Frame>(
  token: string | null,
  options: Omit<FramesOptions<Frame>, 'WebSocket' | 'clock'>,
) => AsyncGenerator<FrameBatch<Frame>, boolean>

/** @param WebSocket - null: there is none. */
export function createSocketReads(
  WebSocket: WebSocketConstructor | null,
  clock: Clock,
): SocketReads {
  let refusal: { readonly token: string | null; readonly atMs: number } | null = null
  const isRefused = (token: string | null): boolean =>
    refusal?.token === token && clock.monotonicMs() - refusal.atMs < SOCKET_RETRY_MS
  return async function* read(token, options) {
    if (WebSocket === null || isRefused(token)) return false
    try {
      yield* readFrames({ ...options, WebSocket, clock })
      return true
    } catch (error) {
      if (!(error instanceof SocketRefused)) throw error
      refusal = { token, atMs: clock.monotonicMs() }
      return false
    }
  }
}
