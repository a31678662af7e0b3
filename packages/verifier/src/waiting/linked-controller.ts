/**
 * Signals that follow others, and let go of them. `AbortSignal.any` leaves a reference to each combined signal at a source
 * that stays: 57 bytes a call on Node.js 20. Platforms may also collect a signal that nothing else refers to, so that a
 * timeout among the sources never fires.
 */

/** For `callsAt` of `testing`. */
export const callsBySignal = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls when the signal aborts, until the returned function is called. All calls that share a signal share one listener,
 * which stays: Node.js warns of a leak at the eleventh.
 *
 * @param call - Of this caller alone.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const calls = callsBySignal.get(signal) ?? new Set()
  if (!callsBySignal.has(signal)) {
    callsBySignal.set(signal, calls)
    signal.addEventListener('abort', () => {
      for (const each of calls) each()
    })
  }
  calls.add(call)
  return () => calls.delete(call)
}

/**
 * A controller that aborts when one of the signals does, with its reason. It listens to them until then: whoever makes it
 * aborts it when the work is done.
 */
export function linkedController(
  ...signals: readonly (AbortSignal | undefined)[]
): AbortController {
  const controller = new AbortController()
  const { signal: own } = controller
  for (const signal of signals) {
    const end = () => controller.abort(signal?.reason)
    if (signal?.aborted) end()
    else if (signal && !own.aborted) own.addEventListener('abort', onAbort(signal, end))
  }
  return controller
}
