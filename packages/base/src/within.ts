import { anySignal } from './any-signal.ts'
import type { Clock } from './clock.ts'

/**
 * Runs what may take so long, and resolves with what `late` makes of it where it takes longer. The signal that
 * the work is given aborts when it is over, and when the caller's does.
 */
export async function within<T, Late>(
  bound: { readonly clock: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  const { clock, timeoutMs, signal } = bound
  const over = new AbortController()
  const ending = signal === undefined ? over.signal : anySignal([signal, over.signal])
  // An aborted signal ends the wait, never the work: that says itself what became of it.
  const timeout = new Promise<Late>((resolve, reject) => {
    clock.delay(timeoutMs, ending).then(
      () => {
        try {
          resolve(late())
        } catch (error) {
          reject(error)
        }
      },
      () => {
        if (!over.signal.aborted) reject(signal?.reason)
      },
    )
  })
  try {
    return await Promise.race([work(ending), timeout])
  } finally {
    over.abort()
  }
}
