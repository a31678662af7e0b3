/**
 * Owns processes: starts each in a process group of its own, remembers it on disk at once, signals it,
 * and sees it end; takes over those of a predecessor that crashed. Starts nothing again on its own: it tells
 * whoever does. Knows nothing about what the processes are, and needs no room on the disk.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { type Clock, waitFor, writeLossily } from '@quorumscan/base'
import { CommandError, readOwnJson, writeOwnJson } from '@quorumscan/runtime'
import {
  findByEnvironment,
  identityOf,
  leaderOf,
  type ProcessIdentity,
  type ProcessState,
  type SignalScope,
  signalProcess,
  stateOf,
} from './process-identity.ts'

export type { SignalScope } from './process-identity.ts'

export type ProcessSpec = {
  /** Unique within the cluster, e.g. `sv-1` or `sv-1.redis`. */
  readonly id: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null: its supervisor writes what it says to its own output. */
  readonly logFile: string | null
}

/** Present in the environment of every process of a cluster; the value is the data directory. */
const MARKER_VARIABLE = 'QUORUMSCAN_CLUSTER'
/** A log file this long becomes the previous one (`.1`): a restart loop fills no disk. */
const LOG_BYTES_MAX = 16 * 2 ** 20
/** What of the environment makes a process another one: ours, but not the faults, which change while it runs. */
const SETTING = /^QS_(?!FAULTS$)/
/** How soon the end of a process that is no child of ours is seen. */
const ADOPTED_CHECK_MS = 50
/** A signalled process is gone from the process table within milliseconds; this is a machine under load. */
const KILL_TIMEOUT_MS = 10_000

type Running = {
  readonly spec: ProcessSpec
  readonly identity: ProcessIdentity
  /** Whether it was told to end. */
  isTold: boolean
  /** Resolves when the process has ended and was reaped. */
  readonly ended: Promise<void>
}

/** What is on disk of a running process. */
type Recorded = ProcessIdentity & { readonly id: string; readonly start: string }

/** How the processes of one data directory are recorded and recognised. */
export type ProcessRecord = {
  /** Where the running processes are recorded. */
  readonly recordFile: string
  /** Value of `MARKER_VARIABLE`. */
  readonly marker: string
  readonly clock: Clock
}

