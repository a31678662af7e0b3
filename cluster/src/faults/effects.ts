/**
 * The effect of each kind of fault on a cluster. `EFFECTS` has an entry for each kind of `FAULTS`. The order of the steps, and
 * the list of faults in force, are in `fault-runner.ts`.
 */
import { withRedis } from '@quorumscan/redis'
import { UsageError } from '@quorumscan/runtime'
import type { RedisService, Service, ServiceRunner, SignalScope } from '@quorumscan/supervisor'
import { SYNCHRONIZER } from '../rig/cluster-shape.ts'
import { isVisibleLie } from '../view/lies.ts'
import { faultSocketOf } from './fault-sockets.ts'
import type {
  EdgeName,
  FAULTS,
  FaultSpec,
  LinkFault,
  Part,
  ProcessFaults,
  SpecOf,
} from './fault-spec.ts'
import { DROP_ALL, NO_FAULTS } from './fault-spec.ts'
import { isFlooded, startFlood, stopFlood } from './flood.ts'
import { clockEnvironment, findFaketime, stepBack } from './machine-clock.ts'
import { clearDisk, fillDisk, isSmallDisk } from './small-disk.ts'

/** One process of a node, or the whole node. */
export type Target = { readonly node: string; readonly part: Part | null }

/** The services of a node, the one with its name first. */
export type NodeServices = ReturnType<ServiceRunner['servicesOf']>

/** The processes of a target. */
export type TargetProcesses = {
  readonly services: readonly Service[]
  /** The service whose Redis belongs to it. */
  readonly redis: Service | null
  /** The service whose engine it is, without the service itself. */
  readonly engineOf: Service | null
}

/** The system that effects act on. */
export type FaultContext = {
  readonly services: ServiceRunner
  /** A directory on the disk that a fault fills. */
  readonly dataDirectory: string
}

/** The faults of one kind, as the processes of a node receive them. */
type InProcess = Omit<Partial<ProcessFaults>, 'edges'> & {
  readonly edges?: Partial<Record<EdgeName, LinkFault>>
}

type Parts<Spec extends FaultSpec> = {
  /** Why it is invalid on the services of a node; null: it is valid. Pure. */
  refusal(services: NodeServices, spec: Spec): string | null
  /** Whether it is still in force. Missing: it ends only by healing. */
  isInForce(faultContext: FaultContext, spec: Spec): boolean
  /** Variables of a process that starts while it is in force. */
  environmentOf(spec: Spec, service: Service): Readonly<Record<string, string>>
  /** Called while it is in force when a Redis of the node was started. */
  redisReady(service: RedisService): Promise<void>
  /** Its effect inside the processes of a node. Pure. */
  inProcess(spec: Spec, node: string): InProcess
  /** Brings it into force. Then the processes receive their faults. No other command acts on the node meanwhile. */
  begin(faultContext: FaultContext, spec: Spec): Promise<void>
  /** Ends what the control plane itself does for it. Called when the control plane stops, and leaves the fault in the list. */
  release(faultContext: FaultContext, spec: Spec): void
  /** Ends it once it has left the list, and returns the services that it started. Then the processes receive theirs. */
  end(faultContext: FaultContext, spec: Spec): Promise<readonly Service[]>
}

/** The effect of a kind of fault: inside the processes, or from outside, or both. */
export type Effect<Spec extends FaultSpec> = Partial<Parts<Spec>> &
  (Pick<Parts<Spec>, 'inProcess'> | Pick<Parts<Spec>, 'begin' | 'end'>)

const onLink = {
  refusal: (services: NodeServices, { edge }: SpecOf<'slow' | 'drop' | 'reset'>) => {
    if (edge === 'p2p') return refusalWithoutEngine(services)
    return edge === 'http' ? null : refusalOfCut(services)
  },
  inProcess: ({ edge, node: _, ...link }: SpecOf<'slow' | 'drop' | 'reset'>) => ({
    edges: { [edge]: link },
  }),
}

