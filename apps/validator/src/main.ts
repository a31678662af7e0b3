/** The validator process: environment in, signals handled, out by emptying the event loop. */
import { EnvError } from '@quorumscan/base'
import { envToConfig } from './config.ts'
import { startValidator } from './start.ts'

try {
  const validator = await startValidator(envToConfig(process.env))
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    void validator[Symbol.asyncDispose]()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
} catch (error) {
  const text =
    error instanceof EnvError ? error.message : error instanceof Error ? error.stack : error
  process.stderr.write(`${String(text)}\n`)
  process.exitCode = 1
}