export type SupervisorOptions = ProcessRecord & {
  /** Receives the id of every process that exited unexpectedly, and how it exited. */
  readonly onEnd?: (id: string, how: string) => void
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #runningById = new Map<string, Running>()
  #isRecorded = true

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /**
   * Starts a process that is not running.
   *
   * @throws {CommandError} If it cannot be started, e.g. because there is no such command.
   */
  async start(spec: ProcessSpec): Promise<void> {
    if (this.#runningById.has(spec.id)) throw new CommandError(`${spec.id} runs already`)
    const log = spec.logFile === null ? null : openLog(spec.logFile)
    const output = spec.logFile === null ? 'pipe' : (log ?? 'ignore')
    const child = spawn(spec.command, [...spec.args], {
      env: { ...spec.env, [MARKER_VARIABLE]: this.#options.marker },
      detached: true,
      stdio: ['ignore', output, output],
    })
    if (log !== null) closeSync(log)
    // Not handed down: it would stand still where nobody reads, and Redis with it, which then hears no signal.
    for (const said of [child.stdout, child.stderr])
      if (said !== null) createInterface(said).on('line', (line) => writeLossily(`${line}\n`))
    if (child.pid === undefined) {
      const reason = await new Promise((resolve) => child.once('error', resolve))
      throw new CommandError(`${spec.id} could not be started: ${String(reason)}`)
    }
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
    })
    const identity = identityOf(child.pid)
    // It ended before anybody could look: an end like any other.
    if (identity === null) return void exited.then((how) => this.#options.onEnd?.(spec.id, how))
    this.#own(spec, identity, exited)
    this.#record()
  }

  /**
   * Takes over those of these processes that an earlier supervisor of the same cluster left running, if
   * they were started as they would be now. Returns how many.
   */
  adopt(specs: readonly ProcessSpec[]): number {
    const { recordFile, clock } = this.#options
    const recorded = (readOwnJson(recordFile) ?? []) as readonly Recorded[]
    const found = recorded.flatMap(({ id, start, ...identity }) => {
      const spec = specs.find((one) => one.id === id && startOf(one) === start)
      return spec === undefined || stateOf(identity) === 'gone' ? [] : [{ spec, identity }]
    })
    const untilGone = async (identity: ProcessIdentity) => {
      while (stateOf(identity) !== 'gone') await clock.delay(ADOPTED_CHECK_MS)
      return 'nobody saw how'
    }
    for (const { spec, identity } of found) this.#own(spec, identity, untilGone(identity))
    return found.length
  }

  /** Ends what an earlier supervisor of the same cluster left running and what was not taken over. */
  async endOthers(): Promise<number> {
    const own = new Set([...this.#runningById.values()].map(({ identity }) => identity.pid))
    const count = await endLeftovers(this.#options, own)
    this.#record()
    return count
  }

  /** @returns null while it does not run. */
  pid(id: string): number | null {
    return this.#runningById.get(id)?.identity.pid ?? null
  }

  state(id: string): ProcessState {
    const running = this.#runningById.get(id)
    return running === undefined ? 'gone' : stateOf(running.identity)
  }

  /** SIGSTOP; returns once the process stands. Does nothing to one that does not run. */
  async pause(id: string, scope: SignalScope = 'group'): Promise<void> {
    await this.#signalWhile('running', id, 'SIGSTOP', scope)
  }

  /** SIGCONT. */
  async resume(id: string, scope: SignalScope = 'group'): Promise<void> {
    await this.#signalWhile('stopped', id, 'SIGCONT', scope)
  }

  /** SIGKILL to the group; returns once the process is gone. A paused one dies too. */
  async kill(id: string): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    running.isTold = true
    signalProcess(running.identity, 'SIGKILL')
    await running.ended
  }

  /** SIGTERM, and SIGKILL if that did not end it within `graceMs`. Wakes a paused process for it. */
  async stop(id: string, graceMs: number): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    const abort = new AbortController()
    running.isTold = true
    signalProcess(running.identity, 'SIGTERM')
    signalProcess(running.identity, 'SIGCONT')
    const grace = this.#options.clock.delay(graceMs, abort.signal).then(
      () => signalProcess(running.identity, 'SIGKILL'),
      () => {}, // It ended in time.
    )
    await running.ended
    abort.abort()
    await grace
  }

  /** Moves full log files of running processes aside; where there is no room for that, empties them. */
  boundLogs(): void {
    for (const { spec } of this.#runningById.values())
      if (spec.logFile !== null) boundLog(spec.logFile)
    if (!this.#isRecorded) this.#record()
  }

  #own(spec: ProcessSpec, identity: ProcessIdentity, gone: Promise<string>): void {
    const running: Running = { spec, identity, isTold: false, ended: Promise.resolve() }
    const ended = gone.then((how) => {
      this.#runningById.delete(spec.id)
      this.#record()
      if (!running.isTold) this.#options.onEnd?.(spec.id, how)
    })
    this.#runningById.set(spec.id, Object.assign(running, { ended }))
  }

  /** Sends the signal, and waits until the process has left this state. */
  async #signalWhile(
    left: ProcessState,
    id: string,
    signal: NodeJS.Signals,
    scope: SignalScope,
  ): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    signalProcess(running.identity, signal, scope)
    await waitFor(() => stateOf(running.identity) !== left || undefined, {
      clock: this.#options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 5,
      what: `${id} to take ${signal}`,
    })
  }

  /** On a full disk it is done later: until then the next supervisor knows processes by their environment. */
  #record(): void {
    const recorded = [...this.#runningById.values()].map(
      ({ spec, identity }): Recorded => ({ id: spec.id, start: startOf(spec), ...identity }),
    )
    try {
      writeOwnJson(this.#options.recordFile, recorded)
      this.#isRecorded = true
    } catch {
      this.#isRecorded = false
    }
  }
}

/** The ids of the processes that are recorded there and run. */
export function runningRecorded(recordFile: string): readonly string[] {
  const recorded = (readOwnJson(recordFile) ?? []) as readonly Recorded[]
  return recorded.filter((one) => stateOf(one) !== 'gone').map(({ id }) => id)
}

/**
 * Kills what an earlier supervisor of the same cluster left running, and returns how many that were.
 * A pid that belongs to another process by now is left alone, and so is what the excepted have started.
 */
export async function endLeftovers(
  options: ProcessRecord,
  exceptPids: ReadonlySet<number> = new Set(),
): Promise<number> {
  const recorded = (readOwnJson(options.recordFile) ?? []) as ProcessIdentity[]
  const marked = findByEnvironment(MARKER_VARIABLE, options.marker)
  const byPid = new Map([...recorded, ...marked].map((identity) => [identity.pid, identity]))
  const alive = [...byPid.values()].filter(
    (identity) =>
      !exceptPids.has(leaderOf(identity.pid) ?? identity.pid) && stateOf(identity) !== 'gone',
  )
  for (const identity of alive) signalProcess(identity, 'SIGKILL')
  for (const identity of alive)
    await waitFor(() => stateOf(identity) === 'gone' || undefined, {
      clock: options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 10,
      what: `the leftover process ${identity.pid} to end`,
    })
  return alive.length
}

/** Tells a process that would be started in another way, e.g. on another port, from one that runs. */
function startOf({ command, args, env }: ProcessSpec): string {
  const settings = Object.entries(env).filter(([name]) => SETTING.test(name))
  const text = JSON.stringify([command, args, settings.sort()])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Empties a log that is too long; what it held stays beside it. */
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
    // Where nothing can be changed nothing is written, either.
  }
}

/** Null where there can be no log: a process that says nothing is better than none. */
function openLog(path: string): number | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX)
      renameSync(path, `${path}.1`)
    return openSync(path, 'a', 0o600)
  } catch {
    return null
  }
}
