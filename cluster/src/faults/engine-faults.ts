/** What can go wrong with the engine of a synchronizer, which starts it again whenever it ends. */
import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { SpawnEngine } from '@quorumscan/cometbft'
import type { ProcessFaults } from './process-faults.ts'

export type EngineFaults = {
  /** Lets an engine start as soon as no fault is in force. */
  readonly spawn: SpawnEngine
  set(fault: ProcessFaults['engine']): void
  /** SIGTERM: its synchronizer starts it again. */
  restart(): void
}

export function createEngineFaults(initial: ProcessFaults['engine']): EngineFaults {
  const changes = new EventEmitter()
  let fault = initial
  let engine: ChildProcess | null = null
  return {
    async spawn(start, signal) {
      while (fault !== null) await once(changes, 'change', { signal })
      engine = start()
      return engine
    },
    set(next) {
      fault = next
      engine?.kill(next === 'killed' ? 'SIGKILL' : next === 'paused' ? 'SIGSTOP' : 'SIGCONT')
      changes.emit('change')
    },
    restart: () => void engine?.kill('SIGTERM'),
  }
}
