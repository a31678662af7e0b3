/** Stopping a cluster from outside, whatever state its control plane is in. */
import { existsSync } from 'node:fs'
import { type Clock, waitFor } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { signalProcess, stateOf } from '@quorumscan/supervisor'
import { cleanUp } from '../rig/cluster.ts'
import { call, connectControl } from './client.ts'
import { readControlFile, removeControlFile } from './control-file.ts'

/** After its answer the control plane only closes its server. */
const END_TIMEOUT_MS = 10_000

export type DownOutcome =
  | { readonly kind: 'stopped' }
  /** The control plane had crashed or hung; this many processes were ended for it. */
  | { readonly kind: 'cleaned-up'; readonly processCount: number }
  | { readonly kind: 'nothing-ran' }

/** Stops the cluster of this directory in order and returns when nothing of it runs any more. */
export async function stopCluster(directory: DataDirectory, clock: Clock): Promise<DownOutcome> {
  if (!existsSync(directory.path)) return { kind: 'nothing-ran' }
  const running = readControlFile(directory)
  if (running !== null) {
    const failure = await call(connectControl(directory).cluster.down.mutate()).catch(
      (error) => error,
    )
    const hasEnded = await untilGone(clock, () => stateOf(running.process) === 'gone')
    if (hasEnded && failure === undefined) return { kind: 'stopped' }
    signalProcess(running.process, 'SIGKILL')
  }
  const processCount = await cleanUp(directory, clock)
  removeControlFile(directory)
  return processCount === 0 && running === null
    ? { kind: 'nothing-ran' }
    : { kind: 'cleaned-up', processCount }
}

async function untilGone(clock: Clock, isGone: () => boolean): Promise<boolean> {
  return waitFor(() => (isGone() ? true : undefined), {
    clock,
    timeoutMs: END_TIMEOUT_MS,
    intervalMs: 20,
    what: 'the control plane to end',
  }).catch(() => false)
}
