/**
 * Files that a process reads again at once when its operator asks for it (SIGHUP), instead of at their next period. A
 * process whose terminal goes away gets the same signal, and ends.
 */
import { closeSync, openSync } from 'node:fs'
import { held } from './held.ts'

const listeners = held(
  {
    owner: 'base',
    name: 'listeners of reloads',
    kind: 'state',
    bound: 'one of each file that is read again',
  },
  new Set<() => void>(),
)
let count = 0

/** All that is read again while the process runs is read now. */
export function requestReload(): void {
  count += 1
  for (const listener of listeners) listener()
}

/** How often it was requested: what reads when it is used compares it. */
export function reloadCount(): number {
  return count
}

/** Calls it at each request, until the signal aborts. */
export function onReload(listener: () => void, signal: AbortSignal): void {
  if (signal.aborted) return
  listeners.add(listener)
  signal.addEventListener('abort', () => listeners.delete(listener), { once: true })
}

/** Whether SIGHUP means that the terminal of this process went away: a service and a container have none. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
