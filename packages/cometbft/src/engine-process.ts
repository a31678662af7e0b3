/**
 * The engine as a process that belongs to this one: started again whenever it ends, which it does when it loses its
 * application. An engine that this process left when it was killed ends by itself, and holds its files until then.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '@quorumscan/base'

export type EngineProcess = AsyncDisposable & {
  /** Ends it; it is started again with what it is told then. */
  restart(): void
  /** Null while it does not run. */
  pid(): number | null
}

/** Starts an engine; may let it wait, until the signal at the latest. */
export type SpawnEngine = (start: () => ChildProcess, signal: AbortSignal) => Promise<ChildProcess>

/** From one end to the next start; doubled each time until it has lived for a while. */
const RESTART_MS_MIN = 500
const RESTART_MS_MAX = 30_000
/** An engine that lived for so long has done its work. */
const LIVED_MS = 10_000
/** To write its files; then it is ended by force. */
const STOP_MS = 10_000

/** Starts the engine at once, and goes on until it is disposed of. */
export function keepEngine(options: {
  readonly program: string
  readonly home: string
  /** Whether what it prints goes where this process prints. */
  readonly isHeard: boolean
  /** Told before each start: writes what the engine reads. */
  readonly prepare: () => Promise<void>
  readonly spawnEngine?: SpawnEngine | undefined
  readonly clock: Clock
  readonly onEnd: (how: string) => void
}): EngineProcess {
  const { clock, spawnEngine = async (start) => start() } = options
  const closing = new AbortController()
  let engine: ChildProcess | null = null

  const stop = async (running: ChildProcess): Promise<void> => {
    const ended = new AbortController()
    running.once('exit', () => ended.abort())
    running.kill('SIGTERM')
    // One that is paused hears nothing but this.
    await clock.delay(STOP_MS, ended.signal).then(
      () => running.kill('SIGKILL'),
      () => {}, // It has ended.
    )
  }
  const live = async (): Promise<string> => {
    await options.prepare()
    if (closing.signal.aborted) return 'not started'
    const output = options.isHeard ? 'inherit' : 'ignore'
    const start = () =>
      spawn(options.program, ['start', '--home', options.home], {
        stdio: ['ignore', output, output],
      })
    const running = await spawnEngine(start, closing.signal)
    engine = running
    try {
      const [code, signal] = await once(running, 'exit')
      return String(signal ?? code)
    } finally {
      engine = null
    }
  }
  const run = async (): Promise<void> => {
    let delayMs = RESTART_MS_MIN
    while (!closing.signal.aborted) {
      const startedMs = clock.monotonicMs()
      const how = await live().catch((error: unknown) => String(error))
      if (closing.signal.aborted) return
      options.onEnd(how)
      if (clock.monotonicMs() - startedMs > LIVED_MS) delayMs = RESTART_MS_MIN
      await clock.delay(delayMs, closing.signal).catch(() => {}) // Closing: the loop ends.
      delayMs = Math.min(RESTART_MS_MAX, 2 * delayMs)
    }
  }
  const running = run()

  return {
    restart() {
      if (engine !== null) void stop(engine)
    },
    pid: () => engine?.pid ?? null,
    async [Symbol.asyncDispose]() {
      closing.abort()
      if (engine !== null) await stop(engine)
      await running
    },
  }
}
