/**
 * What is broken on purpose in a running cluster, by commands and by faults: does to its processes what a fault says, and
 * mends it. Which faults are in force is kept in `faults/fault-control.ts`.
 */

import type { Clock } from '@quorumscan/base'
import { CommandError } from '@quorumscan/runtime'
import type { Service, ServiceRunner, Supervisor } from '@quorumscan/supervisor'
import { SYNCHRONIZER } from './cluster-shape.ts'
import { FaultControl, type FaultSelection } from './faults/fault-control.ts'
import type { FaultDelivery } from './faults/fault-delivery.ts'
import { type Fault, type FaultSpec, nodesOf, type Part } from './faults/fault-spec.ts'
import { findFaketime, stepBack } from './faults/machine-clock.ts'
import { limitMemory } from './faults/redis-memory.ts'
import { clearDisk, fillDisk, isSmallDisk } from './faults/small-disk.ts'
import {
  assertPossible,
  type Hit,
  hitBy,
  idsOf,
  isPauseOf,
  scopeOf,
  type Target,
} from './targets.ts'

export class Breakage {
  readonly #runner: ServiceRunner
  readonly #delivery: FaultDelivery
  readonly #supervisor: Supervisor
  readonly #faults: FaultControl
  readonly #dataDirectory: string

  constructor(options: {
    readonly runner: ServiceRunner
    readonly delivery: FaultDelivery
    readonly supervisor: Supervisor
    readonly clock: Clock
    /** Where the list of faults is kept. */
    readonly faultsFile: string
    /** On the disk that a fault fills. */
    readonly dataDirectory: string
  }) {
    this.#dataDirectory = options.dataDirectory
    this.#runner = options.runner
    this.#delivery = options.delivery
    this.#supervisor = options.supervisor
    this.#faults = new FaultControl({
      clock: options.clock,
      file: options.faultsFile,
      effects: {
        begin: (spec) =>
          this.#runner.exclusively(spec.node, (service) => this.#begin(service, spec)),
        end: (spec) => this.#end(spec),
        isInForce: (spec) => this.#isInForce(spec),
      },
    })
  }

  /** The faults in force, in the order in which they began. */
  list(): readonly Fault[] {
    return this.#faults.list()
  }

  /** Those that are about a node. */
  of(node: string): readonly FaultSpec[] {
    return this.#faults.of(node)
  }

  /** Takes up what an earlier control plane wrote down and what is still in force. */
  restore(): void {
    this.#faults.restore()
  }

  /** Forgets what is not in force any more because somebody ended it by other means. */
  refresh(): void {
    this.#faults.refresh()
  }

  /** Heals nothing and lets nothing end any more. */
  close(): void {
    this.#faults.close()
  }

  /**
   * Breaks something, for a time or until it is healed. Returns when the fault is in force.
   *
   * @throws {CommandError} If the fault makes no sense there.
   */
  async inject(spec: FaultSpec, durationMs: number | null): Promise<Fault> {
    for (const node of nodesOf(spec)) assertPossible(this.#runner.servicesOf(node), spec)
    return await this.#faults.inject(spec, durationMs)
  }

  /** Ends faults: one, those of a node, or all. Returns those that were in force. */
  async heal(selection: FaultSelection): Promise<readonly Fault[]> {
    if (selection.node !== undefined) this.#runner.service(selection.node)
    return await this.#faults.heal(selection)
  }

  /** SIGCONT to what is paused. @throws {CommandError} If it does not run. */
  async resume(target: Target): Promise<void> {
    const hit = this.hitBy(target)
    if (hit.engineOf !== null) {
      const fault = this.#faults.list().find(({ spec }) => isPauseOf(spec, target))
      if (fault === undefined) throw new CommandError(`the engine of ${target.node} is not paused`)
      await this.#faults.heal({ id: fault.id })
      return
    }
    await this.#runner.exclusively(target.node, async () => {
      await this.#resume(target.part, this.#runningOf(hit))
      for (const service of hit.services) {
        await this.#delivery.deliver(service) // Its engine may be paused for itself.
        await this.#runner.health.ask(service)
      }
    })
    this.#faults.refresh()
  }

  /** Stops what runs of it, starts it, and waits until it is up, within bounds. */
  async restart(target: Target): Promise<void> {
    const hit = this.hitBy(target)
    const { services, redis, engineOf } = hit
    if (engineOf !== null)
      return void (await this.#delivery.agents.ask(engineOf, '/engine/restart'))
    await this.#runner.exclusively(target.node, async (main) => {
      await Promise.all(services.map(({ app }) => this.#runner.stop(app.id)))
      if (redis !== null) await this.#runner.stop(redis.redis.id)
      await this.#runner.startRedis(main)
      for (const service of services) await this.#runner.startApp(service)
    })
    this.#faults.refresh()
    await Promise.all(this.#startedBy(hit).map((one) => this.#runner.untilUpOrLate(one)))
  }

  async #begin(service: Service, spec: FaultSpec): Promise<void> {
    switch (spec.kind) {
      case 'kill':
      case 'pause': {
        const hit = this.hitBy(spec)
        if (hit.engineOf !== null) return await this.#delivery.deliver(hit.engineOf)
        if (spec.kind === 'kill')
          await Promise.all(idsOf(hit).map((id) => this.#supervisor.kill(id)))
        else
          for (const id of this.#runningOf(hit))
            await this.#supervisor.pause(id, scopeOf(spec.part))
        return
      }
      case 'memory':
        this.#runner.assertRunning(service.redis.id)
        return await limitMemory(service.redisAddress.path, true)
      case 'disk':
        // Where all have a small one together, no process can write; else its log alone finds no room.
        if (spec.node === SYNCHRONIZER && isSmallDisk(this.#dataDirectory))
          await fillDisk(this.#dataDirectory, 0)
        return await this.#tell(spec)
      case 'machine-clock':
        findFaketime()
        await this.#startAnew(spec)
        if (spec.run !== 'back') return
        for (const one of this.#runner.servicesOf(spec.node)) {
          await this.#runner.untilUpOrLate(one)
          stepBack(one.faultSocket)
        }
        return
      default:
        await this.#tell(spec)
    }
  }

  async #end(spec: FaultSpec): Promise<void> {
    const runner = this.#runner
    const hit = 'part' in spec ? this.hitBy(spec) : null
    await runner.exclusively(spec.node, async (main) => {
      if (spec.kind === 'memory') {
        if (this.#supervisor.state(main.redis.id) === 'running')
          await limitMemory(main.redisAddress.path, false)
      } else if (spec.kind === 'disk') clearDisk(this.#dataDirectory)
      else if (spec.kind === 'machine-clock') await this.#startAnew(spec)
      else if (spec.kind === 'pause' && hit?.engineOf === null)
        await this.#resume(spec.part, idsOf(hit))
      else if (spec.kind === 'kill' && hit?.engineOf === null) {
        if (!this.isKilled(main.redis.id)) await runner.startRedis(main)
        for (const service of hit.services)
          if (this.#supervisor.pid(service.app.id) === null && !this.isKilled(service.app.id))
            await runner.startApp(service)
      }
      await this.#tell(spec)
    })
    const isStarted = spec.kind === 'kill' || spec.kind === 'machine-clock'
    const started = hit === null ? runner.servicesOf(spec.node) : this.#startedBy(hit)
    const whole = isStarted ? started.filter(({ app }) => !this.isKilled(app.id)) : []
    await Promise.all(whole.map((service) => runner.untilUpOrLate(service)))
    for (const service of runner.servicesOf(spec.node)) await runner.health.ask(service)
  }

  /** What is to be up again once this was started: whoever runs without the Redis that was is not before it is there. */
  #startedBy({ services, redis }: Hit): readonly Service[] {
    const runs = redis !== null && this.#supervisor.pid(redis.app.id) !== null
    return runs && !services.includes(redis) ? [...services, redis] : services
  }

  /** A machine that gets another clock: its programs are started with it. */
  async #startAnew({ node }: FaultSpec): Promise<void> {
    const running = this.#runner
      .servicesOf(node)
      .filter(({ app }) => this.#supervisor.pid(app.id) !== null)
    for (const { app } of running) await this.#runner.stop(app.id)
    for (const service of running) await this.#runner.startApp(service)
  }

  /** Tells everybody whom a fault is about what is in force now. */
  async #tell(spec: FaultSpec): Promise<void> {
    for (const node of nodesOf(spec))
      for (const service of this.#runner.servicesOf(node)) await this.#delivery.deliver(service)
  }

  #isInForce(spec: FaultSpec): boolean {
    if (!('part' in spec)) return true
    const hit = this.hitBy(spec)
    const wanted = spec.kind === 'kill' ? 'gone' : 'stopped'
    return hit.engineOf !== null || idsOf(hit).some((id) => this.#supervisor.state(id) === wanted)
  }

  /** What a target stands for. @throws {CommandError} If there is no such node, or it has no such part. */
  hitBy({ node, part }: Target): Hit {
    return hitBy(this.#runner.servicesOf(node), part)
  }

  /** The processes of it that run. @throws {CommandError} If none does. */
  #runningOf(hit: Hit): readonly string[] {
    const ids = idsOf(hit)
    const running = ids.filter((id) => this.#supervisor.pid(id) !== null)
    if (running.length === 0) for (const id of ids) this.#runner.assertRunning(id)
    return running
  }

  async #resume(part: Part | null, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#supervisor.resume(id, scopeOf(part))
  }

  /** Whether a process is killed on purpose. */
  isKilled(id: string): boolean {
    return this.#faults
      .list()
      .some(({ spec }) => spec.kind === 'kill' && idsOf(this.hitBy(spec)).includes(id))
  }
}
