/** What a command or a fault is about: which processes of which node. */
import { UsageError } from '@quorumscan/runtime'
import type { Service, ServiceRunner, SignalScope, Supervisor } from '@quorumscan/supervisor'
import type { FaultSpec, Part } from './faults/fault-spec.ts'

/** One process of a node, or all that the node stands for. */
export type Target = { readonly node: string; readonly part: Part | null }

/** What runs under the name of a node; what has that name comes first. */
export type NodeServices = readonly [Service, ...Service[]]

/** The processes of a cluster, to be asked and signalled. */
export type Processes = {
  readonly runner: ServiceRunner
  readonly supervisor: Supervisor
}

/** What a target stands for. */
export type Hit = {
  readonly services: readonly Service[]
  /** Whose Redis is meant, too. */
  readonly redis: Service | null
  /** Whose engine is meant: it belongs to a process that is not. */
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
  if (part === null)
    return services.length > 1 ? { ...none, services, redis: main } : { ...none, services }
  const chosen = services.find(({ kind, engineDirectory }) =>
    part === 'cometbft' ? engineDirectory !== null : kind === part,
  )
  if (chosen === undefined) throw new UsageError(`${main.node} has no ${part} of its own`)
  return part === 'cometbft' ? { ...none, engineOf: chosen } : { ...none, services: [chosen] }
}

/** Of its processes. */
export function idsOf({ services, redis }: Hit): readonly string[] {
  return [...services.map(({ app }) => app.id), ...(redis === null ? [] : [redis.redis.id])]
}

/** An engine is in the group of its synchronizer, and is another part. */
export function scopeOf(part: Part | null): SignalScope {
  return part === 'synchronizer' ? 'process' : 'group'
}

/** Whether the fault is that this hangs. */
export function isPauseOf(spec: FaultSpec, { node, part }: Target): boolean {
  return spec.kind === 'pause' && spec.node === node && spec.part === part
}

/** The processes of it that run. @throws {CommandError} If none does. */
export function runningOf({ runner, supervisor }: Processes, hit: Hit): readonly string[] {
  const ids = idsOf(hit)
  const running = ids.filter((id) => supervisor.pid(id) !== null)
  if (running.length === 0) for (const id of ids) runner.assertRunning(id)
  return running
}

/** SIGCONT to processes of a part. */
export async function resume(
  { supervisor }: Pick<Processes, 'supervisor'>,
  part: Part | null,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) await supervisor.resume(id, scopeOf(part))
}

/** What is to be up again once this was started: a process that runs without its Redis is up when that is there. */
export function startedBy(
  { supervisor }: Pick<Processes, 'supervisor'>,
  { services, redis }: Hit,
): readonly Service[] {
  const runs = redis !== null && supervisor.pid(redis.app.id) !== null
  return runs && !services.includes(redis) ? [...services, redis] : services
}
