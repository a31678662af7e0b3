/**
 * What every composed process has: a clock that can be wrong, edges that can be broken, and the agent that
 * switches both. The apps themselves know nothing of it (Rule 9).
 */
import { type Clock, createSystemClock, systemRandom } from '@quorumscan/base'
import type { RedisConfig } from '@quorumscan/redis'
import type { HttpServer } from '@quorumscan/server'
import { type Agent, type AgentHandlers, initialFaults, startAgent } from './agent.ts'
import { createEdge, type Edge } from './edge.ts'
import { guardHttpServer, guardRedis, type Link, linkTcp, linkUrl } from './links.ts'
import { type LinkFault, NO_FAULTS, type ProcessFaults } from './process-faults.ts'

const MICROS_PER_MS = 1000
const ANY_PORT = '127.0.0.1:0'
const CUT: LinkFault = { kind: 'drop', rate: 1 }

/** What the cluster tells a process beside the configuration of its app. */
export type FaultEnvironment = {
  /** Where this process may put sockets; each is this with an ending of its own. */
  readonly socketPrefix: string
  readonly initial: ProcessFaults
  /** The nodes whose engines it is told to reach, in the order of their addresses. */
  readonly peerNames: readonly string[]
}

export type FaultyProcess = {
  readonly clock: Clock
  /** What a configuration says, led through the edges of this process. */
  route(config: RoutedConfig): Promise<RoutedConfig>
  /** A Redis on a unix socket, behind the edge. */
  routeRedis(redis: RedisConfig): Promise<RedisConfig>
  /** Where an engine finds the others behind their edges: `id@host:port`. */
  routePeers(peers: readonly string[]): Promise<readonly string[]>
  /** Leads what comes from other engines through the edge. */
  readonly joinEngine: Edge['join']
  /** Stands before the server; closes everything with it. */
  guard(server: HttpServer): void
  /** Takes faults from now on; `handlers` are further things that the process can be asked. */
  listen(options: {
    readonly apply?: (faults: ProcessFaults) => void
    readonly handlers?: AgentHandlers
  }): Promise<void>
}

export type RoutedConfig = {
  readonly redis: RedisConfig
  readonly logUrl: string
}

/** @throws {Error} If the cluster did not start this process. */
export function readFaultEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): FaultEnvironment {
  const socketPrefix = env['QS_FAULT_SOCKETS']
  if (socketPrefix === undefined) throw new Error('QS_FAULT_SOCKETS is not set')
  return {
    socketPrefix,
    initial: initialFaults(env['QS_FAULTS']) ?? NO_FAULTS,
    peerNames: (env['QS_FAULT_PEERS'] ?? '').split(','),
  }
}

export function createFaultyProcess(environment: FaultEnvironment): FaultyProcess {
  const { socketPrefix, initial } = environment
  const system = createSystemClock()
  let offsetMicros = initial.clockOffsetMs * MICROS_PER_MS
  const clock: Clock = { ...system, nowMicros: () => system.nowMicros() + offsetMicros }

  const newEdge = () => createEdge({ clock: system, random: systemRandom })
  const edges = { http: newEdge(), log: newEdge(), redis: newEdge(), p2p: newEdge() }
  /** To the engines of others, by the names of their nodes. */
  const peerEdges = new Map<string, Edge>()
  const setPeers = (faults: ProcessFaults) => {
    for (const [name, edge] of peerEdges)
      edge.set([...faults.edges.p2p, ...(faults.cutPeers.includes(name) ? [CUT] : [])])
  }
  const links: { http: Link | null; redis: Link | null } = { http: null, redis: null }
  let guarding: Promise<void> = Promise.resolve()
  let agent: Agent | null = null

  const set = async (faults: ProcessFaults): Promise<void> => {
    offsetMicros = faults.clockOffsetMs * MICROS_PER_MS
    edges.log.set(faults.edges.log)
    edges.p2p.set(faults.edges.p2p)
    setPeers(faults)
    await guarding
    await links.http?.set(faults.edges.http)
    await links.redis?.set(faults.edges.redis)
  }

  const routeRedis = async (redis: RedisConfig): Promise<RedisConfig> => {
    if (!('path' in redis.place)) throw new Error('only a Redis on a unix socket can be cut off')
    const path = `${socketPrefix}.own`
    links.redis = await guardRedis(edges.redis, {
      redis: redis.place.path,
      clients: path,
      link: `${socketPrefix}.link`,
    })
    await links.redis.set(initial.edges.redis)
    return { ...redis, place: { path } }
  }

  return {
    clock,
    routeRedis,
    async route(config) {
      edges.log.set(initial.edges.log)
      const { url: logUrl } = await linkUrl(edges.log, config.logUrl)
      return { redis: await routeRedis(config.redis), logUrl }
    },
    joinEngine: (client, engine) => edges.p2p.join(client, engine),
    async routePeers(peers) {
      edges.p2p.set(initial.edges.p2p)
      const routePeer = async (peer: string, index: number) => {
        const [id, to = ''] = peer.split('@')
        const edge = newEdge()
        peerEdges.set(environment.peerNames[index] ?? '', edge)
        return `${id}@${(await linkTcp(edge, { at: ANY_PORT, to })).address}`
      }
      const routed = await Promise.all(peers.map(routePeer))
      setPeers(initial)
      return routed
    },
    guard(server) {
      guarding = guardHttpServer(server.server, {
        edge: edges.http,
        innerPath: `${socketPrefix}.http`,
      }).then(async (link) => {
        links.http = link
        await link.set(initial.edges.http)
      })
      server.addHook('onClose', async () => {
        agent?.close()
        links.http?.close()
        links.redis?.close()
        edges.log.cut()
        for (const edge of [edges.p2p, ...peerEdges.values()]) edge.cut()
      })
    },
    async listen({ apply, handlers }) {
      await guarding
      apply?.(initial)
      agent = await startAgent(`${socketPrefix}.faults`, {
        '/faults': async (body) => {
          // The control plane made it, from what it checked.
          const faults = body as ProcessFaults
          apply?.(faults)
          await set(faults)
          return null
        },
        ...handlers,
      })
    },
  }
}
