/**
 * What each kind of fault does to a cluster, and how that ends. `EFFECTS` has an entry for each kind of `FAULTS`; which
 * faults are in force is kept in `fault-control.ts`.
 */
import type { RedisService, Service } from '@quorumscan/supervisor'
import { SYNCHRONIZER } from '../cluster-shape.ts'
import {
  hitBy,
  idsOf,
  type NodeServices,
  type Processes,
  resume,
  runningOf,
  scopeOf,
  startedBy,
} from '../targets.ts'
import { type EdgeName, type FAULTS, type FaultSpec, nodesOf, type SpecOf } from './fault-spec.ts'
import { clockEnvironment, findFaketime, stepBack } from './machine-clock.ts'
import { type LinkFault, NO_FAULTS, type ProcessFaults } from './process-faults.ts'
import { limitMemory } from './redis-memory.ts'
import { clearDisk, fillDisk, isSmallDisk } from './small-disk.ts'

/** What effects act on. */
export type BrokenCluster = Processes & {
  /** On the disk that a fault fills. */
  readonly dataDirectory: string
  /** Sends a process the faults that are in force on it. */
  deliver(service: Service): Promise<void>
  /** Whether a process is killed on purpose, by its id. */
  isKilled(id: string): boolean
}

/** What the processes of a node are told of faults. */
type Told = Omit<Partial<ProcessFaults>, 'edges'> & {
  readonly edges?: Partial<Record<EdgeName, LinkFault>>
}

/** What a kind of fault does. */
export type Effect<Spec extends FaultSpec> = {
  /** Why it makes no sense on what has the name of a node; null: it does. Pure. */
  refusal(services: NodeServices, spec: Spec): string | null
  /** What the processes of a node do about it; empty where it is done from outside. Pure. */
  told(spec: Spec, node: string): Told
  /** Brings it into force. Nothing else is done to the node meanwhile. */
  begin(cluster: BrokenCluster, spec: Spec): Promise<void>
  /**
   * Ends it when it has left the list; processes are told afterwards. Nothing else is done to the node meanwhile.
   *
   * @returns What it started, until which is up the caller waits.
   */
  end(cluster: BrokenCluster, spec: Spec): Promise<readonly Service[]>
  /** Whether it is in force still: it can end by other means. */
  isInForce(cluster: BrokenCluster, spec: Spec): boolean
  /** What a process is started with while it is in force. */
  environmentOf?(spec: Spec, service: Service): Readonly<Record<string, string>>
  /** Called while it is in force when a Redis of the node was started. */
  redisReady?(service: RedisService): Promise<void>
}

/** Who is told does all of it. */
const byProcesses = {
  refusal: () => null,
  begin: tell,
  end: async () => [],
  isInForce: () => true,
}
const fromOutside = { refusal: () => null, told: () => ({}), isInForce: () => true }
const onLink = {
  ...byProcesses,
  refusal: (services: NodeServices, { edge }: SpecOf<'slow' | 'drop' | 'reset'>) => {
    if (edge === 'p2p') return refusalWithoutEngine(services)
    return edge === 'http' ? null : refusalOfCut(services)
  },
}
const SILENT: LinkFault = { kind: 'drop', rate: 1 }

