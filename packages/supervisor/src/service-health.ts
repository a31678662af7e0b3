/**
 * The state of services: from the latest health report of each, the state of its processes, and how they exited. Describes
 * what is wrong with a service, and what to do next.
 */

import { type NodeState, wordOfState } from '@quorumscan/errors/node-words'
import { askHealth, type Health, type KeptProcesses } from '@quorumscan/runtime'
import type { Service } from './service.ts'
import type { Supervisor } from './supervisor.ts'

/** The status of a service with its processes. */
export type ServiceStatus = {
  readonly url: string
  readonly state: NodeState
  /** Null while it does not run. */
  readonly pid: number | null
  readonly redisPid: number | null
  /** Where its replica, or the log that it writes, ends; null while it does not report it. */
  readonly offset: number | null
  /** Why it is not `up`, or what it lacks, where more is known than the state. */
  readonly detail: string | null
}

type Report = { health: Health | null; wasUp: boolean }
type Exits = Pick<KeptProcesses, 'endOf' | 'isHopeless'>

/** Stores the latest health report of each service. */
export class ServiceHealth {
  readonly #supervisor: Supervisor
  readonly #exits: Exits
  readonly #isCluster: boolean
  readonly #reportByName = new Map<string, Report>()

  /** @param isCluster - Whether the commands of a local cluster can repair a service. */
  constructor(supervisor: Supervisor, exits: Exits, isCluster: boolean) {
    this.#supervisor = supervisor
    this.#exits = exits
    this.#isCluster = isCluster
  }

  /** Forgets the reports of a service whose process is being started. */
  begin(service: Service): void {
    this.#reportByName.set(service.name, { health: null, wasUp: false })
  }

  /** Asks the service for its health now. */
  async ask(service: Service): Promise<void> {
    const report = this.#reportByName.get(service.name)
    // At its root a validator answers as the ledger interface does, which gives no reasons.
    const url = `${service.url}${service.kind === 'validator' ? '/api/validator' : ''}`
    const health = await askHealth(url)
    if (report === undefined) return
    report.health = health
    if (health?.state === 'up') report.wasUp = true
  }

  /** From the latest report and the state of the processes. Sends no request. */
  stateOf(service: Service): Pick<ServiceStatus, 'state' | 'detail'> {
    const app = this.#supervisor.state(service.app.id)
    const redis = service.isElsewhere ? 'running' : this.#supervisor.state(service.redis.id)
    const ends = (id: string) => this.#exits.endOf(id)
    if (redis === 'gone' && ends(service.redis.id) !== null)
      return { state: 'down', detail: `its Redis exited (${ends(service.redis.id)})` }
    if (app === 'gone') {
      const how = ends(service.app.id)
      return { state: 'down', detail: how === null ? null : `it exited (${how})` }
    }
    if (app === 'stopped') return { state: 'paused', detail: null }
    if (redis === 'gone') return { state: 'down', detail: 'its Redis is down' }
    if (redis === 'stopped') return { state: 'paused', detail: 'its Redis is paused' }
    const report = this.#reportOf(service)
    if (report?.health != null) return { state: report.health.state, detail: report.health.detail }
    return { state: report?.wasUp ? 'silent' : 'starting', detail: null }
  }

  /** What is wrong with a service that is not up, and what to do next. */
  describeTrouble(service: Service): string {
    const { state, detail } = this.stateOf(service)
    // A process may report a whole sentence.
    const reason = detail?.replace(/\.$/, '') ?? null
    return [`${service.name} is ${wordOfState[state]}`, reason, this.#adviceOn(service)]
      .filter((part) => part !== null)
      .join('; ')
  }

  #adviceOn(service: Service): string | null {
    const { name, kind } = service
    const isRedisBroken = this.#exits.isHopeless(service.redis.id)
    const isStalled = this.healthOf(service)?.standsStill === true
    const hasExited = isRedisBroken || this.#exits.isHopeless(service.app.id)
    if (!hasExited && !isStalled) return null
    if (!this.#isCluster) return 'see "Losing a machine" in docs/operations.md'
    const logs = `\`quorumscan logs ${isRedisBroken ? service.redis.id : name}\` shows more`
    if (service.engineDirectory !== null)
      return service.node === name
        ? logs
        : `\`quorumscan wipe ${service.node} --disk\` rebuilds it from the others; ${logs}`
    if (kind === 'synchronizer')
      return `the log is in ${service.redisDirectory}: \`quorumscan log repair\` repairs it, or shows what can; ${logs}`
    if (this.healthOf(service)?.code === 'USERS_LOST')
      return `restore ${service.redisDirectory}, or \`quorumscan down\` and \`quorumscan up --accept-lost-users\``
    if (kind === 'validator' && isRedisBroken)
      return `only it holds its users: repair or restore ${service.redisDirectory}; ${logs}`
    return isRedisBroken || isStalled
      ? `\`quorumscan wipe ${name}\` rebuilds it from the log; ${logs}`
      : logs
  }

  /** The latest report; null without one, and while the service or its Redis does not run: then it is out of date. */
  healthOf(service: Service): Health | null {
    return this.#reportOf(service)?.health ?? null
  }

  #reportOf({ name, app, redis }: Service): Report | undefined {
    const doRun = [app, redis].every(({ id }) => this.#supervisor.state(id) === 'running')
    return doRun ? this.#reportByName.get(name) : undefined
  }
}
