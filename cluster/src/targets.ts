/** What a command or a fault is about: which processes of which node. Pure. */
import { UsageError } from '@quorumscan/runtime'
import type { Service, SignalScope } from '@quorumscan/supervisor'
import type { FaultSpec, Part } from './faults/fault-spec.ts'

/** One process of a node, or all that the node stands for. */
export type Target = { readonly node: string; readonly part: Part | null }

/** What a target stands for. */
export type Hit = {
  readonly services: readonly Service[]
  /** Whose Redis is meant, too. */
  readonly redis: Service | null
  /** Whose engine is meant: it belongs to a process that is not. */
  readonly engineOf: Service | null
}

/**
 * What runs under the name of a node (what has that name first), or a part of it.
 *
 * @throws {UsageError} If the node has no such part.
 */
export function hitBy(services: readonly [Service, ...Service[]], part: Part | null): Hit {
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

/** What makes no sense is refused before anything is done. @throws {UsageError} */
export function assertPossible(
  [service, ...beside]: readonly [Service, ...Service[]],
  spec: FaultSpec,
): void {
  const refuse = (why: string): never => {
    throw new UsageError(`${service.name}: ${why}`)
  }
  if (spec.kind === 'disk' && [service, ...beside].every(({ kind }) => kind !== 'synchronizer'))
    refuse('it writes no log: say that it is the disk of the synchronizer')
  const hasEngine = [service, ...beside].some(({ engineDirectory }) => engineDirectory !== null)
  const edge = 'edge' in spec ? spec.edge : null
  if (!hasEngine && (spec.kind === 'split' || edge === 'p2p'))
    refuse('it has no engine that orders with others')
  if (spec.kind === 'lie' && service.kind !== 'scan') refuse('only super-validators can lie')
  if (service.kind !== 'synchronizer') return
  if (spec.kind === 'memory')
    refuse(
      hasEngine
        ? 'its Redis is that of the validator'
        : 'the log keeps what nothing else holds; kill its Redis instead',
    )
  if (spec.kind === 'partition' || edge === 'log' || edge === 'redis')
    refuse('cut the nodes off from the log instead (--edge log)')
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
