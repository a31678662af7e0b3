/** The scan process: environment in, signals handled, out by emptying the event loop. */
import { EnvError } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startScan } from './start.ts'

let isStopping = false

try {
  const starting = startScan(envToConfig(process.env))
  // Handled from the beginning: a node that is told to stop while it starts stops in order, too.
  const stop = () => {
    if (isStopping) return
    isStopping = true
    starting.then(
      (scan) => scan[Symbol.asyncDispose](),
      () => {}, // Reported below.
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const { failed } = await starting
  void failed.then(() => {
    process.exitCode = 1
    stop()
  })
} catch (error) {
  const text =
    error instanceof EnvError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${String(text)}\n`)
  process.exitCode = 1
}
