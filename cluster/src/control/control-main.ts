/** Entry of the control plane's process. `launch.ts` starts it and receives its messages. */
import { surviveLostOutput } from '@quorumscan/base'
import { messageOf } from '@quorumscan/runtime'
import type { ControlOptions } from './control-options.ts'
import { type ControlPlane, createControlPlane } from './control-plane.ts'

/** A message to the process that launched the control plane. */
export type LaunchMessage =
  | { readonly kind: 'step'; readonly sentence: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }

const options = JSON.parse(process.argv[2] ?? '') as ControlOptions
let plane: ControlPlane | null = null
let isReady = false
let isEnding = false
surviveLostOutput()

function report(message: LaunchMessage): void {
  // With a callback, the exit of the launcher is not an uncaught error; 'disconnect' follows.
  if (process.connected) process.send?.(message, () => {})
}

async function end(): Promise<void> {
  isEnding = true
  await plane?.stop()
  if (process.connected) process.disconnect()
}

// After a defect no process may remain.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exitCode = 1
  if (!isEnding) void end()
})
process.on('SIGTERM', () => void end())
process.on('SIGINT', () => void end())
process.on('disconnect', () => {
  // The launcher has exited: a cluster in the foreground, or one that is not ready, stops.
  if (!options.detach || !isReady) void end()
})
// The launcher may have exited while this program was being loaded.
if (!process.connected) isEnding = true

try {
  if (!isEnding)
    plane = await createControlPlane(options, (sentence) => report({ kind: 'step', sentence }))
  if (isEnding) await plane?.stop()
  else {
    await plane?.start()
    isReady = true
    report({ kind: 'ready' })
    // The channel to a command in the foreground would keep this process alive.
    await plane?.stopped
    if (process.connected) process.disconnect()
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  await plane?.stop()
  if (!isEnding) {
    report({ kind: 'failed', message: messageOf(error) })
    process.exitCode = 1
  }
  if (process.connected) process.disconnect()
}
