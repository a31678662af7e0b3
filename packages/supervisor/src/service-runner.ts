/**
 * The services of one machine as processes: starts each with its Redis, restarts processes that exited unexpectedly, waits
 * until a service is up, polls its health (`service-health.ts`), and lets one command at a time act on a node. Its owner
 * may add to the life of services by hooks (`ServiceHooks`).
 */
import { setMaxListeners } from 'node:events'
import { held, waitFor } from '@quorumscan/base'
import {
  CommandError,
  keepRunning,
  messageOf,
  type ProcessRestarts,
  repeat,
  SILENCE_TICK_MS,
  UsageError,
  writeFileUnlessEqual,
} from '@quorumscan/runtime'
import { doesRedisAnswer, isRedisReady } from './redis-server.ts'
import { type RedisService, redisIdOf, type Service } from './service.ts'
import { createServiceHealth, type ServiceHealth } from './service-health.ts'
import { type ProcessRecord, Supervisor, type SupervisorOptions } from './supervisor.ts'

/** A cold start of an app under full load of the machine; a replay that makes progress may take longer. */
const READY_TIMEOUT_MS = 60_000
/** Longer than the longest wait of a request, 10 s in the SDK: requests in flight complete. */
const STOP_GRACE_MS = 12_000
const POLL_INTERVAL_MS = 500
const READY_INTERVAL_MS = 50
const TROUBLE_INTERVAL_MS = 60_000
/** Often enough that a Redis on a busy machine answers one of many within a minute. */
const REDIS_ASK_INTERVAL_MS = 2000
const LOG_CHECK_INTERVAL_MS = 10_000
/**
 * After 100 ms the kernel has closed the sockets of an exited process. A process that cannot start, because the disk is
 * full for example, starts at most 10 s after it can. A process that ran for 15 s, longer than the longest pause, counts as
 * stable.
 */
const RESTART_POLICY = { minMs: 100, maxMs: 10_000, factor: 4 }

/** What the owner of the services adds to their life. */
export type ServiceHooks = {
  /** Variables of a process that is being started, for this start, in addition to its own. */
  environmentOf(service: Service): Readonly<Record<string, string>>
  /** Whether a process may run, by its id. */
  mayStart(id: string): boolean
  /** Called before the health of a running process is polled, every `POLL_INTERVAL_MS`. */
  polled(service: Service): Promise<void>
  /** Called when a Redis that was started answers; `owner` is what it belongs to. */
  redisReady(service: RedisService, owner: string): Promise<void>
  /** Called when a process that had exited unexpectedly was restarted. */
  refresh(): void
}

export type ServiceRunnerOptions = ProcessRecord &
  Pick<SupervisorOptions, 'onLine'> & {
    readonly services: readonly Service[]
    /** Whether the services are a whole local cluster, rather than those of one operator. */
    readonly isCluster: boolean
    /** Receives what happened to a service without a command. */
    readonly onIncident?: (owner: string, sentence: string) => void
    /** Whether a process that exited unexpectedly is restarted. Default: every process is. */
    readonly shouldRestart?: (id: string, how: string) => boolean
    /** Whether a process that hangs is ended, and then restarted (`endSilent`). Default: no. */
    readonly endsSilent?: boolean
  }

