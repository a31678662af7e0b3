/**
 * What each kind of fault does to a cluster, and how that ends. `EFFECTS` has an entry for each kind of `FAULTS`. The
 * order of the steps, and which faults are in force, are in `fault-runner.ts`.
 */
import { openRedis } from '@quorumscan/redis'
import type { RedisService, Service, ServiceRunner } from '@quorumscan/supervisor'
import { SYNCHRONIZER } from '../rig/cluster-shape.ts'
import type { EdgeName, FAULTS, FaultSpec, SpecOf } from './fault-spec.ts'
import { clockEnvironment, findFaketime, stepBack } from './machine-clock.ts'
import { type LinkFault, NO_FAULTS, type ProcessFaults } from './process-faults.ts'
import { clearDisk, fillDisk, isSmallDisk } from './small-disk.ts'
import { hitBy, idsOf, type NodeServices, runningOf, scopeOf, startedBy } from './targets.ts'

/** What effects act on. */
export type Rig = {
  readonly services: ServiceRunner
  /** On the disk that a fault fills. */
  readonly dataDirectory: string
}

/** What the processes of a node are told of faults. */
type Told = Omit<Partial<ProcessFaults>, 'edges'> & {
  readonly edges?: Partial<Record<EdgeName, LinkFault>>
}

/** What a kind of fault does: by what its processes do, or from outside, or both. */
export type Effect<Spec extends FaultSpec> = {
  /** Why it is invalid on the services of a node; null: it is valid. Pure. Absent: valid everywhere. */
  refusal?(services: NodeServices, spec: Spec): string | null
  /** Whether it is still in force. Absent: it ends only by healing. */
  isInForce?(rig: Rig, spec: Spec): boolean
  /** What a process is started with while it is in force. */
  environmentOf?(spec: Spec, service: Service): Readonly<Record<string, string>>
  /** Called while it is in force when a Redis of the node was started. */
  redisReady?(service: RedisService): Promise<void>
  /** What the processes of a node do about it. Pure. */
  told?(spec: Spec, node: string): Told
  /** Brings it into force. Afterwards the processes are told. No other command acts on the node meanwhile. */
  begin?(rig: Rig, spec: Spec): Promise<void>
  /** Ends it when it has left the list, and returns what it started. Afterwards the processes are told, as above. */
  end?(rig: Rig, spec: Spec): Promise<readonly Service[]>
} & (
  | { told(spec: Spec, node: string): Told }
  | {
      begin(rig: Rig, spec: Spec): Promise<void>
      end(rig: Rig, spec: Spec): Promise<readonly Service[]>
    }
)

const onLink = {
  refusal: (services: NodeServices, { edge }: SpecOf<'slow' | 'drop' | 'reset'>) => {
    if (edge === 'p2p') return refusalWithoutEngine(services)
    return edge === 'http' ? null : refusalOfCut(services)
  },
  told: ({ edge, node: _, ...link }: SpecOf<'slow' | 'drop' | 'reset'>) => ({
    edges: { [edge]: link },
  }),
}
const SILENT: LinkFault = { kind: 'drop', rate: 1 }

