/**
 * What is broken on purpose in a running cluster, by commands and by faults. What a fault does is in `faults/effects.ts`;
 * which are in force is kept in `faults/fault-control.ts`.
 */

import type { Clock } from '@quorumscan/base'
import { CommandError, UsageError } from '@quorumscan/runtime'
import type { ServiceRunner, Supervisor } from '@quorumscan/supervisor'
import { type BrokenCluster, effectOf, tell } from './faults/effects.ts'
import { FaultControl, type FaultSelection } from './faults/fault-control.ts'
import type { FaultDelivery } from './faults/fault-delivery.ts'
import { type Fault, type FaultSpec, nodesOf } from './faults/fault-spec.ts'
import {
  type Hit,
  hitBy,
  idsOf,
  isPauseOf,
  resume,
  runningOf,
  startedBy,
  type Target,
} from './targets.ts'

export class Breakage {
  readonly #runner: ServiceRunner
  readonly #delivery: FaultDelivery
  readonly #cluster: BrokenCluster
  readonly #faults: FaultControl

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
    this.#runner = options.runner
    this.#delivery = options.delivery
    this.#cluster = {
      runner: options.runner,
      supervisor: options.supervisor,
      dataDirectory: options.dataDirectory,
      deliver: (service) => options.delivery.deliver(service),
      isKilled: (id) => this.isKilled(id),
    }
    this.#faults = new FaultControl({
      clock: options.clock,
      file: options.faultsFile,
      effects: {
        begin: (spec) =>
          this.#runner.exclusively(spec.node, () => effectOf(spec).begin(this.#cluster, spec)),
        end: (spec) => this.#end(spec),
        isInForce: (spec) => effectOf(spec).isInForce(this.#cluster, spec),
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
    for (const node of nodesOf(spec)) {
      const why = effectOf(spec).refusal(this.#runner.servicesOf(node), spec)
      if (why !== null) throw new UsageError(`${node}: ${why}`)
    }
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
      await resume(this.#cluster, target.part, runningOf(this.#cluster, hit))
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
    const started = startedBy(this.#cluster, hit)
    await Promise.all(started.map((one) => this.#runner.untilUpOrLate(one)))
  }

  async #end(spec: FaultSpec): Promise<void> {
    const runner = this.#runner
    const started = await runner.exclusively(spec.node, async () => {
      const begun = await effectOf(spec).end(this.#cluster, spec)
      await tell(this.#cluster, spec)
      return begun
    })
    const whole = started.filter(({ app }) => !this.isKilled(app.id))
    await Promise.all(whole.map((service) => runner.untilUpOrLate(service)))
    for (const service of runner.servicesOf(spec.node)) await runner.health.ask(service)
  }

  /** What a target stands for. @throws {CommandError} If there is no such node, or it has no such part. */
  hitBy({ node, part }: Target): Hit {
    return hitBy(this.#runner.servicesOf(node), part)
  }

  /** Whether a process is killed on purpose. */
  isKilled(id: string): boolean {
    return this.#faults
      .list()
      .some(({ spec }) => spec.kind === 'kill' && idsOf(this.hitBy(spec)).includes(id))
  }
}
