/**
 * What every composed process has: a clock that can be wrong, edges that can be broken, and the agent that
 * switches both. The apps themselves know nothing of it (Rule 9).
 */
import { type Clock, createSystemClock, systemRandom } from '@quorumscan/base'
import type { HttpServer } from '@quorumscan/http'
import { type Agent, type AgentHandlers, initialFaults, startAgent } from './agent.ts'
import { createEdge } from './edge.ts'
import { NO_FAULTS, type ProcessFaults } from './fault-spec.ts'
import { guardHttpServer, guardRedis, type Link, linkUrl } from './links.ts'

const MICROS_PER_MS = 1000

/** What the cluster tells a process beside the configuration of its app. */
export type FaultEnvironment = {
  /** Where this process may put sockets; each is this with an ending of its own. */
  readonly socketPrefix: string
  readonly initial: ProcessFaults
}

export type FaultyProcess = {
  readonly clock: Clock
  /** What a configuration says, led through the edges of this process. */
  route(config: RoutedConfig): Promise<RoutedConfig>
  /** Stands before the server; closes everything with it. */
  guard(server: HttpServer): void
  /** Takes faults from now on; `handlers` are further things that the process can be asked. */
  listen(options: {
    readonly apply?: (faults: ProcessFaults) => void
    readonly handlers?: AgentHandlers
  }): Promise<void>
}

export type RoutedConfig = {
  readonly redisPath: string
  readonly logUrl: string
}

/** @throws {Error} If the cluster did not start this process. */
export function readFaultEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): FaultEnvironment {
  const socketPrefix = env['QS_FAULT_SOCKETS']
  if (socketPrefix === undefined) throw new Error('QS_FAULT_SOCKETS is not set')
  return { socketPrefix, initial: initialFaults(env['QS_FAULTS']) ?? NO_FAULTS }
}

export function createFaultyProcess(environment: FaultEnvironment): FaultyProcess {
  const { socketPrefix, initial } = environment
  const system = createSystemClock()
  let offsetMicros = initial.clockOffsetMs * MICROS_PER_MS
  const clock: Clock = { ...system, nowMicros: () => system.nowMicros() + offsetMicros }

  const newEdge = () => createEdge({ clock: system, random: systemRandom })
  const edges = { http: newEdge(), log: newEdge(), redis: newEdge() }
  const links: { http: Link | null; redis: Link | null } = { http: null, redis: null }
  let guarding: Promise<void> = Promise.resolve()
  let agent: Agent | null = null

  const set = async (faults: ProcessFaults): Promise<void> => {
    offsetMicros = faults.clockOffsetMs * MICROS_PER_MS
    edges.log.set(faults.edges.log)
    await guarding
    await links.http?.set(faults.edges.http)
    await links.redis?.set(faults.edges.redis)
  }

  return {
    clock,
    async route(config) {
      edges.log.set(initial.edges.log)
      const { url: logUrl } = await linkUrl(edges.log, config.logUrl)
      const redisPath = `${socketPrefix}.own`
      links.redis = await guardRedis(edges.redis, {
        redis: config.redisPath,
        clients: redisPath,
        link: `${socketPrefix}.link`,
      })
      await links.redis.set(initial.edges.redis)
      return { redisPath, logUrl }
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
        },
        ...handlers,
      })
    },
  }
}
