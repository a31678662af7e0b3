/** The synchronizer process: environment in, signals handled, out by emptying the event loop. */
import { EnvError } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startSynchronizer } from './start.ts'

const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())
process.once('SIGINT', () => stopping.abort())

try {
  const synchronizer = await startSynchronizer(envToConfig(process.env), {
    signal: stopping.signal,
  })
  const stopped = new Promise<void>((resolve) => {
    if (stopping.signal.aborted) resolve()
    stopping.signal.addEventListener('abort', () => resolve())
  })
  try {
    await Promise.race([stopped, synchronizer.finished])
  } finally {
    await synchronizer[Symbol.asyncDispose]()
  }
} catch (error) {
  // Told to stop while it waited for Redis: that is no failure.
  if (!stopping.signal.aborted) {
    const text =
      error instanceof EnvError ? error.message : error instanceof Error ? error.stack : error
    process.stderr.write(`${String(text)}\n`)
    process.exitCode = 1
  }
}
