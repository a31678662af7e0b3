/**
 * Owns processes: starts each in its own process group, records it on disk at once, signals it, and observes its exit.
 * Takes over the processes of a supervisor that crashed. Restarts nothing: it reports exits to its owner. Does not know
 * what the processes do, and works on a full disk.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import {
  afterDelay,
  type Clock,
  HEARTBEAT_VARIABLE,
  held,
  MARKER_VARIABLE,
  waitFor,
  withTimeout,
  writeLossily,
} from '@quorumscan/base'
import {
  CommandError,
  createSilence,
  readOwnJson,
  SILENT_MS_MAX,
  type Silence,
  writeOwnJson,
} from '@quorumscan/runtime'
import {
  findByDirectory,
  identityOf,
  leaderOf,
  type ProcessIdentity,
  type ProcessState,
  type SignalScope,
  signalProcess,
  stateOf,
} from './process-identity.ts'

/** A process to start. */
export type ProcessSpec = {
  /** Unique within the cluster, e.g. `sv-1` or `sv-1.redis`. */
  readonly id: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null: the supervisor receives the output of the process (`onLine`). */
  readonly logFile: string | null
  /** Whether the process shows that it works (`startHeartbeat`), if its supervisor ends silent ones. Default: no. */
  readonly hasHeartbeat?: boolean
}

/** The size at which a log file is moved to `.1`, so that a restart loop fills no disk. */
const LOG_BYTES_MAX = 16 * 2 ** 20
/** A process whose settings changed is not taken over. */
const SETTING = /^QS_/
/** The interval at which the supervisor checks whether a process that is not its child still runs. */
const ADOPTED_CHECK_MS = 50
/** A signalled process leaves the process table within milliseconds. This allows for a machine under load. */
const KILL_TIMEOUT_MS = 10_000
/** The kernel closes the output of an exited process within milliseconds. */
const CLOSE_TIMEOUT_MS = 10_000

type Running = {
  readonly spec: ProcessSpec
  readonly identity: ProcessIdentity
  /** Whether the supervisor has ended it. */
  isEnding: boolean
  readonly silence: Silence
  /** Why the supervisor ended it although nobody asked for that; null: it did not. */
  endedFor: string | null
  /** Resolves when the process has ended and was reaped. */
  readonly ended: Promise<void>
}

/** The record of a running process on disk. */
type Recorded = ProcessIdentity & { readonly id: string; readonly specHash: string }

/** How the processes of one data directory are recorded and recognised. */
export type ProcessRecord = {
  /** The file that lists the running processes. */
  readonly recordFile: string
  /** The value of `MARKER_VARIABLE`: the path of the data directory. */
  readonly marker: string
  readonly clock: Clock
}

export type SupervisorOptions = ProcessRecord & {
  /** Receives the id of every process that exited unexpectedly, and how it exited. */
  readonly onExit?: (id: string, how: string) => void
  /** Whether `endSilent` will be called. Default: no. */
  readonly endsSilent?: boolean
  /** Receives each line of a process without a log file. Default: it is copied to the output. */
  readonly onLine?: (id: string, line: string, from: 'stdout' | 'stderr') => void
}

