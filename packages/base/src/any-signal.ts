/** Keeps what a signal follows alive as long as the signal itself. */
const followed = new WeakMap<AbortSignal, readonly AbortSignal[]>()

/**
 * Aborts when one of the signals does. Node lets go of a signal that only `AbortSignal.any` knows of, so that a
 * timeout among them might never come.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals])
  followed.set(any, signals)
  return any
}
