/**
 * How the services of a cluster are: from what each said when it was last asked, what its processes are, and how they
 * ended. Tells what is wrong with one, and what to do about it.
 */

import { type NodeState, wordOfState } from '@quorumscan/errors/node-words'
import {
  askHealth,
  type Health,
  type KeptProcesses,
  type OrderingReport,
} from '@quorumscan/runtime'
import type { Service } from './service.ts'
import type { Supervisor } from './supervisor.ts'

export type ServiceStatus = {
  readonly url: string
  readonly state: NodeState
  /** Null while it does not run. */
  readonly pid: number | null
  readonly redisPid: number | null
  /** Where its replica, or the log that it writes, ends; null while it does not say. */
  readonly offset: number | null
  /** Why it is not `up`, where more is known than the state says. */
  readonly detail: string | null
}

/** How processes ended. */
type Known = Pick<KeptProcesses, 'endOf' | 'isHopeless'>
type Heard = { health: Health | null; wasUp: boolean }

export class ServiceHealth {
  readonly #supervisor: Supervisor
  readonly #kept: Known
  readonly #isCluster: boolean
  readonly #heardByName = new Map<string, Heard>()

  /** @param isCluster - Whether it is of a cluster, whose commands mend it. */
  constructor(supervisor: Supervisor, kept: Known, isCluster: boolean) {
    this.#supervisor = supervisor
    this.#kept = kept
    this.#isCluster = isCluster
  }

  /** Its process begins: nothing was heard of it. */
  begin(service: Service): void {
    this.#heardByName.set(service.name, { health: null, wasUp: false })
  }

  /** Asks the service now how it is. */
  async ask(service: Service): Promise<void> {
    const heard = this.#heardByName.get(service.name)
    // At the root a validator answers as the ledger interface does, which gives no reasons.
    const url = `${service.url}${service.kind === 'validator' ? '/api/validator' : ''}`
    const health = await askHealth(url)
    if (heard === undefined) return
    heard.health = health
    if (health?.state === 'up') heard.wasUp = true
  }

  /** From what was last heard and what the processes are: asks nobody. */
  stateOf(service: Service): Pick<ServiceStatus, 'state' | 'detail'> {
    const app = this.#supervisor.state(service.app.id)
    const redis = service.isElsewhere ? 'running' : this.#supervisor.state(service.redis.id)
    const ends = (id: string) => this.#kept.endOf(id)
    if (redis === 'gone' && ends(service.redis.id) !== null)
      return { state: 'down', detail: `its Redis ended (${ends(service.redis.id)})` }
    if (app === 'gone') {
      const how = ends(service.app.id)
      return { state: 'down', detail: how === null ? null : `it ended (${how})` }
    }
    if (app === 'stopped') return { state: 'paused', detail: null }
    if (redis === 'gone') return { state: 'down', detail: 'its Redis is down' }
    if (redis === 'stopped') return { state: 'paused', detail: 'its Redis is paused' }
    const heard = this.#heardOf(service)
    if (heard?.health != null) return { state: heard.health.state, detail: heard.health.detail }
    return heard?.wasUp ? { state: 'silent', detail: null } : { state: 'starting', detail: null }
  }

  /** What is wrong with a service that is not up, and what to do about it. */
  describeTrouble(service: Service): string {
    const { state, detail } = this.stateOf(service)
    // What a process says may be a sentence of its own.
    const reason = detail?.replace(/\.$/, '') ?? null
    return [`${service.name} is ${wordOfState[state]}`, reason, this.#adviceOn(service)]
      .filter((part) => part !== null)
      .join('; ')
  }

  #adviceOn(service: Service): string | null {
    const { name, kind } = service
    const isRedisBroken = this.#kept.isHopeless(service.redis.id)
    const standsStill = this.healthOf(service)?.standsStill === true
    const hasEnded = isRedisBroken || this.#kept.isHopeless(service.app.id)
    if (!hasEnded && !standsStill) return null
    if (!this.#isCluster) return 'docs/operations.md says under "Losing a machine" what to do'
    const logs = `\`quorumscan logs ${isRedisBroken ? service.redis.id : name}\` says more`
    if (service.engineDirectory !== null)
      return service.node === name
        ? logs
        : `\`quorumscan wipe ${service.node} --disk\` lets it begin anew, from the others; ${logs}`
    if (kind === 'synchronizer')
      return `the log is in ${service.redisDirectory}: \`quorumscan log repair\` mends it, or says what can; ${logs}`
    if (this.healthOf(service)?.code === 'USERS_LOST')
      return `restore ${service.redisDirectory}, or \`quorumscan down\` and \`quorumscan up --accept-lost-users\``
    if (kind === 'validator' && isRedisBroken)
      return `its users live there only: mend or restore ${service.redisDirectory}; ${logs}`
    return isRedisBroken || standsStill
      ? `\`quorumscan wipe ${name}\` rebuilds it from the log; ${logs}`
      : logs
  }

  /** Where its replica or its log ends, as it told last; null if it did not, or does not run. */
  offsetOf(service: Service): number | null {
    return this.healthOf(service)?.offset ?? null
  }

  /** How it orders with others, as it told last; null if it did not, or does not run. */
  orderingOf(service: Service): OrderingReport | null {
    return this.healthOf(service)?.ordering ?? null
  }

  /** What was last heard of it; null if nothing, or it or its Redis does not run: then that is not so any more. */
  healthOf(service: Service): Health | null {
    return this.#heardOf(service)?.health ?? null
  }

  #heardOf({ name, app, redis }: Service): Heard | undefined {
    const doRun = [app, redis].every(({ id }) => this.#supervisor.state(id) === 'running')
    return doRun ? this.#heardByName.get(name) : undefined
  }
}