/** The processes of one data directory, by their ids. One supervisor at a time. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #runningById = held(
    {
      owner: 'supervisor',
      name: 'child processes',
      kind: 'state',
      bound: 'one of each service and Redis',
    },
    new Map<string, Running>(),
  )
  readonly #errorsById = held(
    {
      owner: 'supervisor',
      name: 'last lines of processes',
      kind: 'state',
      bound: 'one of each service and Redis',
    },
    new Map<string, LastLine>(),
  )
  #isRecorded = true

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /**
   * Starts a process that is not running.
   *
   * @param variables - Of this start alone. They are no settings: the process is taken over whatever they were.
   * @throws {CommandError} If it cannot be started, e.g. because the command does not exist.
   */
  async start(spec: ProcessSpec, variables: ProcessSpec['env'] = {}): Promise<void> {
    if (this.#runningById.has(spec.id)) throw new CommandError(`${spec.id} already runs`)
    const { id, logFile } = spec
    const log = logFile === null ? null : openLog(logFile)
    const output = logFile === null ? 'pipe' : (log ?? 'ignore')
    const hasHeartbeat = spec.hasHeartbeat === true && this.#options.endsSilent === true
    const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', output, output]
    const child = spawn(spec.command, [...spec.args], {
      env: {
        ...spec.env,
        ...variables,
        [MARKER_VARIABLE]: this.#options.marker,
        ...(hasHeartbeat && { [HEARTBEAT_VARIABLE]: String(stdio.length) }),
      },
      detached: true,
      stdio: hasHeartbeat ? [...stdio, 'pipe'] : stdio,
    })
    // An error of the pipe is the end of the process, which is noticed.
    child.stdio[stdio.length]?.on('data', () => this.noteLife(id)).on('error', () => {})
    if (log !== null) closeSync(log)
    // Not inherited: a process whose output no program reads would block, and a blocked Redis handles no signal.
    const { onLine = (_, line) => writeLossily(`${line}\n`) } = this.#options
    for (const from of ['stdout', 'stderr'] as const) {
      const stream = child[from]
      if (stream !== null) createInterface(stream).on('line', (line) => onLine(id, line, from))
    }
    if (child.stderr !== null) this.#errorsById.set(id, noteLastLine(child.stderr))
    if (child.pid === undefined) {
      const reason = await new Promise((resolve) => child.once('error', resolve))
      throw new CommandError(`${id} could not be started: ${String(reason)}`)
    }
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
    })
    const identity = identityOf(child.pid)
    // It exited before its identity could be read: an unexpected exit like any other.
    if (identity === null) return void exited.then((how) => this.#options.onExit?.(id, how))
    this.#track(spec, identity, exited)
    this.#record()
  }

  /**
   * Takes over those of these processes that an earlier supervisor of the same data directory left running, if they were
   * started as they would be now. Returns how many.
   */
  adopt(specs: readonly ProcessSpec[]): number {
    const { recordFile, clock } = this.#options
    const untilGone = async (identity: ProcessIdentity) => {
      while (stateOf(identity) !== 'gone') await clock.delay(ADOPTED_CHECK_MS)
      return 'exit status unknown'
    }
    let count = 0
    for (const { id, specHash, ...identity } of runningIn(recordFile)) {
      const spec = specs.find((one) => one.id === id && hashOf(one) === specHash)
      if (spec === undefined) continue
      this.#track(spec, identity, untilGone(identity))
      count += 1
    }
    return count
  }

  /** Kills what an earlier supervisor of the same data directory left running and this one did not take over. */
  async endOthers(): Promise<number> {
    const own = new Set([...this.#runningById.values()].map(({ identity }) => identity.pid))
    const count = await endLeftovers(this.#options, own)
    this.#record()
    return count
  }

  /** Null while it does not run. */
  pid(id: string): number | null {
    return this.#runningById.get(id)?.identity.pid ?? null
  }

  /**
   * The last line that a process wrote to stderr, when it has closed it; null: none, or it writes to a log file. A process
   * that ends with the exit status of a wrong configuration writes the reason there.
   */
  async lastErrorLine(id: string): Promise<string | null> {
    const errors = this.#errorsById.get(id)
    if (errors === undefined) return null
    const bound = { clock: this.#options.clock, timeoutMs: CLOSE_TIMEOUT_MS }
    // A process that it started may keep the stream open.
    return await withTimeout(bound, () => errors.closed, errors.line)
  }

  state(id: string): ProcessState {
    const running = this.#runningById.get(id)
    return running === undefined ? 'gone' : stateOf(running.identity)
  }

  /** SIGSTOP; returns once the process has stopped. Does nothing to a process that does not run. */
  async pause(id: string, scope: SignalScope = 'group'): Promise<void> {
    await this.#signalWhile('running', id, 'SIGSTOP', scope)
  }

  /** SIGCONT. */
  async resume(id: string, scope: SignalScope = 'group'): Promise<void> {
    await this.#signalWhile('stopped', id, 'SIGCONT', scope)
  }

  /** SIGHUP to the process alone, which reads its files again. Does nothing to a process that does not run. */
  reload(id: string): void {
    const running = this.#runningById.get(id)
    if (running !== undefined) signalProcess(running.identity, 'SIGHUP', 'process')
  }

  /** SIGKILL to the group; returns once the process has exited, even from a pause. */
  async kill(id: string): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    running.isEnding = true
    signalProcess(running.identity, 'SIGKILL')
    await running.ended
  }

  /** SIGTERM, and SIGKILL if the process still runs after `graceMs`. Wakes a paused process. */
  async stop(id: string, graceMs: number): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    const abort = new AbortController()
    running.isEnding = true
    signalProcess(running.identity, 'SIGTERM')
    signalProcess(running.identity, 'SIGCONT')
    const bound = { clock: this.#options.clock, ms: graceMs, signal: abort.signal }
    const grace = afterDelay(bound, () => signalProcess(running.identity, 'SIGKILL'))
    await running.ended
    abort.abort()
    await grace
  }

  /** A process showed that it works. */
  noteLife(id: string): void {
    this.#runningById.get(id)?.silence.end()
  }

  /** Ends each process that was silent for too long, of those that were started with `hasHeartbeat` or are named here. */
  endSilent(others: ReadonlySet<string>): void {
    for (const [id, running] of this.#runningById) {
      if (running.spec.hasHeartbeat !== true && !others.has(id)) continue
      if (!running.silence.count() || running.isEnding || running.endedFor !== null) continue
      running.endedFor = `it hung: it showed no life for ${SILENT_MS_MAX / 1000} s, and was ended`
      signalProcess(running.identity, 'SIGKILL')
    }
  }

  /** Moves long log files of running processes to `.1`. Empties them where the disk has no room for that. */
  boundLogs(): void {
    for (const { spec } of this.#runningById.values())
      if (spec.logFile !== null) boundLog(spec.logFile)
    if (!this.#isRecorded) this.#record()
  }

  #track(spec: ProcessSpec, identity: ProcessIdentity, gone: Promise<string>): void {
    const running: Running = {
      spec,
      identity,
      isEnding: false,
      silence: createSilence(this.#options.clock),
      endedFor: null,
      ended: Promise.resolve(),
    }
    const ended = gone.then((how) => {
      this.#runningById.delete(spec.id)
      this.#record()
      if (!running.isEnding) this.#options.onExit?.(spec.id, running.endedFor ?? how)
    })
    this.#runningById.set(spec.id, Object.assign(running, { ended }))
  }

  /** Sends the signal, and waits until the process has left the given state. */
  async #signalWhile(left: ProcessState, id: string, signal: NodeJS.Signals, scope: SignalScope) {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    signalProcess(running.identity, signal, scope)
    await waitFor(() => stateOf(running.identity) !== left || undefined, {
      clock: this.#options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 5,
      what: `${id} to react to ${signal}`,
    })
  }

  /**
   * Writes the record. On a full disk the supervisor tries again later. Until then the next supervisor finds processes by
   * their environment.
   */
  #record(): void {
    const recorded = [...this.#runningById.values()].map(
      ({ spec, identity }): Recorded => ({ id: spec.id, specHash: hashOf(spec), ...identity }),
    )
    try {
      writeOwnJson(this.#options.recordFile, recorded)
      this.#isRecorded = true
    } catch {
      this.#isRecorded = false
    }
  }
}

type LastLine = { readonly line: () => string | null; readonly closed: Promise<string | null> }

function noteLastLine(stream: Readable): LastLine {
  let last: string | null = null
  const lines = createInterface(stream).on('line', (line) => {
    if (line.trim() !== '') last = line
  })
  const closed = once(lines, 'close').then(() => last)
  return { line: () => last, closed }
}

/** The recorded processes that still run. */
export function runningIn(recordFile: string): readonly Recorded[] {
  const recorded = (readOwnJson(recordFile) ?? []) as readonly Recorded[]
  return recorded.filter((one) => stateOf(one) !== 'gone')
}

/**
 * Kills what an earlier supervisor of the same data directory left running, and returns how many processes that were. A pid
 * that now belongs to another process is not touched, nor are processes that an excepted one has started.
 */
export async function endLeftovers(
  options: ProcessRecord,
  exceptPids: ReadonlySet<number> = new Set(),
): Promise<number> {
  const marked = findByDirectory(MARKER_VARIABLE, options.marker)
  const byPid = new Map([...runningIn(options.recordFile), ...marked].map((one) => [one.pid, one]))
  const alive = [...byPid.values()].filter(({ pid }) => !exceptPids.has(leaderOf(pid) ?? pid))
  for (const identity of alive) signalProcess(identity, 'SIGKILL')
  for (const identity of alive)
    await waitFor(() => stateOf(identity) === 'gone' || undefined, {
      clock: options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 10,
      what: `the leftover process ${identity.pid} to exit`,
    })
  return alive.length
}

/** Hashes the command, the arguments and the settings, so that it differs if e.g. a port does. */
function hashOf({ command, args, env }: ProcessSpec): string {
  const settings = Object.entries(env).filter(([name]) => SETTING.test(name))
  const text = JSON.stringify([command, args, settings.sort()])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Empties a log file that is too long, and keeps its text in `.1`. */
export function boundLog(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= LOG_BYTES_MAX) return
  // The process keeps its descriptor, opened to append: copy and empty instead of renaming.
  try {
    copyFileSync(path, `${path}.1`)
  } catch {
    rmSync(`${path}.1`, { force: true })
  }
  try {
    truncateSync(path)
  } catch {
    // On a file system that is read-only the log file does not grow either.
  }
}

/** Null where no log file can be written: a process without one is better than no process. */
function openLog(path: string): number | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    boundLog(path)
    return openSync(path, 'a', 0o600)
  } catch {
    return null
  }
}
