/**
 * The faults of every composed process: a clock that can be wrong, edges that can fail, and the agent that switches both. The
 * apps themselves contain no faults (Rule 9).
 */
import { type Clock, createSystemClock, type Env, held, systemRandom } from '@quorumscan/base'
import type { RedisConfig } from '@quorumscan/redis'
import type { HttpServer } from '@quorumscan/server'
import { type AgentHandlers, startAgent } from './agent.ts'
import { createEdge, type Edge, guardHttpServer, guardRedis, type Link, link } from './edge.ts'
import { DROP_ALL, EDGES, type EdgeName, NO_FAULTS, type ProcessFaults } from './fault-spec.ts'

const MICROS_PER_MS = 1000
const ANY_PORT = '127.0.0.1:0'

export type FaultyProcess = ReturnType<typeof createFaultyProcess>

/** The configuration of an app with its own Redis that follows a log. */
type Routed = { readonly redis: RedisConfig; readonly log: { readonly url: string } }

/** The variables of a process in addition to its app's. @throws {Error} If the cluster did not start it. */
export function readFaultEnvironment(env: Env) {
  const { QS_FAULT_SOCKETS: socketPrefix, QS_FAULTS, QS_FAULT_PEERS = '' } = env
  if (socketPrefix === undefined) throw new Error('QS_FAULT_SOCKETS is not set')
  return {
    /** The beginning of the paths of this process's sockets. */
    socketPrefix,
    /** The faults that it starts with. The control plane has validated them. */
    initial: QS_FAULTS ? (JSON.parse(QS_FAULTS) as ProcessFaults) : NO_FAULTS,
    /** The nodes of its engine's peers, in the order of their addresses. */
    peerNames: QS_FAULT_PEERS.split(','),
  }
}

export function createFaultyProcess(environment: ReturnType<typeof readFaultEnvironment>) {
  const { socketPrefix, initial } = environment
  const system = createSystemClock()
  let skewMicros = initial.clockOffsetMs * MICROS_PER_MS
  const clock: Clock = { ...system, nowMicros: () => system.nowMicros() + skewMicros }

  const newEdge = () => createEdge({ clock: system, random: systemRandom })
  const edges = { http: newEdge(), log: newEdge(), redis: newEdge(), p2p: newEdge() }
  /** Each link sets the faults of an edge, and closes its connections. */
  const links: Record<EdgeName, Link> = { ...edges }
  for (const name of EDGES) edges[name].set(initial.edges[name])
  /** To the engines of other members, by the names of their nodes. */
  const peerEdges = held(
    { owner: 'cluster', name: 'fault edges of peers', kind: 'state', bound: 'one of each peer' },
    new Map<string, Edge>(),
  )
  const setPeers = (faults: ProcessFaults) => {
    for (const [name, edge] of peerEdges)
      edge.set([...faults.edges.p2p, ...(faults.cutPeers.includes(name) ? [DROP_ALL] : [])])
  }
  let guarding: Promise<void> = Promise.resolve()
  let agent: { close(): void } | null = null

  const set = async (faults: ProcessFaults): Promise<void> => {
    skewMicros = faults.clockOffsetMs * MICROS_PER_MS
    setPeers(faults)
    await guarding
    for (const name of EDGES) await links[name].set(faults.edges[name])
  }

  /** A Redis on a unix socket, behind the edge. */
  const routeRedis = async (redis: RedisConfig): Promise<RedisConfig> => {
    if (!('path' in redis.place)) throw new Error('a Redis behind an edge needs a unix socket')
    const path = `${socketPrefix}.own`
    const paths = { redis: redis.place.path, clients: path, link: `${socketPrefix}.link` }
    links.redis = await guardRedis(edges.redis, paths)
    return { ...redis, place: { path } }
  }

  return {
    clock,
    routeRedis,
    /** The configuration of an app, with addresses behind the edges of this process. */
    async route<Config extends Routed>(config: Config): Promise<Config> {
      const { host } = new URL(config.log.url)
      const { address } = await link(edges.log, { at: ANY_PORT, to: host })
      const log = { ...config.log, url: `http://${address}` }
      return { ...config, redis: await routeRedis(config.redis), log }
    },
    /** Passes connections from other engines through the edge. */
    joinEngine: edges.p2p.join,
    /** The addresses of other engines behind their edges: `id@host:port`. */
    async routePeers(peers: readonly string[]): Promise<readonly string[]> {
      const routePeer = async (peer: string, index: number) => {
        const [id, to = ''] = peer.split('@')
        const edge = newEdge()
        peerEdges.set(environment.peerNames[index] ?? '', edge)
        return `${id}@${(await link(edge, { at: ANY_PORT, to })).address}`
      }
      const routed = await Promise.all(peers.map(routePeer))
      setPeers(initial)
      return routed
    },
    /** Puts an edge before the server, and closes everything with it. */
    guard(server: HttpServer): void {
      const behind = { edge: edges.http, innerPath: `${socketPrefix}.http` }
      guarding = guardHttpServer(server.server, behind).then((link) => {
        links.http = link
      })
      server.addHook('onClose', async () => {
        agent?.close()
        for (const link of [...Object.values(links), ...peerEdges.values()]) link.close()
      })
    },
    /** Accepts faults from now on. `handlers`: further requests that the process answers. */
    async listen(apply: (faults: ProcessFaults) => void = () => {}, handlers: AgentHandlers = {}) {
      await guarding
      apply(initial)
      agent = await startAgent(`${socketPrefix}.faults`, {
        '/faults': async (body) => {
          // The control plane has validated it.
          const faults = body as ProcessFaults
          apply(faults)
          await set(faults)
          return null
        },
        ...handlers,
      })
    },
  }
}
