/**
 * What every composed process has: a clock that can be wrong, edges that can be broken, and the agent that
 * switches both. The apps themselves know nothing of it (Rule 9).
 */
import { type Clock, createSystemClock, type Env, systemRandom } from '@quorumscan/base'
import type { RedisConfig } from '@quorumscan/redis'
import type { HttpServer } from '@quorumscan/server'
import { type AgentHandlers, startAgent } from './agent.ts'
import { createEdge, type Edge } from './edge.ts'
import { guardHttpServer, guardRedis, type Link, linkTcp, linkUrl } from './links.ts'
import { type LinkFault, NO_FAULTS, type ProcessFaults } from './process-faults.ts'

const MICROS_PER_MS = 1000
const ANY_PORT = '127.0.0.1:0'
const CUT: LinkFault = { kind: 'drop', rate: 1 }

export type FaultyProcess = ReturnType<typeof createFaultyProcess>

/** An app with its own Redis that follows a log: where both are. */
type Routed = { readonly redis: RedisConfig; readonly log: { readonly url: string } }

/** What the cluster tells a process beside the configuration of its app. @throws {Error} If the cluster did not start it. */
export function readFaultEnvironment(env: Env) {
  const { QS_FAULT_SOCKETS: socketPrefix, QS_FAULTS, QS_FAULT_PEERS = '' } = env
  if (socketPrefix === undefined) throw new Error('QS_FAULT_SOCKETS is not set')
  return {
    /** Where this process may put sockets; each is this with an ending of its own. */
    socketPrefix,
    /** The faults that it starts with; the control plane that starts it made them. */
    initial: QS_FAULTS ? (JSON.parse(QS_FAULTS) as ProcessFaults) : NO_FAULTS,
    /** The nodes whose engines it is told to reach, in the order of their addresses. */
    peerNames: QS_FAULT_PEERS.split(','),
  }
}

export function createFaultyProcess(environment: ReturnType<typeof readFaultEnvironment>) {
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
  let agent: { close(): void } | null = null

  const set = async (faults: ProcessFaults): Promise<void> => {
    offsetMicros = faults.clockOffsetMs * MICROS_PER_MS
    edges.log.set(faults.edges.log)
    edges.p2p.set(faults.edges.p2p)
    setPeers(faults)
    await guarding
    await links.http?.set(faults.edges.http)
    await links.redis?.set(faults.edges.redis)
  }

  /** A Redis on a unix socket, behind the edge. */
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
    /** The configuration of an app, led through the edges of this process. */
    async route<Config extends Routed>(config: Config): Promise<Config> {
      edges.log.set(initial.edges.log)
      const { url } = await linkUrl(edges.log, config.log.url)
      return { ...config, redis: await routeRedis(config.redis), log: { ...config.log, url } }
    },
    /** Leads what comes from other engines through the edge. */
    joinEngine: edges.p2p.join,
    /** Where an engine finds the others behind their edges: `id@host:port`. */
    async routePeers(peers: readonly string[]): Promise<readonly string[]> {
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
    /** Stands before the server; closes everything with it. */
    guard(server: HttpServer): void {
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
    /** Takes faults from now on; `handlers` are further things that the process can be asked. */
    async listen(
      apply: (faults: ProcessFaults) => void = () => {},
      handlers: AgentHandlers = {},
    ): Promise<void> {
      await guarding
      apply(initial)
      agent = await startAgent(`${socketPrefix}.faults`, {
        '/faults': async (body) => {
          // The control plane made it, from what it checked.
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
