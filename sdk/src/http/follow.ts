/** Reads that continue after the last item, over sockets or pages. */
import { isQuorumscanError, transient } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Store } from '../platform/store.ts'

/** Frames that arrived together. `isDone`: the server has sent all of them. */
export type FrameBatch<Frame> = { readonly frames: readonly Frame[]; readonly isDone: boolean }

/**
 * Where a stream continues after a restart. It is written after each page and when the loop ends, so that a crash repeats
 * at most one page. Repeated items have the same ids.
 */
export type Checkpoint = {
  /** For example a file or a database, which survives restarts. */
  readonly store: Store
  /** Unique among the streams of the store. */
  readonly key: string
}

/** @throws {QuorumscanError} STORE_UNAVAILABLE. */
async function ofStore<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw transient('STORE_UNAVAILABLE', 'The store of the checkpoint failed.', { cause })
  }
}

/**
 * Yields each item once, in order. After a transient failure, the stream continues after the last item.
 *
 * @throws {QuorumscanError} Permanent failures, and STORE_UNAVAILABLE. @throws The reason of the aborted signal.
 */
export async function* follow<Frame, Item>(stream: {
  readonly checkpoint: Checkpoint | undefined
  /** Where to begin. Default: at the checkpoint, else at the beginning. */
  readonly after: string | undefined
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** Frames after the position of the last item. It is called again when it ends without `isDone`, or fails. */
  read(position: () => string | null): AsyncIterable<FrameBatch<Frame>>
  /** `item` null: the frame only has a position. */
  toItem(frame: Frame): { readonly position: string; readonly item: Item | null }
  /** The pause after consecutive failures; null: the stream fails. */
  pauseMs(failures: number): number | null
}): AsyncGenerator<Item, void> {
  const { checkpoint, clock, signal } = stream
  let after = stream.after ?? (await ofStore(() => checkpoint?.store.get(checkpoint.key) ?? null))
  let saved = after
  let failures = 0
  /** Stores the position of the last item that the consumer has processed. */
  const save = async (): Promise<void> => {
    const position = after
    if (position === null || position === saved) return
    saved = position
    await ofStore(() => checkpoint?.store.set(checkpoint.key, position))
  }
  try {
    for (;;) {
      try {
        for await (const { frames, isDone } of stream.read(() => after)) {
          for (const frame of frames) {
            const { position, item } = stream.toItem(frame)
            if (item !== null) yield item
            after = position
          }
          failures = 0
          await save()
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
    await save()
  }
}