export const EFFECTS: EffectsOf<typeof FAULTS> = {
  kill: {
    refusal: () => null,
    told: ({ part }) => (part === 'cometbft' ? { engine: 'killed' } : {}),
    async begin(cluster, spec) {
      const hit = hitBy(cluster.runner.servicesOf(spec.node), spec.part)
      if (hit.engineOf !== null) return await cluster.deliver(hit.engineOf)
      await Promise.all(idsOf(hit).map((id) => cluster.supervisor.kill(id)))
    },
    async end(cluster, { node, part }) {
      const { runner, supervisor, isKilled } = cluster
      const services = runner.servicesOf(node)
      const hit = hitBy(services, part)
      if (hit.engineOf !== null) return []
      if (!isKilled(services[0].redis.id)) await runner.startRedis(services[0])
      for (const service of hit.services)
        if (supervisor.pid(service.app.id) === null && !isKilled(service.app.id))
          await runner.startApp(service)
      return startedBy(cluster, hit)
    },
    isInForce: (cluster, spec) => isAny(cluster, spec, 'gone'),
  },
  pause: {
    refusal: () => null,
    told: ({ part }) => (part === 'cometbft' ? { engine: 'paused' } : {}),
    async begin(cluster, { node, part }) {
      const hit = hitBy(cluster.runner.servicesOf(node), part)
      if (hit.engineOf !== null) return await cluster.deliver(hit.engineOf)
      for (const id of runningOf(cluster, hit)) await cluster.supervisor.pause(id, scopeOf(part))
    },
    async end(cluster, { node, part }) {
      const hit = hitBy(cluster.runner.servicesOf(node), part)
      if (hit.engineOf === null) await resume(cluster, part, idsOf(hit))
      return []
    },
    isInForce: (cluster, spec) => isAny(cluster, spec, 'stopped'),
  },
  lie: {
    ...byProcesses,
    refusal: ([main]) => (main.kind === 'scan' ? null : 'only super-validators can lie'),
    told: ({ lie }) => ({ lie }),
  },
  slow: {
    ...onLink,
    told: ({ edge, latencyMs, jitterMs }) => ({
      edges: { [edge]: { kind: 'slow', latencyMs, jitterMs } },
    }),
  },
  drop: {
    ...onLink,
    told: ({ edge, rate }) => ({ edges: { [edge]: { kind: 'drop', rate } } }),
  },
  reset: {
    ...onLink,
    told: ({ edge }) => ({ edges: { [edge]: { kind: 'reset' } } }),
  },
  partition: {
    ...byProcesses,
    refusal: refusalOfCut,
    told: ({ from }) => ({
      edges: {
        ...(from === 'proxy' ? {} : { log: SILENT }),
        ...(from === 'log' ? {} : { http: SILENT }),
        ...(from === 'all' ? { p2p: SILENT } : {}),
      },
    }),
  },
  split: {
    ...byProcesses,
    refusal: refusalWithoutEngine,
    told: (spec, node) => ({ cutPeers: spec.node === node ? spec.others : [spec.node] }),
  },
  clock: {
    ...byProcesses,
    told: ({ offsetMs }) => ({ clockOffsetMs: offsetMs }),
  },
  'machine-clock': {
    ...fromOutside,
    async begin(cluster, { node, run }) {
      findFaketime()
      await startAnew(cluster, node)
      if (run !== 'back') return
      for (const service of cluster.runner.servicesOf(node)) {
        await cluster.runner.untilUpOrLate(service)
        stepBack(service.faultSocket)
      }
    },
    async end(cluster, { node }) {
      await startAnew(cluster, node)
      return cluster.runner.servicesOf(node)
    },
    environmentOf: ({ run }, service) => clockEnvironment(run, service.faultSocket),
  },
  memory: {
    ...fromOutside,
    refusal: (services) => {
      if (services[0].kind !== 'synchronizer') return null
      return hasEngine(services)
        ? 'its Redis is that of the validator'
        : 'the log keeps what nothing else holds; kill its Redis instead'
    },
    async begin({ runner }, { node }) {
      const { redis, redisAddress } = runner.service(node)
      runner.assertRunning(redis.id)
      await limitMemory(redisAddress.path, true)
    },
    async end({ runner, supervisor }, { node }) {
      const { redis, redisAddress } = runner.service(node)
      if (supervisor.state(redis.id) === 'running') await limitMemory(redisAddress.path, false)
      return []
    },
    redisReady: ({ redisAddress }) => limitMemory(redisAddress.path, true),
  },
  disk: {
    refusal: (services) =>
      services.some(({ kind }) => kind === 'synchronizer')
        ? null
        : 'it writes no log: say that it is the disk of the synchronizer',
    told: () => ({ isDiskFull: true }),
    async begin(cluster, spec) {
      // Where all have a small one together, no process can write; else its log alone finds no room.
      if (spec.node === SYNCHRONIZER && isSmallDisk(cluster.dataDirectory))
        await fillDisk(cluster.dataDirectory, 0)
      await tell(cluster, spec)
    },
    async end({ dataDirectory }) {
      clearDisk(dataDirectory)
      return []
    },
    isInForce: () => true,
  },
}
/** An entry for each kind, which takes what the schema of the kind gives. */
export type EffectsOf<Table extends typeof FAULTS> = {
  readonly [Kind in keyof Table]: Effect<SpecOf<Kind & keyof typeof FAULTS>>
}

/** The effect of a fault's kind. */
export function effectOf<Spec extends FaultSpec>(spec: Spec): Effect<Spec> {
  // TypeScript does not follow that the entry under a fault's kind takes that fault.
  return EFFECTS[spec.kind] as unknown as Effect<Spec>
}

/** What the processes of a node have to do about these faults; those that are done from outside do not count. */
export function processFaultsOf(node: string, specs: readonly FaultSpec[]): ProcessFaults {
  const edges: Record<EdgeName, LinkFault[]> = { http: [], log: [], redis: [], p2p: [] }
  const cutPeers: string[] = []
  let faults = NO_FAULTS
  for (const spec of specs) {
    const { edges: links = {}, cutPeers: peers = [], ...others } = effectOf(spec).told(spec, node)
    faults = { ...faults, ...others }
    cutPeers.push(...peers)
    for (const [edge, link] of Object.entries(links)) edges[edge as EdgeName].push(link)
  }
  return { ...faults, cutPeers, edges }
}

/** Tells all processes that a fault is about what is in force now. */
export async function tell(
  { runner, deliver }: Pick<BrokenCluster, 'runner' | 'deliver'>,
  spec: FaultSpec,
): Promise<void> {
  for (const node of nodesOf(spec))
    for (const service of runner.servicesOf(node)) await deliver(service)
}

/** A machine that gets another clock: its programs are started with it. */
async function startAnew({ runner, supervisor }: BrokenCluster, node: string): Promise<void> {
  const running = runner.servicesOf(node).filter(({ app }) => supervisor.pid(app.id) !== null)
  for (const { app } of running) await runner.stop(app.id)
  for (const service of running) await runner.startApp(service)
}

function isAny(
  { runner, supervisor }: BrokenCluster,
  { node, part }: SpecOf<'kill' | 'pause'>,
  state: 'gone' | 'stopped',
): boolean {
  const hit = hitBy(runner.servicesOf(node), part)
  return hit.engineOf !== null || idsOf(hit).some((id) => supervisor.state(id) === state)
}

function hasEngine(services: NodeServices): boolean {
  return services.some(({ engineDirectory }) => engineDirectory !== null)
}

function refusalWithoutEngine(services: NodeServices): string | null {
  return hasEngine(services) ? null : 'it has no engine that orders with others'
}

function refusalOfCut([main]: NodeServices): string | null {
  return main.kind === 'synchronizer' ? 'cut the nodes off from the log instead (--edge log)' : null
}
