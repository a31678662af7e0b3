/**
 * Makes services have the faults in force on them: at their start by their environment, later through their agents. It is
 * what the service runner knows of faults (`ServiceHooks`).
 */
import { CommandError } from '@quorumscan/runtime'
import type { RedisService, Service, ServiceHooks } from '@quorumscan/supervisor'
import { AgentClient } from './agent-client.ts'
import { effectOf, processFaultsOf } from './effects.ts'
import type { FaultSpec } from './fault-spec.ts'
import type { ProcessFaults } from './process-faults.ts'

export type FaultDeliveryOptions = {
  /** The faults in force on what a node stands for. */
  readonly faultsOf: (node: string) => readonly FaultSpec[]
  /** Whether a process is killed on purpose, by its id. */
  readonly isKilled: (id: string) => boolean
  readonly isRunning: (id: string) => boolean
  /** Receives the first malformed reply of an agent. */
  readonly noteMalformed: (node: string, sentence: string) => void
}

export class FaultDelivery implements ServiceHooks {
  readonly #options: FaultDeliveryOptions
  readonly agents: AgentClient
  /** Services whose process has not received its faults yet. */
  readonly #pending = new Set<string>()

  constructor(options: FaultDeliveryOptions) {
    this.#options = options
    this.agents = new AgentClient(options.noteMalformed)
  }

  environmentOf(service: Service): Readonly<Record<string, string>> {
    this.#pending.delete(service.name)
    const QS_FAULTS = JSON.stringify(this.#processFaultsOf(service))
    const others = this.#options
      .faultsOf(service.node)
      .map((spec) => effectOf(spec).environmentOf?.(spec, service))
    return Object.assign({ QS_FAULTS }, ...others)
  }

  mayStart(id: string): boolean {
    return !this.#options.isKilled(id)
  }

  async polled(service: Service): Promise<void> {
    if (this.#pending.has(service.name)) await this.deliver(service)
  }

  async redisReady(service: RedisService, node: string): Promise<void> {
    for (const spec of this.#options.faultsOf(node)) await effectOf(spec).redisReady?.(service)
  }

  /** Sends a process its faults. One that cannot receive them now receives them as soon as it can. */
  async deliver(service: Service): Promise<void> {
    this.#pending.add(service.name)
    if (!this.#options.isRunning(service.app.id)) return
    const faults = this.#processFaultsOf(service)
    try {
      await this.agents.ask(service, '/faults', faults)
      this.#pending.delete(service.name)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
    }
  }

  #processFaultsOf(service: Service): ProcessFaults {
    const faults = processFaultsOf(service.node, this.#options.faultsOf(service.node))
    // The clients of a node are those of what has its name.
    return service.name === service.node
      ? faults
      : { ...faults, edges: { ...faults.edges, http: [] } }
  }
}