export const EFFECTS: EffectsOf<typeof FAULTS> = {
  kill: {
    inProcess: ({ part }) => (part === 'cometbft' ? { engine: 'killed' } : {}),
    async begin({ services }, spec) {
      const ids = idsOf(processesOf(services.servicesOf(spec.node), spec.part))
      await Promise.all(ids.map((id) => services.processes.kill(id)))
    },
    async end({ services }, { node, part }) {
      const own = services.servicesOf(node)
      const parts = processesOf(own, part)
      if (parts.engineOf !== null) return []
      if (services.mayStart(own[0].redis.id)) await services.startRedis(own[0])
      for (const service of parts.services)
        if (services.processes.pid(service.app.id) === null && services.mayStart(service.app.id))
          await services.startApp(service)
      return startedBy(services, parts)
    },
    isInForce: (faultContext, spec) => isAny(faultContext, spec, 'gone'),
  },
  pause: {
    inProcess: ({ part }) => (part === 'cometbft' ? { engine: 'paused' } : {}),
    async begin({ services }, { node, part }) {
      const parts = processesOf(services.servicesOf(node), part)
      for (const id of runningOf(services, parts)) await services.processes.pause(id, scopeOf(part))
    },
    async end({ services }, { node, part }) {
      for (const id of idsOf(processesOf(services.servicesOf(node), part)))
        await services.processes.resume(id, scopeOf(part))
      return []
    },
    isInForce: (faultContext, spec) => isAny(faultContext, spec, 'stopped'),
  },
  lie: {
    refusal([main], { lie, to }) {
      if (main.kind !== 'scan') return 'only super-validators can lie'
      if (to === undefined || isVisibleLie(lie)) return null
      return 'this lie is in the log, where all see the same: leave out --to'
    },
    inProcess: ({ lie, to = null }) => ({ lie, lieTo: to }),
  },
  flood: {
    refusal: ([main]) => (main.kind === 'scan' ? null : 'only super-validators can be flooded'),
    async begin({ services }, { node, rate }) {
      startFlood(services.service(node).url, rate)
    },
    async end({ services }, { node }) {
      stopFlood(services.service(node).url)
      return []
    },
    isInForce: ({ services }, { node }) => isFlooded(services.service(node).url),
    release: ({ services }, { node }) => stopFlood(services.service(node).url),
  },
  slow: onLink,
  drop: onLink,
  reset: onLink,
  partition: {
    refusal: refusalOfCut,
    inProcess: ({ from }) => ({
      edges: {
        ...(from === 'proxy' ? {} : { log: DROP_ALL }),
        ...(from === 'log' ? {} : { http: DROP_ALL }),
        ...(from === 'all' ? { p2p: DROP_ALL } : {}),
      },
    }),
  },
  split: {
    refusal: refusalWithoutEngine,
    inProcess: (spec, node) => ({ cutPeers: spec.node === node ? spec.others : [spec.node] }),
  },
  clock: { inProcess: ({ offsetMs }) => ({ clockOffsetMs: offsetMs }) },
  'machine-clock': {
    async begin({ services }, { node, run }) {
      findFaketime()
      await restartRunning(services, node)
      if (run !== 'back') return
      for (const service of services.servicesOf(node)) {
        await services.untilUpOrLate(service)
        stepBack(faultSocketOf(service))
      }
    },
    async end({ services }, { node }) {
      await restartRunning(services, node)
      return services.servicesOf(node)
    },
    environmentOf: ({ run }, service) => clockEnvironment(run, faultSocketOf(service)),
  },
  memory: {
    refusal: (services) => {
      if (services[0].kind !== 'synchronizer') return null
      return hasEngine(services)
        ? 'it has no Redis of its own: use `fill validator`'
        : 'its Redis holds the only log: use `kill synchronizer redis`'
    },
    async begin({ services }, { node }) {
      const service = services.service(node)
      services.assertRunning(service.redis.id)
      await limitMemory(service, true)
    },
    async end({ services }, { node }) {
      const service = services.service(node)
      if (services.processes.state(service.redis.id) === 'running')
        await limitMemory(service, false)
      return []
    },
    redisReady: (service) => limitMemory(service, true),
  },
  disk: {
    refusal: (services) =>
      services.some(({ kind }) => kind === 'synchronizer')
        ? null
        : 'it writes no log: fill the disk of the synchronizer',
    inProcess: () => ({ isDiskFull: true }),
    async begin({ dataDirectory }, { node }) {
      // On the cluster's own small disk no process can write. Otherwise only the log is out of space.
      if (node === SYNCHRONIZER && isSmallDisk(dataDirectory)) await fillDisk(dataDirectory, 0)
    },
    async end({ dataDirectory }) {
      clearDisk(dataDirectory)
      return []
    },
  },
}

/** An entry for each kind, which takes the output of its schema. */
export type EffectsOf<Table extends typeof FAULTS> = {
  readonly [Kind in keyof Table]: Effect<SpecOf<Kind & keyof typeof FAULTS>>
}

