/** Starts the process of a control plane, and stops its cluster in whatever state it is. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, waitFor } from '@quorumscan/base'
import { type DataDirectory, dataDirectory } from '@quorumscan/operator'
import { assertWritable, CommandError } from '@quorumscan/runtime'
import { signalProcess, stateOf } from '@quorumscan/supervisor'
import { bundleOf } from '../rig/built-files.ts'
import { cleanUp } from '../rig/cluster.ts'
import { call, connectControl } from './client.ts'
import { readControlFile, removeControlFile } from './control-file.ts'
import type { LaunchMessage } from './control-main.ts'
import type { ControlOptions } from './control-options.ts'

/** After it has answered, the control plane only closes its server. */
const END_TIMEOUT_MS = 10_000

export type Launch = ReturnType<typeof launchControlPlane>

/** Starts at once, and returns without waiting. @throws {CommandError} If the data directory is read-only. */
export function launchControlPlane(options: ControlOptions, onStep: (sentence: string) => void) {
  const directory = dataDirectory(options.dataDir)
  assertWritable(directory.path)
  const logFile = directory.logFile('control')
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 })
  const log = openSync(logFile, 'a', 0o600)
  const args = [bundleOf('control'), JSON.stringify(options)]
  const stdio = ['ignore' as const, log, log, 'ipc' as const]
  const child = spawn(process.execPath, args, { detached: true, stdio })
  closeSync(log)
  const ready = new Promise<void>((resolve, reject) => {
    let failure: string | null = null
    child.on('message', (message: LaunchMessage) => {
      if (message.kind === 'step') onStep(message.sentence)
      else if (message.kind === 'ready') resolve()
      else failure = message.message
    })
    child.once('error', reject)
    // Also after a failure: by then all its processes have exited.
    child.once('exit', () =>
      reject(new CommandError(failure ?? `the control plane exited; its log is ${logFile}`)),
    )
  })
  const ended = new Promise<{ readonly exitCode: number | null }>((resolve) => {
    child.once('exit', (exitCode) => resolve({ exitCode }))
  })
  return {
    /** Resolves when the cluster is ready. Rejects with a CommandError if it does not start; then all is stopped. */
    ready,
    /** Resolves when the control plane has ended. */
    ended,
    /** Lets it outlive this process. Only for a detached one that is ready. */
    release(): void {
      child.disconnect()
      child.unref()
    },
    /** Makes it stop everything in order and exit, even before it is ready. */
    abort(): void {
      if (child.connected) child.disconnect()
    },
  }
}

/** A control plane that is ready, until it is disposed of. @throws {CommandError} If it does not start. */
export async function holdControlPlane(options: ControlOptions, clock: Clock) {
  const launch = launchControlPlane(options, () => {})
  await launch.ready
  return {
    async [Symbol.asyncDispose]() {
      await stopCluster(dataDirectory(options.dataDir), clock)
      await launch.ended
    },
  }
}

/** `cleaned-up`: the control plane had crashed or hung, and this many of its processes were killed. */
export type DownOutcome =
  | { readonly kind: 'stopped' | 'nothing-ran' }
  | { readonly kind: 'cleaned-up'; readonly processCount: number }

/** Stops the cluster of this directory in order, and returns once none of its processes runs. */
export async function stopCluster(directory: DataDirectory, clock: Clock): Promise<DownOutcome> {
  if (!existsSync(directory.path)) return { kind: 'nothing-ran' }
  const running = readControlFile(directory)
  if (running !== null) {
    const { cluster } = connectControl(directory)
    const failure = await call(cluster.down.mutate()).catch((error) => error)
    const isGone = () => stateOf(running.process) === 'gone' || undefined
    const what = 'the control plane to exit'
    const wait = { clock, timeoutMs: END_TIMEOUT_MS, intervalMs: 20, what }
    const hasEnded = await waitFor(isGone, wait).catch(() => false)
    if (hasEnded && failure === undefined) return { kind: 'stopped' }
    signalProcess(running.process, 'SIGKILL')
  }
  const processCount = await cleanUp(directory, clock)
  removeControlFile(directory)
  return processCount === 0 && running === null
    ? { kind: 'nothing-ran' }
    : { kind: 'cleaned-up', processCount }
}
