/**
 * Injects faults into a running cluster, and heals them. A fault passes through these steps:
 *
 * 1. `apply` checks that the fault is valid for each node that it concerns (`refusal` of its entry of `EFFECTS`).
 * 2. The fault enters the list, and a timer starts if it has a duration. It replaces a fault in the same slot (`slotOf`).
 * 3. Its effect begins. Signals, files and Redis settings are `begin` of the entry. Its effect inside a process is
 *    `inProcess`, which the process receives on its unix socket (`agent.ts`). If this fails, the list is as before.
 * 4. The list is written to disk.
 * 5. While the fault is in force, the service runner calls hooks (`ServiceHooks`): a killed process is not restarted, a
 *    process receives its faults in its environment when it starts, a Redis when it answers, and a process that could not
 *    receive its faults receives them when it is polled.
 * 6. `heal`, or the timer, removes the fault from the list. Its effect ends, the processes receive the remaining faults, and
 *    the caller waits until the started services are up. A fault that cannot be ended stays in the list.
 *
 * A fault can also end by other means: a restart ends a kill. `refresh` drops such faults, and `restore` takes over those of
 * an earlier control plane. Calls go one way: from the cluster to this runner, to the effects, to the services.
 */
import { type Clock, held } from '@quorumscan/base'
import { parseTime } from '@quorumscan/model'
import { CommandError, readOwnJson, UsageError, writeOwnJson } from '@quorumscan/runtime'
import type { RedisService, Service, ServiceHooks, ServiceRunner } from '@quorumscan/supervisor'
import { formatInstant } from '@quorumscan/verifier'
import type { z } from 'zod'
import { createAgentClient } from './agent.ts'
import {
  type Effect,
  effectOf,
  type FaultContext,
  idsOf,
  processesOf,
  processFaultsOf,
  runningOf,
  scopeOf,
  startedBy,
  type Target,
} from './effects.ts'
import {
  describeFault,
  type Fault,
  type FaultSpec,
  type faultSelection,
  nodesOf,
  slotOf,
} from './fault-spec.ts'

const MICROS_PER_MS = 1000
/** More than every fault on every node of the largest cluster. */
const FAULTS_MAX = 256

type FaultRunnerOptions = FaultContext & {
  readonly clock: Clock
  /** The file with the list of faults. */
  readonly file: string
  /** Receives the first malformed reply of an agent. */
  readonly onMalformed: (node: string, sentence: string) => void
  /** Default: the entry of `EFFECTS`. */
  readonly effectOf?: <Spec extends FaultSpec>(spec: Spec) => Effect<Spec>
}

