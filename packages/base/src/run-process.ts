/** The life of a process: signals handled, out by emptying the event loop. */
import { inspect } from 'node:util'
import { CONFIGURATION_EXIT, EnvError } from './env.ts'

export type Running = AsyncDisposable & {
  /** Settles when the process cannot go on. */
  readonly failed?: Promise<unknown>
}

/** A line for a full disk, or for a pipe that nobody reads, is lost; it does not end the process. Once. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Starts, stops in order when told to, also while starting, and reports why it could not. */
export async function runProcess(start: (signal: AbortSignal) => Promise<Running>): Promise<void> {
  surviveLostOutput()
  const stopping = new AbortController()
  try {
    const starting = start(stopping.signal)
    const stop = () => {
      if (stopping.signal.aborted) return
      stopping.abort()
      starting.then(
        (running) => running[Symbol.asyncDispose](),
        () => {}, // Reported below.
      )
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    const { failed } = await starting
    const giveUp = (reason: unknown) => {
      if (stopping.signal.aborted) return
      report(reason)
      stop()
    }
    failed?.then(giveUp, giveUp)
  } catch (error) {
    if (!stopping.signal.aborted) report(error)
  }
}

function report(error: unknown): void {
  const isConfiguration = error instanceof EnvError
  process.stderr.write(`${isConfiguration ? error.message : wordsOf(error)}\n`)
  process.exitCode = isConfiguration ? CONFIGURATION_EXIT : 1
}

/** Libraries also reject with objects that are no errors: `String` says nothing of these. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.stack ?? String(error)
  return typeof error === 'string' ? error : inspect(error)
}
