/**
 * The services of a cluster as processes: starts each with its Redis, waits until it is up, watches how it
 * is, and lets one thing at a time be done to it. What is broken on purpose it is told by `faultsOf`.
 */
import { readFileSync, rmSync } from 'node:fs'
import { type Clock, waitFor } from '@quorumscan/base'
import { ClusterError } from './cluster-error.ts'
import { writeFileAtomic } from './data-directory.ts'
import { askAgent } from './faults/agent-client.ts'
import { type FaultSpec, processFaultsOf } from './faults/fault-spec.ts'
import { limitMemory } from './faults/redis-memory.ts'
import { answersByQuorum, askHealth, type Health, isRedisReady } from './probe.ts'
import type { ServiceStatus } from './status.ts'
import type { Supervisor } from './supervisor.ts'
import type { Service } from './topology.ts'
import { deleteReplica } from './wipe.ts'

/** A cold start of an app under full load of the machine, replay of a long log excluded. */
const READY_TIMEOUT_MS = 60_000
/** Requests in flight end within the longest wait of a request (the SDK's 10 s) or not at all. */
const STOP_GRACE_MS = 12_000
const POLL_INTERVAL_MS = 500
const READY_INTERVAL_MS = 50
const LOG_CHECK_INTERVAL_MS = 30_000
/** Lines of a log that an error shows. */
const LOG_TAIL_LINES = 15

type Watched = { health: Health | null; wasUp: boolean }

export type ServiceRunnerOptions = {
  readonly services: readonly Service[]
  readonly supervisor: Supervisor
  readonly clock: Clock
  /** The faults in force on a service, by its name. */
  readonly faultsOf: (name: string) => readonly FaultSpec[]
  /** Where a process writes what it says, by its id. */
  readonly logFileOf: (id: string) => string
}

export class ServiceRunner {
  readonly #options: ServiceRunnerOptions
  readonly #clock: Clock
  readonly #supervisor: Supervisor
  readonly #stopping = new AbortController()
  readonly #watchedByName = new Map<string, Watched>()
  readonly #lastWorkByName = new Map<string, Promise<unknown>>()
  /** Whose process does not know yet what faults it has. */
  readonly #untold = new Set<string>()

  constructor(options: ServiceRunnerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#supervisor = options.supervisor
  }

  /** Starts the process, unless it runs already or is killed on purpose. */
  async startOrTakeOver(service: Service): Promise<void> {
    if (this.#supervisor.pid(service.app.id) !== null || this.isKilled(service, false))
      this.#watchedByName.set(service.name, { health: null, wasUp: false })
    else await this.startApp(service)
  }

  /** Starts the process with the faults in force on it. Does not wait until it is up. */
  async startApp(service: Service): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    this.#watchedByName.set(service.name, { health: null, wasUp: false })
    const faults = JSON.stringify(processFaultsOf(this.#options.faultsOf(service.name)))
    this.#untold.delete(service.name)
    await this.#supervisor.start({
      ...service.app,
      env: { ...service.app.env, QS_FAULTS: faults },
    })
  }

