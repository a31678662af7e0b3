/**
 * The services of a cluster as processes: starts each with its Redis, and again what ended without having
 * been told to, waits until it is up, asks again and again how it is (`service-health.ts`), and lets one thing at a time
 * be done to it. What else happens to services, a test rig does by hooks (`ServiceHooks`).
 */
import { setMaxListeners } from 'node:events'
import { type Clock, waitFor } from '@quorumscan/base'
import { CommandError, UsageError, writeFileUnlessEqual } from '@quorumscan/runtime'
import { Keeper } from './keeper.ts'
import { answersByQuorum, isRedisReady } from './probe.ts'
import { type RedisService, redisIdOf, type Service } from './service.ts'
import { ServiceHealth } from './service-health.ts'
import type { Supervisor } from './supervisor.ts'

/** A cold start of an app under full load of the machine; a replay that gets on may take as long as it takes. */
const READY_TIMEOUT_MS = 60_000
/** Requests in flight end within the longest wait of a request (the SDK's 10 s) or not at all. */
const STOP_GRACE_MS = 12_000
const POLL_INTERVAL_MS = 500
const READY_INTERVAL_MS = 50
const LOG_CHECK_INTERVAL_MS = 10_000

/** What a test rig does to services. */
export type ServiceHooks = {
  /** Variables of a process that is being started, in addition to its own. */
  environmentOf(service: Service): Readonly<Record<string, string>>
  /** Whether a process may run, by its id. */
  mayStart(id: string): boolean
  /** Called before a running process is asked how it is, every `POLL_INTERVAL_MS`. */
  polled(service: Service): Promise<void>
  /** Called when a Redis that was started answers; `node` is what it belongs to. */
  redisReady(service: RedisService, node: string): Promise<void>
}

/** Services of an operator run undisturbed. */
export const NO_HOOKS: ServiceHooks = {
  environmentOf: () => ({}),
  mayStart: () => true,
  polled: async () => {},
  redisReady: async () => {},
}

export type ServiceRunnerOptions = {
  readonly services: readonly Service[]
  readonly supervisor: Supervisor
  readonly clock: Clock
  /** Whether they are all of a cluster, and not what one operator runs. */
  readonly isCluster: boolean
  readonly hooks: ServiceHooks
  /** Receives what happened to a service without a command. */
  readonly tell: (node: string, sentence: string) => void
  /** Called when something that had ended was started again. */
  readonly onRevived: () => void
}

export class ServiceRunner {
  readonly #options: ServiceRunnerOptions
  readonly #clock: Clock
  readonly #supervisor: Supervisor
  readonly #keeper: Keeper
  /** How the services are, by what was last heard. */
  readonly health: ServiceHealth
  readonly #stopping = new AbortController()
  readonly #lastWorkByName = new Map<string, Promise<unknown>>()

  constructor(options: ServiceRunnerOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#supervisor = options.supervisor
    // Each service is watched, and may be waited for.
    setMaxListeners(0, this.#stopping.signal)
    this.#keeper = new Keeper({
      clock: options.clock,
      start: (id) => this.#startAgain(id),
      tell: (id, sentence) => options.tell(this.#ownerOf(id).node, sentence),
    })
    this.health = new ServiceHealth({
      supervisor: options.supervisor,
      keeper: this.#keeper,
      isCluster: options.isCluster,
    })
  }

  /** A process of a service ended without having been told to: it is started again, if it may run. */
  noteEnd(id: string, how: string): void {
    if (!this.#stopping.signal.aborted && this.#findOwner(id) !== undefined)
      this.#keeper.noteEnd(id, how)
  }

  /** Starts the process, unless it runs already or may not. */
  async startOrTakeOver(service: Service): Promise<void> {
    if (this.#supervisor.pid(service.app.id) !== null || !this.#mayStart(service.app.id))
      this.health.begin(service)
    else await this.startApp(service)
  }

  /** Starts the process. Does not wait until it is up. */
  async startApp(service: Service): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    this.health.begin(service)
    await this.#supervisor.start({
      ...service.app,
      env: { ...service.app.env, ...this.#options.hooks.environmentOf(service) },
    })
  }

  /**
   * Starts the Redis of a service, if it does not run, and waits until it answers.
   *
   * @throws {CommandError} If it ends meanwhile.
   */
  async startRedis(service: RedisService): Promise<void> {
    if (service.isElsewhere || this.#supervisor.pid(service.redis.id) !== null) return
    this.#keeper.forget(service.redis.id)
    await this.#spawnRedis(service)
    await this.#untilRedisReady(service)
  }

  async #spawnRedis(service: RedisService): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    writeFileUnlessEqual(service.redisConfig.file, service.redisConfig.text)
    await this.#supervisor.start(service.redis)
  }

