/**
 * Signals that follow others, and let go of them. `AbortSignal.any` leaves a reference to each combined signal at a source
 * that stays: 57 bytes a call on Node.js 20. Platforms may also collect a signal that nothing else refers to, so that a
 * timeout among the sources never fires.
 */

type Calls = { readonly calls: Set<() => void>; readonly all: () => void }

const callsBySignal = new WeakMap<AbortSignal, Calls>()

/**
 * Calls when the signal aborts, until the returned function is called. All calls that share a signal share one listener,
 * since Node.js warns of a leak at the eleventh. The last one removes it.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const known = callsBySignal.get(signal) ?? listen(signal)
  const own = () => call()
  known.calls.add(own)
  return () => {
    known.calls.delete(own)
    if (known.calls.size > 0 || callsBySignal.get(signal) !== known) return
    callsBySignal.delete(signal)
    signal.removeEventListener('abort', known.all)
  }
}

function listen(signal: AbortSignal): Calls {
  const calls = new Set<() => void>()
  const all = () => {
    for (const each of calls) each()
  }
  const made = { calls, all }
  callsBySignal.set(signal, made)
  signal.addEventListener('abort', all)
  return made
}

/**
 * A controller that aborts when one of the signals does, with its reason. It listens to them until then: whoever makes it
 * aborts it when the work is done.
 */
export function linkedController(
  ...signals: readonly (AbortSignal | undefined)[]
): AbortController {
  const controller = new AbortController()
  const forgets: (() => void)[] = []
  const forget = () => {
    for (const each of forgets) each()
  }
  controller.signal.addEventListener('abort', forget, { once: true })
  for (const signal of signals) {
    if (signal === undefined) continue
    if (signal.aborted) {
      controller.abort(signal.reason)
      break
    }
    forgets.push(onAbort(signal, () => controller.abort(signal.reason)))
  }
  return controller
}
