/**
 * The state of services: from the latest health report of each, the state of its processes, and how they exited. Describes
 * what is wrong with a service, and what to do next.
 */

import { held } from '@quorumscan/base'
import { type NodeState, stateLabel } from '@quorumscan/errors/node-words'
import { fetchHealth, type Health, type ProcessRestarts } from '@quorumscan/runtime'
import { readRedisFailure } from './redis-log.ts'
import type { Service } from './service.ts'
import type { Supervisor } from './supervisor.ts'

export type ServiceHealth = ReturnType<typeof createServiceHealth>
/** The status of a service with its processes. */
export type ServiceStatus = ReturnType<ServiceHealth['statusOf']>

/** At its root, a validator serves the `/readyz` of the ledger interface, which reports no reason. */
export function healthUrlOf({ url, kind }: Pick<Service, 'url' | 'kind'>): string {
  return `${url}${kind === 'validator' ? '/api/validator' : ''}`
}

/** How to repair the damaged data of a service; null: it is not known to be damaged. */
function repairOf(
  { name, owner, kind, engineDirectory, redisDirectory }: Service,
  known: {
    readonly isDamaged: boolean
    readonly isRedisBroken: boolean
    readonly code: string | null
  },
): string | null {
  if (known.code === 'USERS_LOST')
    return `restore ${redisDirectory}, or \`quorumscan down\` and \`quorumscan up --accept-lost-users\``
  if (!known.isDamaged) return null
  // The Redis is that of the node, and is repaired with it.
  if (engineDirectory !== null && owner !== name) return `\`quorumscan wipe ${owner}\` rebuilds it`
  if (kind === 'synchronizer')
    return `the log is in ${redisDirectory}: \`quorumscan log repair\` repairs it, or reports what is missing`
  if (kind === 'validator' && known.isRedisBroken)
    return `this Redis holds the only copy of its users: repair or restore ${redisDirectory}`
  return `\`quorumscan wipe ${name}\` rebuilds it from the log`
}

/** Stores the latest health report of each service. */
export function createServiceHealth(options: {
  readonly supervisor: Supervisor
  readonly exits: Pick<ProcessRestarts, 'exitOf' | 'isCrashLooping'>
  /** Whether the commands of a local cluster can repair a service. */
  readonly isCluster: boolean
}) {
  const { supervisor, exits, isCluster } = options
  const reportByName = held(
    { owner: 'supervisor', name: 'health reports', kind: 'state', bound: 'one of each service' },
    new Map<string, { health: Health | null; wasUp: boolean }>(),
  )

  const redisStateOf = ({ isExternal, redis }: Service) =>
    isExternal === true ? 'running' : supervisor.state(redis.id)

  const reportOf = (service: Service) => {
    const doRun = supervisor.state(service.app.id) === 'running'
    return doRun && redisStateOf(service) === 'running' ? reportByName.get(service.name) : undefined
  }

  /** The latest report; null without one, and while the service or its Redis does not run: then it is out of date. */
  const healthOf = (service: Service): Health | null => reportOf(service)?.health ?? null

  /** From the latest report and the state of the processes. Sends no request. `detail`: what is known beyond the state. */
  const stateOf = (
    service: Service,
  ): { readonly state: NodeState; readonly detail: string | null } => {
    const app = supervisor.state(service.app.id)
    const redis = redisStateOf(service)
    const appEnd = exits.exitOf(service.app.id)
    const redisEnd = exits.exitOf(service.redis.id)
    if (redis === 'gone' && redisEnd !== null)
      return { state: 'down', detail: `its Redis exited (${redisEnd})` }
    if (app === 'gone')
      return { state: 'down', detail: appEnd === null ? null : `it exited (${appEnd})` }
    if (app === 'stopped') return { state: 'paused', detail: null }
    if (redis === 'gone') return { state: 'down', detail: 'its Redis is down' }
    if (redis === 'stopped') return { state: 'paused', detail: 'its Redis is paused' }
    const report = reportOf(service)
    if (report?.health != null) return { state: report.health.state, detail: report.health.detail }
    return { state: report?.wasUp ? 'silent' : 'starting', detail: null }
  }

  /**
   * Advises to delete or repair data only where it is known to be damaged: a start can fail for many other reasons, and a
   * deleted replica cannot be rebuilt while the log is not whole.
   */
  const adviceOn = (service: Service): string | null => {
    const { name } = service
    const isRedisBroken = exits.isCrashLooping(service.redis.id)
    const code = healthOf(service)?.code ?? null
    const isStalled = healthOf(service)?.isStalled === true
    const hasExited = isRedisBroken || exits.isCrashLooping(service.app.id)
    if (!hasExited && !isStalled) return null
    const failure = isRedisBroken ? readRedisFailure(service.redis.logFile) : null
    const isDamaged = failure?.isDamage === true || code === 'STATE_DIVERGED'
    const reason = failure === null ? [] : [`Redis reports "${failure.reason}"`]
    if (!isCluster) {
      const where =
        '`quorumscan replica wipe --config FILE` deletes a damaged replica, and `run` rebuilds it; see "Losing a machine" in docs/operations.md'
      if (isDamaged) return [...reason, where].join('; ')
      // A process that reports its reason has said what to do.
      const isKnown = healthOf(service)?.detail != null
      return isKnown ? null : [...reason, 'the output of `run` has the reason'].join('; ')
    }
    const logs = `\`quorumscan logs ${isRedisBroken ? service.redis.id : name}\` shows more`
    return [...reason, repairOf(service, { isDamaged, isRedisBroken, code }), logs]
      .filter((part) => part !== null)
      .join('; ')
  }

  return {
    /** Forgets the reports of a service whose process is being started. */
    begin: ({ name }: Service) => void reportByName.set(name, { health: null, wasUp: false }),
    /** Asks the service for its health now. */
    async ask(service: Service): Promise<void> {
      const report = reportByName.get(service.name)
      const health = await fetchHealth(healthUrlOf(service))
      if (report === undefined) return
      report.health = health
      if (health?.state === 'up') report.wasUp = true
    },
    healthOf,
    stateOf,
    statusOf: (service: Service) => ({
      url: service.url,
      ...stateOf(service),
      /** Null while it does not run. */
      pid: supervisor.pid(service.app.id),
      redisPid: supervisor.pid(service.redis.id),
      /** The last offset of its replica, or of the log that it writes; null while it does not report it. */
      offset: healthOf(service)?.offset ?? null,
    }),
    /** Describes what is wrong with a service that is not up, and what to do next. */
    describeTrouble(service: Service): string {
      const { state, detail } = stateOf(service)
      // A process may report a whole sentence.
      const reason = detail?.replace(/\.$/, '') ?? null
      return [`${service.name} is ${stateLabel[state]}`, reason, adviceOn(service)]
        .filter((part) => part !== null)
        .join('; ')
    },
  }
}