/** The faults of one cluster. Its list is in a file, so that the next control plane takes it over. */
export class FaultRunner implements ServiceHooks {
  readonly #options: FaultRunnerOptions
  readonly #services: ServiceRunner
  readonly #effectOf: typeof effectOf
  /** The faults by their ids, each with the timer that heals it. */
  readonly #faults = held(
    {
      owner: 'cluster',
      name: 'faults in force',
      kind: 'state',
      bound: 'one of each kind and target',
    },
    new Map<string, { readonly fault: Fault; readonly timer: AbortController }>(),
  )
  /** Services whose process has not received its faults yet. */
  readonly #pending = held(
    {
      owner: 'cluster',
      name: 'faults that begin',
      kind: 'work',
      bound: 'one of each kind and target',
    },
    new Set<string>(),
  )
  readonly askAgent: ReturnType<typeof createAgentClient>
  #count = 0

  constructor(options: FaultRunnerOptions) {
    this.#options = options
    this.#services = options.services
    this.#effectOf = options.effectOf ?? effectOf
    this.askAgent = createAgentClient(options.onMalformed)
  }

  /** The faults in force, in the order in which they began. */
  active(): readonly Fault[] {
    return [...this.#faults.values()].map(({ fault }) => fault)
  }

  /** The faults in force that concern a node, on either side of a split. */
  specsOf(node: string): readonly FaultSpec[] {
    return this.active()
      .map((fault) => fault.spec)
      .filter((spec) => nodesOf(spec).includes(node))
  }

  /**
   * Injects a fault, for a time or until it is healed. Returns once it is in force.
   *
   * @throws {UsageError} If the fault is invalid there.
   * @throws {CommandError} If it cannot begin.
   */
  async apply(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    const effect = this.#effectOf(spec)
    for (const node of nodesOf(spec)) {
      const why = effect.refusal?.(this.#services.servicesOf(node), spec) ?? null
      if (why !== null) throw new UsageError(`${node}: ${why}`)
    }
    if (this.#faults.size >= FAULTS_MAX)
      throw new CommandError('too many faults are in force; end some with `quorumscan heal`')
    const replaced = this.active().find((fault) => slotOf(fault.spec) === slotOf(spec))
    const nowMicros = this.#options.clock.nowMicros()
    this.#count += 1
    const id = `fault-${this.#count}`
    const startedAt = formatInstant(nowMicros)
    const endsAt =
      durationMs === null ? null : formatInstant(nowMicros + durationMs * MICROS_PER_MS)
    const fault: Fault = { id, spec, words: describeFault(spec), startedAt, endsAt }
    if (replaced !== undefined) this.#drop(replaced.id)
    this.#list(fault)
    try {
      await this.#services.exclusively(spec.node, async () => {
        await effect.begin?.(this.#options, spec)
        await this.#deliverAll(spec)
      })
    } catch (error) {
      const wasHealed = !this.#faults.has(fault.id)
      this.#drop(fault.id)
      if (replaced !== undefined && !wasHealed) this.#list(replaced)
      throw error
    }
    this.#store()
    return fault
  }

  /**
   * Ends one fault, those of a node, or all, and returns those that were in force. A fault that cannot be ended stays in the
   * list.
   *
   * @throws {CommandError} If there is no such fault or node, or a fault cannot be ended.
   */
  async heal({ id, node }: z.output<typeof faultSelection>): Promise<readonly Fault[]> {
    if (node !== undefined) this.#services.service(node)
    const healed = this.active().filter(
      (fault) =>
        (id === undefined || id === fault.id) &&
        (node === undefined || nodesOf(fault.spec).includes(node)),
    )
    if (id !== undefined && healed.length === 0)
      throw new CommandError(`no fault ${id} is in force`)
    for (const fault of healed) this.#drop(fault.id)
    const outcomes = await Promise.allSettled(healed.map(({ spec }) => this.#end(spec)))
    for (const [index, fault] of healed.entries())
      if (outcomes[index]?.status === 'rejected' && this.#isInForce(fault))
        this.#list({ ...fault, endsAt: null })
    this.#store()
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return healed
  }

  /** SIGCONT to paused processes. @throws {CommandError} If none runs. */
  async resume(target: Target): Promise<void> {
    const { node, part } = target
    const parts = processesOf(this.#services.servicesOf(node), part)
    if (parts.engineOf !== null) {
      const isPaused = ({ spec }: Fault) =>
        spec.kind === 'pause' && spec.node === node && spec.part === part
      const fault = this.active().find(isPaused)
      if (fault === undefined) throw new CommandError(`the engine of ${node} is not paused`)
      return void (await this.heal({ id: fault.id }))
    }
    await this.#services.exclusively(node, async () => {
      for (const id of runningOf(this.#services, parts))
        await this.#services.processes.resume(id, scopeOf(part))
      for (const service of parts.services) {
        await this.#deliver(service) // Its engine may be paused separately.
        await this.#services.health.ask(service)
      }
    })
    this.refresh()
  }

  /** Stops and starts a target, and waits until it is up, within bounds. */
  async restart(target: Target): Promise<void> {
    const runner = this.#services
    const parts = processesOf(runner.servicesOf(target.node), target.part)
    const { services, redis, engineOf } = parts
    if (engineOf !== null) return void (await this.askAgent(engineOf, '/engine/restart'))
    await runner.exclusively(target.node, async (main) => {
      await Promise.all(services.map(({ app }) => runner.stop(app.id)))
      if (redis !== null) await runner.stop(redis.redis.id)
      await runner.startRedis(main)
      for (const service of services) await runner.startApp(service)
    })
    this.refresh()
    await Promise.all(startedBy(runner, parts).map((one) => runner.untilUpOrLate(one)))
  }

  /** Drops faults that ended by other means. */
  refresh(): void {
    const ended = this.active().filter((fault) => !this.#isInForce(fault))
    for (const { id } of ended) this.#drop(id)
    if (ended.length > 0) this.#store()
  }

  /** Takes over the faults that an earlier control plane stored and that are still in force. */
  restore(): void {
    for (const fault of (readOwnJson(this.#options.file) ?? []) as readonly Fault[]) {
      this.#list({ ...fault, words: describeFault(fault.spec) })
      this.#count = Math.max(this.#count, Number(fault.id.split('-')[1] ?? 0))
    }
    this.refresh()
  }

  /** Stops the timers and what this process does for faults, without healing. */
  close(): void {
    for (const { fault, timer } of this.#faults.values()) {
      timer.abort()
      this.#effectOf(fault.spec).release?.(this.#options, fault.spec)
    }
  }

  environmentOf(service: Service): Readonly<Record<string, string>> {
    this.#pending.delete(service.name)
    const others = this.specsOf(service.owner).map((spec) =>
      this.#effectOf(spec).environmentOf?.(spec, service),
    )
    return Object.assign({ QS_FAULTS: JSON.stringify(this.#processFaultsOf(service)) }, ...others)
  }

  mayStart(id: string): boolean {
    return !this.active().some(
      ({ spec }) =>
        spec.kind === 'kill' &&
        idsOf(processesOf(this.#services.servicesOf(spec.node), spec.part)).includes(id),
    )
  }

  async polled(service: Service): Promise<void> {
    if (this.#pending.has(service.name)) await this.#deliver(service)
  }

  async redisReady(service: RedisService, owner: string): Promise<void> {
    for (const spec of this.specsOf(owner)) await this.#effectOf(spec).redisReady?.(service)
  }

  #isInForce({ spec }: Fault): boolean {
    return this.#effectOf(spec).isInForce?.(this.#options, spec) ?? true
  }

  async #end(spec: FaultSpec): Promise<void> {
    const services = this.#services
    const started = await services.exclusively(spec.node, async () => {
      const begun = (await this.#effectOf(spec).end?.(this.#options, spec)) ?? []
      await this.#deliverAll(spec)
      return begun
    })
    const whole = started.filter(({ app }) => this.mayStart(app.id))
    await Promise.all(whole.map((service) => services.untilUpOrLate(service)))
    for (const service of services.servicesOf(spec.node)) await services.health.ask(service)
  }

  /** Sends all processes that a fault concerns the faults in force now. */
  async #deliverAll(spec: FaultSpec): Promise<void> {
    for (const node of nodesOf(spec))
      for (const service of this.#services.servicesOf(node)) await this.#deliver(service)
  }

  /** Sends a process its faults. A process that cannot receive them now receives them later. */
  async #deliver(service: Service): Promise<void> {
    this.#pending.add(service.name)
    if (this.#services.processes.state(service.app.id) !== 'running') return
    try {
      await this.askAgent(service, '/faults', this.#processFaultsOf(service))
      this.#pending.delete(service.name)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
    }
  }

  #processFaultsOf(service: Service) {
    const faults = processFaultsOf(service.owner, this.specsOf(service.owner))
    // Clients connect to the service that has the name of its owner.
    if (service.name === service.owner) return faults
    return { ...faults, edges: { ...faults.edges, http: [] } }
  }

  /** Lists a fault, and heals it at its end if it has one. */
  #list(fault: Fault): void {
    const { id, endsAt } = fault
    const timer = new AbortController()
    this.#faults.set(id, { fault, timer })
    if (endsAt === null) return
    const leftMicros = (parseTime(endsAt) ?? 0) - this.#options.clock.nowMicros()
    this.#options.clock
      .delay(Math.max(0, leftMicros / MICROS_PER_MS), timer.signal)
      .then(() => this.heal({ id }))
      .catch(() => {}) // Healed before, or the cluster stops; `status` shows a process that is down.
  }

  #drop(id: string): void {
    this.#faults.get(id)?.timer.abort()
    this.#faults.delete(id)
  }

  #store(): void {
    try {
      writeOwnJson(this.#options.file, this.active())
    } catch {
      // On a full disk the file lacks the fault. Only the next control plane reads the file.
    }
  }
}
