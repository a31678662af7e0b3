/** The life of a process: handles signals, and exits by an empty event loop. */
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { CONFIGURATION_EXIT, EnvError } from './env.ts'
import { startHeartbeat } from './heartbeat.ts'
import { hasTerminal, requestReload } from './reload.ts'

export type Running = AsyncDisposable & {
  /** Settles when the process cannot continue. */
  readonly failed?: Promise<unknown>
}

/**
 * Writes to stdout without waiting. Text that a full disk or a full pipe does not accept is lost.
 */
export function writeLossily(text: string): void {
  try {
    // `process.stdout` makes a pipe non-blocking: it refuses text that does not fit.
    writeSync(process.stdout.fd, text)
  } catch {
    // No other output exists.
  }
}

/** Output to a full disk, or to a closed pipe, is lost and does not end the process. Call it once. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Starts a process. Stops it in order on a signal, also while it starts. Reports why it could not start. At SIGHUP a process
 * of a terminal stops, and a service reads its files again.
 */
export async function runProcess(start: (signal: AbortSignal) => Promise<Running>): Promise<void> {
  surviveLostOutput()
  startHeartbeat()
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
    process.on('SIGHUP', hasTerminal() ? stop : requestReload)
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
  process.stderr.write(`${isConfiguration ? error.message : describeError(error)}\n`)
  process.exitCode = isConfiguration ? CONFIGURATION_EXIT : 1
}

/** Errors whose sentence is written for an operator: where they were thrown in the code says nothing more. */
const FOR_OPERATORS = ['ScanError', 'CommandError', 'UsageError']

/** The sentence of an error, with those of its causes. */
function sentenceOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error ? `${error.message} (${sentenceOf(cause)})` : error.message
}

/** Libraries also reject with objects other than errors, for which `String` is useless. */
function describeError(error: unknown): string {
  if (error instanceof Error && FOR_OPERATORS.includes(error.name)) return sentenceOf(error)
  if (error instanceof Error) return error.stack ?? String(error)
  return typeof error === 'string' ? error : inspect(error)
}