  /**
   * Starts the Redis of a service, if it does not run, and waits until it answers.
   *
   * @throws {ClusterError} If it ends meanwhile; the end of its log is shown.
   */
  async startRedis(service: Service): Promise<void> {
    const clock = this.#clock
    if (this.#supervisor.pid(service.redis.id) !== null) return
    this.#stopping.signal.throwIfAborted()
    writeFileAtomic(service.redisConfig.file, service.redisConfig.text)
    await this.#supervisor.start(service.redis)
    await waitFor(
      async () => {
        this.assertRunning(service.redis.id)
        return (await isRedisReady(service.redisAddress)) ? true : undefined
      },
      {
        clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `the Redis of ${service.name}`,
        signal: this.#stopping.signal,
      },
    )
    if (this.#options.faultsOf(service.name).some(({ kind }) => kind === 'memory'))
      await limitMemory(service.redisAddress.socketPath, true)
  }

  /** Afterwards its Redis runs. A node's goes with its files, which also mends a broken one. */
  async deleteReplica(service: Service): Promise<void> {
    if (service.kind === 'scan') {
      await this.#supervisor.kill(service.redis.id)
      rmSync(service.redisDirectory, { recursive: true, force: true })
    }
    await this.startRedis(service)
    if (service.kind === 'validator') await deleteReplica(service.redisAddress.socketPath)
  }

  /**
   * Waits until the service says that it is ready.
   *
   * @throws {ClusterError} If its process ends meanwhile.
   */
  async untilUp(service: Service): Promise<void> {
    await waitFor(
      async () => {
        this.assertRunning(service.app.id)
        await this.ask(service)
        return this.stateOf(service).state === 'up' ? true : undefined
      },
      {
        clock: this.#clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `${service.name} to be ready`,
        signal: this.#stopping.signal,
      },
    )
  }

  /** As `untilUp`, but a process that lives and is late is fine: `status` tells how it goes on. */
  async untilUpOrLate(service: Service): Promise<void> {
    await this.untilUp(service).catch((error: unknown) => {
      if (error instanceof ClusterError) throw error
    })
  }

  /** Ready is not enough for a person: the validator must have reached the nodes, too. */
  async untilQuorum(): Promise<void> {
    const validator = this.service('validator')
    await waitFor(
      async () => {
        this.assertRunning(validator.app.id)
        return (await answersByQuorum(validator.url)) ? true : undefined
      },
      {
        clock: this.#clock,
        timeoutMs: READY_TIMEOUT_MS,
        what: 'the validator to get an answer that enough nodes agree on',
        signal: this.#stopping.signal,
      },
    )
  }

  /** Asks the service how it is, again and again, until the cluster stops. */
  async watch(service: Service): Promise<void> {
    const clock = this.#clock
    const { signal } = this.#stopping
    while (!signal.aborted) {
      if (this.#supervisor.state(service.app.id) === 'running') {
        if (this.#untold.has(service.name)) await this.tellFaults(service)
        await this.ask(service)
      }
      await clock.delay(POLL_INTERVAL_MS, signal).catch(() => {}) // The loop's condition ends it.
    }
  }

  /** Asks the service now how it is. */
  async ask(service: Service): Promise<void> {
    const watched = this.#watchedByName.get(service.name)
    const health = await askHealth(service.url)
    if (watched === undefined) return
    watched.health = health
    if (health?.state === 'up') watched.wasUp = true
  }

  /** Keeps log files short until the cluster stops. */
  async boundLogs(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#supervisor.boundLogs()
      await this.#clock.delay(LOG_CHECK_INTERVAL_MS, signal).catch(() => {}) // As above.
    }
  }

  /** A process that cannot be told now is told as soon as it can. */
  async tellFaults(service: Service): Promise<void> {
    this.#untold.add(service.name)
    if (this.#supervisor.state(service.app.id) !== 'running') return
    const faults = processFaultsOf(this.#options.faultsOf(service.name))
    try {
      await askAgent(service.faultSocket, '/faults', faults)
      this.#untold.delete(service.name)
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error
    }
  }

  /** From what was last heard and what the processes are: asks nobody. */
  stateOf(service: Service): Pick<ServiceStatus, 'state' | 'detail'> {
    const app = this.#supervisor.state(service.app.id)
    const redis = this.#supervisor.state(service.redis.id)
    if (app === 'gone') return { state: 'down', detail: null }
    if (app === 'stopped') return { state: 'paused', detail: null }
    if (redis === 'gone') return { state: 'down', detail: 'its Redis is down' }
    if (redis === 'stopped') return { state: 'paused', detail: 'its Redis is paused' }
    const watched = this.#watchedByName.get(service.name)
    if (watched?.health != null)
      return { state: watched.health.state, detail: watched.health.detail }
    return watched?.wasUp
      ? { state: 'catching-up', detail: 'it does not answer' }
      : { state: 'starting', detail: null }
  }

  /** One operation at a time on one node; others wait for it. */
  async exclusively(node: string, work: (service: Service) => Promise<void>): Promise<void> {
    const service = this.service(node)
    this.#stopping.signal.throwIfAborted()
    const before = this.#lastWorkByName.get(node) ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => work(service))
    this.#lastWorkByName.set(node, done)
    await done
  }

  /** @throws {ClusterError} If there is none of that name. */
  service(name: string): Service {
    const service = this.#options.services.find((candidate) => candidate.name === name)
    if (service !== undefined) return service
    const names = this.#options.services.map((candidate) => candidate.name).join(', ')
    throw new ClusterError(`there is no node ${name}; there are ${names}`)
  }

  /** @throws {ClusterError} If the process does not run; the end of its log is shown. */
  assertRunning(id: string): void {
    if (this.#supervisor.pid(id) !== null) return
    const logFile = this.#options.logFileOf(id)
    throw new ClusterError(`${id} does not run. Its log (${logFile}) ends with:\n${tail(logFile)}`)
  }

  /** Whether it is killed on purpose. */
  isKilled(service: Service, redis: boolean): boolean {
    return this.#options
      .faultsOf(service.name)
      .some((spec) => spec.kind === 'kill' && spec.redis === redis)
  }

  /** What was last heard of it; null if nothing. */
  healthOf(service: Service): Health | null {
    return this.#watchedByName.get(service.name)?.health ?? null
  }

  /** Ends a process, by its id, in order; by force if it takes too long. */
  async stop(id: string): Promise<void> {
    await this.#supervisor.stop(id, STOP_GRACE_MS)
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. */
  async stopAll(): Promise<void> {
    const { services } = this.#options
    this.#stopping.abort(new ClusterError('the cluster is being stopped'))
    await Promise.allSettled(this.#lastWorkByName.values())
    for (const kind of ['validator', 'scan', 'synchronizer'] as const)
      await Promise.all(
        services
          .filter((service) => service.kind === kind)
          .map((service) => this.stop(service.app.id)),
      )
    await Promise.all(services.map((service) => this.stop(service.redis.id)))
  }
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
  } catch {
    return '(no log)'
  }
}
