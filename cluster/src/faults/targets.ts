/** The processes that a command or a fault acts on. */
import { UsageError } from '@quorumscan/runtime'
import type { Service, ServiceRunner, SignalScope } from '@quorumscan/supervisor'
import type { Part } from './fault-spec.ts'

/** One process of a node, or the whole node. */
export type Target = { readonly node: string; readonly part: Part | null }

/** The services of a node, the one with its name first. */
export type NodeServices = ReturnType<ServiceRunner['servicesOf']>

/** The processes of a target. */
export type Hit = {
  readonly services: readonly Service[]
  /** The service whose Redis belongs to it. */
  readonly redis: Service | null
  /** The service whose engine it is, without the service itself. */
  readonly engineOf: Service | null
}

/**
 * The processes of a node, or of a part of it. Pure.
 *
 * @throws {UsageError} If the node has no such part.
 */
export function hitBy(services: NodeServices, part: Part | null): Hit {
  const [main] = services
  const none: Hit = { services: [], redis: null, engineOf: null }
  if (part === 'redis') return { ...none, redis: main }
  if (part === null) return { ...none, services, redis: services.length > 1 ? main : null }
  const chosen = services.find(({ kind, engineDirectory }) =>
    part === 'cometbft' ? engineDirectory !== null : kind === part,
  )
  if (chosen === undefined) throw new UsageError(`${main.node} has no ${part} of its own`)
  return part === 'cometbft' ? { ...none, engineOf: chosen } : { ...none, services: [chosen] }
}

/** The ids of the processes of a target. */
export function idsOf({ services, redis }: Hit): readonly string[] {
  return [...services.map(({ app }) => app.id), ...(redis === null ? [] : [redis.redis.id])]
}

/** An engine is in the process group of its synchronizer, but is another part. */
export function scopeOf(part: Part | null): SignalScope {
  return part === 'synchronizer' ? 'process' : 'group'
}

/** The processes of a target that run. @throws {CommandError} If none runs. */
export function runningOf(runner: ServiceRunner, hit: Hit): readonly string[] {
  const ids = idsOf(hit)
  const running = ids.filter((id) => runner.processes.pid(id) !== null)
  if (running.length === 0) for (const id of ids) runner.assertRunning(id)
  return running
}

/** The services that must be up after a start, including a process that runs and whose Redis was started. */
export function startedBy(
  { processes }: ServiceRunner,
  { services, redis }: Hit,
): readonly Service[] {
  const runs = redis !== null && processes.pid(redis.app.id) !== null
  return runs && !services.includes(redis) ? [...services, redis] : services
}
