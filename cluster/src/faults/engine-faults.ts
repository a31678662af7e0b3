/** The faults of a synchronizer's engine. The synchronizer restarts it whenever it exits. */
import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { SpawnEngine } from '@quorumscan/cometbft'
import type { ProcessFaults } from './fault-spec.ts'

/** Starts engines for a synchronizer, and applies the fault that is set. */
export function createEngineFaults(initial: ProcessFaults['engine']) {
  const changes = new EventEmitter()
  let fault = initial
  let engine: ChildProcess | null = null
  /** Starts an engine once no fault is in force. */
  const spawn: SpawnEngine = async (start, signal) => {
    while (fault !== null) await once(changes, 'change', { signal })
    engine = start()
    return engine
  }
  return {
    spawn,
    set(next: ProcessFaults['engine']): void {
      fault = next
      engine?.kill(next === 'killed' ? 'SIGKILL' : next === 'paused' ? 'SIGSTOP' : 'SIGCONT')
      changes.emit('change')
    },
    /** SIGTERM: its synchronizer restarts it. */
    restart: () => void engine?.kill('SIGTERM'),
  }
}
