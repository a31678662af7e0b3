/**
 * Owns processes: starts each in a process group of its own, remembers it on disk at once, signals it,
 * and sees it end. Starts nothing again on its own, and knows nothing about what the processes are.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, waitFor } from '@quorumscan/base'
import { ClusterError } from './cluster-error.ts'
import { readJson, writeFileAtomic } from './data-directory.ts'
import {
  findByEnvironment,
  identityOf,
  type ProcessIdentity,
  type ProcessState,
  signalGroup,
  stateOf,
} from './process-identity.ts'

export type ProcessSpec = {
  /** Unique within the cluster, e.g. `sv-1` or `sv-1.redis`. */
  readonly id: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logFile: string
}

/** Present in the environment of every process of a cluster; the value is the data directory. */
const MARKER_VARIABLE = 'QUORUMSCAN_CLUSTER'
/** A log file this long becomes the previous one (`.1`): a restart loop fills no disk. */
const LOG_BYTES_MAX = 16 * 2 ** 20
/** A signalled process is gone from the process table within milliseconds; this is a machine under load. */
const KILL_TIMEOUT_MS = 10_000

type Running = {
  readonly spec: ProcessSpec
  readonly child: ChildProcess
  readonly identity: ProcessIdentity
  /** Resolves when the process has ended and was reaped. */
  readonly ended: Promise<void>
}

export type SupervisorOptions = {
  /** Where the running processes are recorded. */
  readonly recordFile: string
  /** Value of `MARKER_VARIABLE`. */
  readonly marker: string
  readonly clock: Clock
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #runningById = new Map<string, Running>()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /**
   * Starts a process that is not running.
   *
   * @throws {ClusterError} If it cannot be started, e.g. because there is no such command.
   */
  async start(spec: ProcessSpec): Promise<void> {
    if (this.#runningById.has(spec.id)) throw new ClusterError(`${spec.id} runs already`)
    const log = openLog(spec.logFile)
    const child = spawn(spec.command, [...spec.args], {
      env: { ...spec.env, [MARKER_VARIABLE]: this.#options.marker },
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    if (child.pid === undefined) {
      const reason = await new Promise((resolve) => child.once('error', resolve))
      throw new ClusterError(`${spec.id} could not be started: ${String(reason)}`)
    }
    const identity = identityOf(child.pid)
    if (identity === null) throw new ClusterError(`${spec.id} ended at once; see ${spec.logFile}`)
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        this.#runningById.delete(spec.id)
        this.#record()
        resolve()
      })
    })
    this.#runningById.set(spec.id, { spec, child, identity, ended })
    this.#record()
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
  async pause(id: string): Promise<void> {
    await this.#signalUntil(id, 'SIGSTOP', (state) => state !== 'running')
  }

  /** SIGCONT. */
  async resume(id: string): Promise<void> {
    await this.#signalUntil(id, 'SIGCONT', (state) => state !== 'stopped')
  }

  /** SIGKILL to the group; returns once the process is gone. A paused one dies too. */
  async kill(id: string): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    signalGroup(running.identity, 'SIGKILL')
    await running.ended
  }

  /** SIGTERM, and SIGKILL if that did not end it within `graceMs`. Wakes a paused process for it. */
  async stop(id: string, graceMs: number): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    const abort = new AbortController()
    signalGroup(running.identity, 'SIGTERM')
    signalGroup(running.identity, 'SIGCONT')
    const grace = this.#options.clock.delay(graceMs, abort.signal).then(
      () => signalGroup(running.identity, 'SIGKILL'),
      () => {}, // It ended in time.
    )
    await running.ended
    abort.abort()
    await grace
  }

  /** Moves full log files of running processes aside. */
  boundLogs(): void {
    for (const { spec } of this.#runningById.values()) {
      const size = statSync(spec.logFile, { throwIfNoEntry: false })?.size ?? 0
      if (size <= LOG_BYTES_MAX) continue
      // The process keeps its descriptor, opened to append: copy and empty instead of renaming.
      copyFileSync(spec.logFile, `${spec.logFile}.1`)
      truncateSync(spec.logFile)
    }
  }

  async #signalUntil(
    id: string,
    signal: NodeJS.Signals,
    isDone: (state: ProcessState) => boolean,
  ): Promise<void> {
    const running = this.#runningById.get(id)
    if (running === undefined) return
    signalGroup(running.identity, signal)
    await waitFor(() => (isDone(stateOf(running.identity)) ? true : undefined), {
      clock: this.#options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 5,
      what: `${id} to take ${signal}`,
    })
  }

  #record(): void {
    // The data directory may have been deleted under a running cluster; then there is nothing to keep.
    if (!existsSync(dirname(this.#options.recordFile))) return
    const identities = [...this.#runningById.values()].map((running) => running.identity)
    writeFileAtomic(this.#options.recordFile, JSON.stringify(identities))
  }
}

/**
 * Kills what an earlier supervisor of the same cluster left running, and returns how many that were.
 * A pid that belongs to another process by now is left alone.
 */
export async function endLeftovers(options: SupervisorOptions): Promise<number> {
  const recorded = (readJson(options.recordFile) ?? []) as ProcessIdentity[]
  const marked = findByEnvironment(MARKER_VARIABLE, options.marker)
  const byPid = new Map([...recorded, ...marked].map((identity) => [identity.pid, identity]))
  const alive = [...byPid.values()].filter((identity) => stateOf(identity) !== 'gone')
  for (const identity of alive) signalGroup(identity, 'SIGKILL')
  for (const identity of alive)
    await waitFor(() => (stateOf(identity) === 'gone' ? true : undefined), {
      clock: options.clock,
      timeoutMs: KILL_TIMEOUT_MS,
      intervalMs: 10,
      what: `the leftover process ${identity.pid} to end`,
    })
  return alive.length
}

function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    if (statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.1`)
  } catch {
    // No log yet.
  }
  return openSync(path, 'a', 0o600)
}
