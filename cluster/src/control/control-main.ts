/** Entry of the control plane's process. `launch.ts` starts it and listens to what it sends. */
import { surviveLostOutput } from '@quorumscan/base'
import { messageOf } from '@quorumscan/runtime'
import type { ControlOptions } from './control-options.ts'
import { type ControlPlane, createControlPlane } from './control-plane.ts'

/** What the control plane tells the process that launched it. */
export type LaunchMessage =
  | { readonly kind: 'step'; readonly sentence: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }

const options = JSON.parse(process.argv[2] ?? '') as ControlOptions
let plane: ControlPlane | null = null
let isReady = false
let isEnding = false
surviveLostOutput()

function tell(message: LaunchMessage): void {
  // With a callback, a launcher that has just gone is no uncaught error; 'disconnect' tells of it.
  if (process.connected) process.send?.(message, () => {})
}

async function end(): Promise<void> {
  isEnding = true
  await plane?.stop()
  if (process.connected) process.disconnect()
}

// A bug, or a world that we did not think of: nothing may be left running because of it.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exitCode = 1
  if (!isEnding) void end()
})
process.on('SIGTERM', () => void end())
process.on('SIGINT', () => void end())
process.on('disconnect', () => {
  // The command that started us is gone: a cluster in the foreground, or half started, goes with it.
  if (!options.detach || !isReady) void end()
})
// It may have gone while this program was being loaded, when nobody listened.
if (!process.connected) isEnding = true

try {
  if (!isEnding)
    plane = await createControlPlane(options, (sentence) => tell({ kind: 'step', sentence }))
  if (isEnding) await plane?.stop()
  else {
    await plane?.start()
    isReady = true
    tell({ kind: 'ready' })
    // By a command, too: the channel to a command in the foreground would hold this process.
    await plane?.stopped
    if (process.connected) process.disconnect()
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  await plane?.stop()
  if (!isEnding) {
    tell({ kind: 'failed', message: messageOf(error) })
    process.exitCode = 1
  }
  if (process.connected) process.disconnect()
}