/** Runs services. `stopAll` ends it: from then on it starts nothing. */
export class ServiceRunner {
  /** Set before anything is started; null: nothing is added. */
  hooks: ServiceHooks | null = null
  /** Starts and signals processes by their ids. */
  readonly processes: Supervisor
  /** The state of the services, by the latest poll. */
  readonly health: ServiceHealth
  readonly #options: ServiceRunnerOptions
  readonly #restarts: ProcessRestarts
  readonly #stopping = new AbortController()
  readonly #lastWorkByName = held(
    {
      owner: 'supervisor',
      name: 'services with work',
      kind: 'state',
      bound: 'one of each service',
    },
    new Map<string, Promise<unknown>>(),
  )

  constructor(options: ServiceRunnerOptions) {
    this.#options = options
    const { clock, isCluster, shouldRestart = () => true } = options
    // Each service has a poll, and commands that wait for it.
    setMaxListeners(0, this.#stopping.signal)
    this.processes = new Supervisor({
      ...options,
      onExit: (id, how) => {
        if (this.#stopping.signal.aborted || this.#findOwner(id) === undefined) return
        if (shouldRestart(id, how)) this.#restarts.recordExit(id, how)
      },
    })
    this.#restarts = keepRunning({
      clock,
      policy: RESTART_POLICY,
      start: (id) => this.#restart(id),
      onExit: (id, how, delayMs) => {
        const when = delayMs < 1000 ? '' : ` in ${Math.round(delayMs / 1000)} s`
        const sentence = `${id} exited unexpectedly (${how}); restarting${when}`
        options.onIncident?.(this.#findOwner(id)?.owner ?? id, sentence)
      },
    })
    const exits = this.#restarts
    this.health = createServiceHealth({ supervisor: this.processes, exits, isCluster })
  }

  /** Whether a process may run, by its id. */
  mayStart(id: string): boolean {
    return this.hooks?.mayStart(id) ?? true
  }

  /** Starts the process, unless it already runs or must not run. */
  async startOrTakeOver(service: Service): Promise<void> {
    if (this.processes.pid(service.app.id) !== null || !this.mayStart(service.app.id))
      this.health.begin(service)
    else await this.startApp(service)
  }

  /** Starts the process. Does not wait until it is up. */
  async startApp(service: Service): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    this.health.begin(service)
    await this.processes.start(service.app, this.hooks?.environmentOf(service))
  }

  /**
   * Starts the Redis of a service, unless it already runs, and waits until it answers.
   *
   * @throws {CommandError} If it exits meanwhile.
   */
  async startRedis(service: RedisService): Promise<void> {
    if (service.isExternal || this.processes.pid(service.redis.id) !== null) return
    this.#restarts.forget(service.redis.id)
    await this.#spawnRedis(service)
    await this.#untilRedisReady(service)
  }

  async #spawnRedis(service: RedisService): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    writeFileUnlessEqual(service.redisConfig.file, service.redisConfig.text)
    await this.processes.start(service.redis)
  }

  async #untilRedisReady(service: RedisService): Promise<void> {
    await waitFor(
      async () => {
        this.assertRunning(service.redis.id)
        return (await isRedisReady(service.redisAddress)) ? true : undefined
      },
      {
        clock: this.#options.clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `the Redis of ${service.name}`,
        signal: this.#stopping.signal,
      },
    )
    const { owner } = this.#findOwner(service.redis.id) ?? { owner: service.name }
    await this.hooks?.redisReady(service, owner)
  }

  /**
   * Waits until the service reports that it is ready, as long as it makes progress and `givingUp` has not aborted.
   *
   * @throws {CommandError} If it stalls, or its process or its Redis exits repeatedly.
   */
  async untilUp(service: Service, givingUp?: AbortSignal): Promise<void> {
    const clock = this.#options.clock
    let offset: number | null = null
    let movedMs = clock.monotonicMs()
    for (;;) {
      this.#stopping.signal.throwIfAborted()
      if (this.processes.pid(service.app.id) !== null) await this.health.ask(service)
      if (this.health.stateOf(service).state === 'up') return
      const health = this.health.healthOf(service)
      const reached = health?.offset ?? null
      if (reached !== offset || health?.isWaitingForRebuildTurn === true) {
        offset = reached
        movedMs = clock.monotonicMs()
      }
      const isOver =
        givingUp?.aborted === true ||
        health?.isStalled === true ||
        !this.mayStart(service.app.id) ||
        [service.app.id, service.redis.id].some((id) => this.#restarts.isCrashLooping(id)) ||
        clock.monotonicMs() - movedMs > READY_TIMEOUT_MS
      if (isOver) throw new CommandError(this.health.describeTrouble(service))
      await clock.delay(READY_INTERVAL_MS, this.#stopping.signal)
    }
  }

  /**
   * Waits until the service reports that it is ready, however long that takes.
   *
   * @param onTrouble - Receives what is wrong, at most once a minute, from when `untilUp` would give up.
   * @throws {CommandError} If everything is being stopped.
   */
  async untilUpAtLast(service: Service, onTrouble: (sentence: string) => void): Promise<void> {
    const clock = this.#options.clock
    let toldMs = Number.NEGATIVE_INFINITY
    for (;;)
      try {
        return await this.untilUp(service)
      } catch (error) {
        this.#stopping.signal.throwIfAborted()
        const nowMs = clock.monotonicMs()
        if (nowMs - toldMs >= TROUBLE_INTERVAL_MS) {
          toldMs = nowMs
          onTrouble(messageOf(error))
        }
        await clock.delay(POLL_INTERVAL_MS, this.#stopping.signal)
      }
  }

  /** Waits as `untilUp` does, but accepts a process that runs and is late: `status` shows its progress. */
  async untilUpOrLate(service: Service): Promise<void> {
    await this.untilUp(service).catch((error: unknown) => {
      if (this.processes.pid(service.app.id) === null) throw error
    })
  }

  /** Polls the health of the service until everything is stopped. */
  watch(service: Service): void {
    this.#repeat(POLL_INTERVAL_MS, async () => {
      if (this.processes.state(service.app.id) !== 'running') return
      await this.hooks?.polled(service)
      await this.health.ask(service)
    })
  }

  /**
   * Ends processes that hang, until everything is stopped. The apps report by themselves, and each Redis is asked: also one
   * that loads its file answers.
   */
  endSilent(): void {
    const redises = new Map(
      this.#options.services
        .filter(({ isExternal }) => isExternal !== true)
        .map((service) => [service.redis.id, service.redisAddress] as const),
    )
    for (const [id, address] of redises)
      this.#repeat(REDIS_ASK_INTERVAL_MS, async () => {
        if (await doesRedisAnswer(address)) this.processes.noteLife(id)
      })
    const ids = new Set(redises.keys())
    this.#repeat(SILENCE_TICK_MS, () => this.processes.endSilent(ids))
  }

  /** Bounds the size of log files until everything is stopped. */
  boundLogs(): void {
    this.#repeat(LOG_CHECK_INTERVAL_MS, () => this.processes.boundLogs())
  }

  #repeat(everyMs: number, work: () => unknown): void {
    repeat(work, { everyMs, clock: this.#options.clock, signal: this.#stopping.signal })
  }

  /** Runs one operation at a time on the services of an owner. Others wait for it. */
  async exclusively<T>(owner: string, work: (service: Service) => Promise<T>): Promise<T> {
    const service = this.service(owner)
    this.#stopping.signal.throwIfAborted()
    const before = this.#lastWorkByName.get(owner) ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => work(service))
    this.#lastWorkByName.set(owner, done)
    return await done
  }

  /** @throws {UsageError} If no service has that name. */
  service(name: string): Service {
    const service = this.#options.services.find((candidate) => candidate.name === name)
    if (service !== undefined) return service
    const nodes = new Set(this.#options.services.map((candidate) => candidate.owner))
    throw new UsageError(`unknown node ${name}; the nodes are ${[...nodes].join(', ')}`)
  }

  /** The services of an owner, the one with its name first. @throws {UsageError} If no service has that name. */
  servicesOf(owner: string): readonly [Service, ...Service[]] {
    const main = this.service(owner)
    return [main, ...this.#options.services.filter((one) => one.owner === owner && one !== main)]
  }

  /** @throws {CommandError} If the process does not run. */
  assertRunning(id: string): void {
    if (this.processes.pid(id) !== null) return
    throw new CommandError(`${id} is not running; run \`quorumscan logs ${id}\` to see why`)
  }

  /** Stops a process by SIGTERM; by SIGKILL if that takes too long. */
  async stop(id: string): Promise<void> {
    this.#restarts.forget(id)
    await this.processes.stop(id, STOP_GRACE_MS)
  }

  async #restart(id: string): Promise<void> {
    const service = this.#findOwner(id)
    if (service === undefined) return
    const isRedis = id === service.redis.id
    await this.exclusively(service.owner, async () => {
      if (this.processes.pid(id) !== null || !this.mayStart(id)) return
      if (!isRedis) return await this.startApp(service)
      await this.#spawnRedis(service)
      // Not awaited: an exit before it is ready is the next unexpected exit.
      void this.#untilRedisReady(service).catch(() => {})
    })
    this.hooks?.refresh()
  }

  #findOwner(id: string): Service | undefined {
    // A Redis that several services share belongs to the one whose name it has.
    return this.#options.services.find(({ app, name }) => app.id === id || redisIdOf(name) === id)
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. */
  async stopAll(): Promise<void> {
    const { services } = this.#options
    this.#stopping.abort(new CommandError('everything is being stopped'))
    const closed = this.#restarts[Symbol.asyncDispose]()
    await Promise.allSettled(this.#lastWorkByName.values())
    await closed
    for (const kind of ['validator', 'scan', 'synchronizer'] as const) {
      const ofKind = services.filter((service) => service.kind === kind)
      await Promise.all(ofKind.map((service) => this.stop(service.app.id)))
    }
    await Promise.all(services.map((service) => this.stop(service.redis.id)))
  }
}
