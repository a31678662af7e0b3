import type { Clock } from './clock.ts'

/** Keeps the signals that a signal follows alive as long as it. */
const followed = new WeakMap<AbortSignal, readonly AbortSignal[]>()

/**
 * Aborts when one of the signals does. Node collects a signal that only `AbortSignal.any` refers to, so that a timeout
 * among them might never happen.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals])
  followed.set(any, signals)
  return any
}

/**
 * Runs the work. If it takes longer than `timeoutMs`, resolves with the result of `late`. The signal of the work aborts
 * when the time is over, and when the caller's does.
 */
export async function within<T, Late>(
  bound: { readonly clock: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  const { clock, timeoutMs, signal } = bound
  const over = new AbortController()
  const ending = signal === undefined ? over.signal : anySignal([signal, over.signal])
  const timeout = clock.delay(timeoutMs, ending).then(late, () => {
    // Of the caller's signal, which ends the wait, not the work. After the work nothing waits for this.
    throw signal?.reason
  })
  try {
    return await Promise.race([work(ending), timeout])
  } finally {
    over.abort()
  }
}
