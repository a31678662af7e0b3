/**
 * The engine as a process of this one. It is restarted whenever it exits, which it does when it loses its application. If
 * this process is killed, its engine exits by itself, and holds its files until then.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Clock, succeeds } from '@quorumscan/base'
import { keepRunning } from '@quorumscan/runtime'

/** Starts an engine; may let it wait, until the signal at the latest. */
export type SpawnEngine = (start: () => ChildProcess, signal: AbortSignal) => Promise<ChildProcess>

const RESTART = { minMs: 500, maxMs: 30_000 }
const ENGINE = 'engine'
/** The time for the engine to write its files; then it is killed. */
const STOP_MS = 10_000

/** Starts the engine at once, and restarts it until it is disposed of. */
export function superviseEngine(options: {
  readonly program: string
  readonly home: string
  /** Receives each line that it writes. */
  readonly onLine: (line: string, isStopping: boolean) => void
  /** Called before each start: writes the files that the engine reads. */
  readonly prepare: () => Promise<void>
  readonly spawnEngine?: SpawnEngine | undefined
  readonly clock: Clock
  readonly onExit: (how: string) => void
}) {
  const { clock, spawnEngine = async (start) => start() } = options
  const closing = new AbortController()
  let engine: ChildProcess | null = null
  const stopping = new WeakSet<ChildProcess>()

  const stop = async (running: ChildProcess): Promise<void> => {
    stopping.add(running)
    const ended = new AbortController()
    running.once('exit', () => ended.abort())
    running.kill('SIGTERM')
    // A paused process receives no other signal.
    if (await succeeds(clock.delay(STOP_MS, ended.signal))) running.kill('SIGKILL')
  }
  const start = async (): Promise<void> => {
    await options.prepare()
    if (closing.signal.aborted) return
    const running = await spawnEngine(
      () =>
        spawn(options.program, ['start', '--home', options.home], {
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      closing.signal,
    )
    engine = running
    for (const stream of [running.stdout, running.stderr])
      if (stream !== null)
        createInterface(stream).on('line', (line) => options.onLine(line, stopping.has(running)))
    void once(running, 'exit')
      .then(([code, signal]) => String(signal ?? code), String)
      .then((how) => {
        engine = null
        restarts.recordExit(ENGINE, how)
      })
  }
  const onExit = (_: string, how: string) => options.onExit(how)
  const restarts = keepRunning({ clock, policy: RESTART, start, onExit })
  restarts.begin(ENGINE)

  return {
    /** Ends it. It is started again, with new files. */
    restart(): void {
      if (engine !== null) void stop(engine)
    },
    /** Null while it does not run. */
    pid: () => engine?.pid ?? null,
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort()
      await restarts[Symbol.asyncDispose]()
      if (engine !== null) await stop(engine)
    },
  }
}

export type Engine = ReturnType<typeof superviseEngine>