/** The effect of a fault's kind. */
export function effectOf<Spec extends FaultSpec>(spec: Spec): Effect<Spec> {
  // TypeScript cannot derive that the entry of a fault's kind takes that fault.
  return EFFECTS[spec.kind] as unknown as Effect<Spec>
}

/** These faults, as the processes of a node receive them, without effects from outside. */
export function processFaultsOf(node: string, specs: readonly FaultSpec[]): ProcessFaults {
  const edges: Record<EdgeName, LinkFault[]> = { http: [], log: [], redis: [], p2p: [] }
  const cutPeers: string[] = []
  let faults = NO_FAULTS
  for (const spec of specs) {
    const own = effectOf(spec).inProcess?.(spec, node) ?? {}
    const { edges: links = {}, cutPeers: peers = [], ...others } = own
    faults = { ...faults, ...others }
    cutPeers.push(...peers)
    for (const [edge, link] of Object.entries(links)) edges[edge as EdgeName].push(link)
  }
  return { ...faults, cutPeers, edges }
}

/** Below the size of an empty Redis: it answers reads and refuses writes (`noeviction`). A restart restores its own limit. */
async function limitMemory(redis: RedisService, isFull: boolean): Promise<void> {
  const { redisAddress, redisMemoryBytes } = redis
  await withRedis({ path: redisAddress.path }, 'settings', (connection) =>
    connection.config('SET', 'maxmemory', isFull ? '1' : String(redisMemoryBytes)),
  )
}

/** Programs take another clock only at their start. */
async function restartRunning(services: ServiceRunner, node: string): Promise<void> {
  const running = services
    .servicesOf(node)
    .filter(({ app }) => services.processes.pid(app.id) !== null)
  for (const { app } of running) await services.stop(app.id)
  for (const service of running) await services.startApp(service)
}

function isAny({ services }: FaultContext, { node, part }: Target, state: 'gone' | 'stopped') {
  const parts = processesOf(services.servicesOf(node), part)
  return (
    parts.engineOf !== null || idsOf(parts).some((id) => services.processes.state(id) === state)
  )
}

function hasEngine(services: NodeServices): boolean {
  return services.some(({ engineDirectory }) => engineDirectory !== null)
}

function refusalWithoutEngine(services: NodeServices): string | null {
  return hasEngine(services) ? null : 'it has no engine that orders with others'
}

function refusalOfCut([main]: NodeServices): string | null {
  if (main.kind !== 'synchronizer') return null
  return 'this fault does not apply to a synchronizer: use `drop` on the nodes, with `--edge log`'
}

/**
 * The processes of a node, or of a part of it. Pure.
 *
 * @throws {UsageError} If the node has no such part.
 */
export function processesOf(services: NodeServices, part: Part | null): TargetProcesses {
  const [main] = services
  const none: TargetProcesses = { services: [], redis: null, engineOf: null }
  if (part === 'redis') return { ...none, redis: main }
  if (part === null) return { ...none, services, redis: services.length > 1 ? main : null }
  const chosen = services.find(({ kind, engineDirectory }) =>
    part === 'cometbft' ? engineDirectory !== null : kind === part,
  )
  if (chosen === undefined) throw new UsageError(`${main.owner} has no ${part} of its own`)
  return part === 'cometbft' ? { ...none, engineOf: chosen } : { ...none, services: [chosen] }
}

/** The ids of the processes of a target. */
export function idsOf({ services, redis }: TargetProcesses): readonly string[] {
  return [...services.map(({ app }) => app.id), ...(redis === null ? [] : [redis.redis.id])]
}

/** An engine is in the process group of its synchronizer, but is another part. */
export function scopeOf(part: Part | null): SignalScope {
  return part === 'synchronizer' ? 'process' : 'group'
}

/** The processes of a target that run. @throws {CommandError} If none runs. */
export function runningOf(runner: ServiceRunner, parts: TargetProcesses): readonly string[] {
  const ids = idsOf(parts)
  const running = ids.filter((id) => runner.processes.pid(id) !== null)
  if (running.length === 0) for (const id of ids) runner.assertRunning(id)
  return running
}

/** The services that must be up after a start, including a process that runs and whose Redis was started. */
export function startedBy({ processes }: ServiceRunner, { services, redis }: TargetProcesses) {
  const runs = redis !== null && processes.pid(redis.app.id) !== null
  return runs && !services.includes(redis) ? [...services, redis] : services
}
