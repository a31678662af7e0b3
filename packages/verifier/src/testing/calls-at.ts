import { callsBySignal } from '../waiting/linked-controller.ts'

/** The calls that wait for the signal to abort: those of `onAbort` and `linkedController` that were not let go of. */
export function callsAt(signal: AbortSignal): number {
  return callsBySignal.get(signal)?.size ?? 0
}