export const EFFECTS: EffectsOf<typeof FAULTS> = {
  kill: {
    told: ({ part }) => (part === 'cometbft' ? { engine: 'killed' } : {}),
    async begin({ services }, spec) {
      const ids = idsOf(hitBy(services.servicesOf(spec.node), spec.part))
      await Promise.all(ids.map((id) => services.processes.kill(id)))
    },
    async end({ services }, { node, part }) {
      const own = services.servicesOf(node)
      const hit = hitBy(own, part)
      if (hit.engineOf !== null) return []
      if (services.mayStart(own[0].redis.id)) await services.startRedis(own[0])
      for (const service of hit.services)
        if (services.processes.pid(service.app.id) === null && services.mayStart(service.app.id))
          await services.startApp(service)
      return startedBy(services, hit)
    },
    isInForce: (rig, spec) => isAny(rig, spec, 'gone'),
  },
  pause: {
    told: ({ part }) => (part === 'cometbft' ? { engine: 'paused' } : {}),
    async begin({ services }, { node, part }) {
      const hit = hitBy(services.servicesOf(node), part)
      for (const id of runningOf(services, hit)) await services.processes.pause(id, scopeOf(part))
    },
    async end({ services }, { node, part }) {
      for (const id of idsOf(hitBy(services.servicesOf(node), part)))
        await services.processes.resume(id, scopeOf(part))
      return []
    },
    isInForce: (rig, spec) => isAny(rig, spec, 'stopped'),
  },
  lie: {
    refusal: ([main]) => (main.kind === 'scan' ? null : 'only super-validators can lie'),
    told: ({ lie }) => ({ lie }),
  },
  slow: onLink,
  drop: onLink,
  reset: onLink,
  partition: {
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
    refusal: refusalWithoutEngine,
    told: (spec, node) => ({ cutPeers: spec.node === node ? spec.others : [spec.node] }),
  },
  clock: {
    told: ({ offsetMs }) => ({ clockOffsetMs: offsetMs }),
  },
  'machine-clock': {
    async begin({ services }, { node, run }) {
      findFaketime()
      await restartRunning(services, node)
      if (run !== 'back') return
      for (const service of services.servicesOf(node)) {
        await services.untilUpOrLate(service)
        stepBack(service.faultSocket)
      }
    },
    async end({ services }, { node }) {
      await restartRunning(services, node)
      return services.servicesOf(node)
    },
    environmentOf: ({ run }, service) => clockEnvironment(run, service.faultSocket),
  },
  memory: {
    refusal: (services) => {
      if (services[0].kind !== 'synchronizer') return null
      return hasEngine(services)
        ? 'its Redis is that of the validator'
        : 'the log keeps what nothing else holds; kill its Redis instead'
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
        : 'it writes no log: say that it is the disk of the synchronizer',
    told: () => ({ isDiskFull: true }),
    async begin({ dataDirectory }, { node }) {
      // Where all have a small one together, no process can write; else its log alone finds no room.
      if (node === SYNCHRONIZER && isSmallDisk(dataDirectory)) await fillDisk(dataDirectory, 0)
    },
    async end({ dataDirectory }) {
      clearDisk(dataDirectory)
      return []
    },
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

/** What the processes of a node must do about these faults. Effects from outside do not count. */
export function processFaultsOf(node: string, specs: readonly FaultSpec[]): ProcessFaults {
  const edges: Record<EdgeName, LinkFault[]> = { http: [], log: [], redis: [], p2p: [] }
  const cutPeers: string[] = []
  let faults = NO_FAULTS
  for (const spec of specs) {
    const told = effectOf(spec).told?.(spec, node) ?? {}
    const { edges: links = {}, cutPeers: peers = [], ...others } = told
    faults = { ...faults, ...others }
    cutPeers.push(...peers)
    for (const [edge, link] of Object.entries(links)) edges[edge as EdgeName].push(link)
  }
  return { ...faults, cutPeers, edges }
}

/** Less than an empty Redis takes: it answers reads and refuses writes (`noeviction`). One that is started again has room. */
async function limitMemory({ redisAddress }: RedisService, isFull: boolean): Promise<void> {
  const redis = openRedis({ path: redisAddress.path }, 'settings')
  try {
    await redis.config('SET', 'maxmemory', isFull ? '1' : '0')
  } finally {
    redis.disconnect()
  }
}

/** Programs read another clock only from their start on. */
async function restartRunning(services: ServiceRunner, node: string): Promise<void> {
  const running = services
    .servicesOf(node)
    .filter(({ app }) => services.processes.pid(app.id) !== null)
  for (const { app } of running) await services.stop(app.id)
  for (const service of running) await services.startApp(service)
}

function isAny(
  { services }: Rig,
  { node, part }: SpecOf<'kill' | 'pause'>,
  state: 'gone' | 'stopped',
): boolean {
  const hit = hitBy(services.servicesOf(node), part)
  return hit.engineOf !== null || idsOf(hit).some((id) => services.processes.state(id) === state)
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
