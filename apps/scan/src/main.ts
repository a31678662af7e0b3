/** The scan process: environment in, signals handled, out by emptying the event loop. */
import { EnvError } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startScan } from './start.ts'

try {
  const scan = await startScan(envToConfig(process.env))
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    void scan[Symbol.asyncDispose]()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
} catch (error) {
  const text =
    error instanceof EnvError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${String(text)}\n`)
  process.exitCode = 1
}