  async #untilRedisReady(service: RedisService): Promise<void> {
    await waitFor(
      async () => {
        this.assertRunning(service.redis.id)
        return (await isRedisReady(service.redisAddress)) ? true : undefined
      },
      {
        clock: this.#clock,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: READY_INTERVAL_MS,
        what: `the Redis of ${service.name}`,
        signal: this.#stopping.signal,
      },
    )
    const { node } = this.#findOwner(service.redis.id) ?? { node: service.name }
    await this.#options.hooks.redisReady(service, node)
  }

  /** SIGKILL: nothing that it has is wanted. */
  async killRedis(service: RedisService): Promise<void> {
    await this.#supervisor.kill(service.redis.id)
  }

  /**
   * Waits until the service says that it is ready, as long as it gets on and nobody gives it up.
   *
   * @throws {CommandError} If it stands still, or its process or its Redis ends again and again.
   */
  async untilUp(service: Service, givingUp?: AbortSignal): Promise<void> {
    const clock = this.#clock
    let offset: number | null = null
    let movedMs = clock.monotonicMs()
    for (;;) {
      this.#stopping.signal.throwIfAborted()
      if (this.#supervisor.pid(service.app.id) !== null) await this.health.ask(service)
      if (this.health.stateOf(service).state === 'up') return
      const health = this.health.healthOf(service)
      const reached = this.health.offsetOf(service)
      if (reached !== offset || health?.isInTurn === true) {
        offset = reached
        movedMs = clock.monotonicMs()
      }
      const isOver =
        givingUp?.aborted === true ||
        health?.standsStill === true ||
        !this.#mayStart(service.app.id) ||
        [service.app.id, service.redis.id].some((id) => this.#keeper.isHopeless(id)) ||
        clock.monotonicMs() - movedMs > READY_TIMEOUT_MS
      if (isOver) throw new CommandError(this.health.describeTrouble(service))
      await clock.delay(READY_INTERVAL_MS, this.#stopping.signal)
    }
  }

  /** As `untilUp`, but a process that lives and is late is fine: `status` tells how it goes on. */
  async untilUpOrLate(service: Service): Promise<void> {
    await this.untilUp(service).catch((error: unknown) => {
      if (this.#supervisor.pid(service.app.id) === null) throw error
    })
  }

  /** Whether the validator gets an answer that enough nodes agree on. */
  answersByQuorum(): Promise<boolean> {
    return answersByQuorum(this.service('validator').url)
  }

  /** Ready is not enough for a person: the validator must have reached the nodes, too. */
  async untilQuorum(): Promise<void> {
    const validator = this.service('validator')
    await waitFor(
      async () => {
        this.assertRunning(validator.app.id)
        return (await this.answersByQuorum()) ? true : undefined
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
        await this.#options.hooks.polled(service)
        await this.health.ask(service)
      }
      await clock.delay(POLL_INTERVAL_MS, signal).catch(() => {}) // The loop's condition ends it.
    }
  }

  /** Keeps log files short until the cluster stops. */
  async boundLogs(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#supervisor.boundLogs()
      await this.#clock.delay(LOG_CHECK_INTERVAL_MS, signal).catch(() => {}) // As above.
    }
  }

  /** One operation at a time on one node; others wait for it. */
  async exclusively<T>(node: string, work: (service: Service) => Promise<T>): Promise<T> {
    const service = this.service(node)
    this.#stopping.signal.throwIfAborted()
    const before = this.#lastWorkByName.get(node) ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => work(service))
    this.#lastWorkByName.set(node, done)
    return await done
  }

  /** @throws {UsageError} If there is none of that name. */
  service(name: string): Service {
    const service = this.#options.services.find((candidate) => candidate.name === name)
    if (service !== undefined) return service
    const nodes = new Set(this.#options.services.map((candidate) => candidate.node))
    throw new UsageError(`there is no node ${name}; there are ${[...nodes].join(', ')}`)
  }

  /** What runs under the name of a node, what has that name first. @throws {CommandError} If there is no such node. */
  servicesOf(node: string): readonly [Service, ...Service[]] {
    const main = this.service(node)
    return [main, ...this.#options.services.filter((one) => one.node === node && one !== main)]
  }

  /** @throws {CommandError} If the process does not run. */
  assertRunning(id: string): void {
    if (this.#supervisor.pid(id) !== null) return
    throw new CommandError(`${id} does not run; \`quorumscan logs ${id}\` says why`)
  }

  /** Ends a process, by its id, in order; by force if it takes too long. */
  async stop(id: string): Promise<void> {
    this.#keeper.forget(id)
    await this.#supervisor.stop(id, STOP_GRACE_MS)
  }

  async #startAgain(id: string): Promise<void> {
    const service = this.#ownerOf(id)
    const isRedis = id === service.redis.id
    await this.exclusively(service.node, async () => {
      if (this.#supervisor.pid(id) !== null || !this.#mayStart(id)) return
      if (!isRedis) return await this.startApp(service)
      await this.#spawnRedis(service)
      // Not waited for: if it ends before it is ready, that is the next end.
      void this.#untilRedisReady(service).catch(() => {})
    })
    this.#options.onRevived()
  }

  #mayStart(id: string): boolean {
    return this.#options.hooks.mayStart(id)
  }

  #findOwner(id: string): Service | undefined {
    // A Redis that several have belongs to the one after which it is called.
    return this.#options.services.find(({ app, name }) => app.id === id || redisIdOf(name) === id)
  }

  #ownerOf(id: string): Service {
    const owner = this.#findOwner(id)
    if (owner === undefined) throw new Error(`${id} is no process of this cluster`)
    return owner
  }

  /** Stops everything in order: validator, nodes, synchronizer, then the Redis of each. */
  async stopAll(): Promise<void> {
    const { services } = this.#options
    this.#stopping.abort(new CommandError('everything is being stopped'))
    this.#keeper.close()
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
