/** What can go wrong with the engine of a synchronizer, which starts it again whenever it ends. */
import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { SpawnEngine } from '@quorumscan/cometbft'
import type { ProcessFaults } from './process-faults.ts'

export function createEngineFaults(initial: ProcessFaults['engine']) {
  const changes = new EventEmitter()
  let fault = initial
  let engine: ChildProcess | null = null
  /** Lets an engine start as soon as no fault is in force. */
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
    /** SIGTERM: its synchronizer starts it again. */
    restart: () => void engine?.kill('SIGTERM'),
  }
}
