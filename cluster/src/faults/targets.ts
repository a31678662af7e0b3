/** Which processes of which node a command or a fault is about. */
import { UsageError } from '@quorumscan/runtime'
import type { Service, ServiceRunner, SignalScope } from '@quorumscan/supervisor'
import type { Part } from './fault-spec.ts'

/** One process of a node, or all that the node stands for. */
export type Target = { readonly node: string; readonly part: Part | null }

/** What runs under the name of a node; the service with that name comes first. */
export type NodeServices = ReturnType<ServiceRunner['servicesOf']>

/** What a target stands for. */
export type Hit = {
  readonly services: readonly Service[]
  /** The service whose Redis is meant, too. */
  readonly redis: Service | null
  /** The service whose engine is meant. The service itself is not. */
  readonly engineOf: Service | null
}

/**
 * What runs under the name of a node, or a part of it. Pure.
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

/** The ids of its processes. */
export function idsOf({ services, redis }: Hit): readonly string[] {
  return [...services.map(({ app }) => app.id), ...(redis === null ? [] : [redis.redis.id])]
}

/** An engine is in the process group of its synchronizer, and is another part. */
export function scopeOf(part: Part | null): SignalScope {
  return part === 'synchronizer' ? 'process' : 'group'
}

/** The processes of it that run. @throws {CommandError} If none does. */
export function runningOf(runner: ServiceRunner, hit: Hit): readonly string[] {
  const ids = idsOf(hit)
  const running = ids.filter((id) => runner.processes.pid(id) !== null)
  if (running.length === 0) for (const id of ids) runner.assertRunning(id)
  return running
}

/** What must be up again once this was started: a process that runs without its Redis is up when that is there. */
export function startedBy(
  { processes }: ServiceRunner,
  { services, redis }: Hit,
): readonly Service[] {
  const runs = redis !== null && processes.pid(redis.app.id) !== null
  return runs && !services.includes(redis) ? [...services, redis] : services
}
