/** The control plane's HTTP server: tRPC on fastify, on a loopback address, with a bearer token. */
import { timingSafeEqual } from 'node:crypto'
import { sha256, utf8 } from '@quorumscan/base'
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import { type FastifyInstance, fastify } from 'fastify'
import { ClusterError } from '../cluster-error.ts'
import { isErrno } from '../data-directory.ts'
import { type AppRouter, appRouter } from './router.ts'
import type { ControlContext } from './trpc.ts'

const HOST = '127.0.0.1'

export type ControlServerInput = {
  readonly port: number
  readonly token: string
  readonly context: () => ControlContext
}

/**
 * Listens; whoever holds the port is the one control plane of the cluster.
 *
 * @throws {ClusterError} If the port is taken.
 */
export async function startControlServer(input: ControlServerInput): Promise<FastifyInstance> {
  const server = fastify({ routerOptions: { maxParamLength: 1000 } })
  const host = `${HOST}:${input.port}`
  server.addHook('onRequest', async (request, reply) => {
    // Another Host is a web page that had its own name point at this address.
    if (request.headers.host !== host) return reply.code(403).send({ error: 'wrong host' })
    if (!isEqualSecret(request.headers.authorization ?? '', `Bearer ${input.token}`))
      return reply.code(401).send({ error: 'the token of the data directory is needed' })
  })
  await server.register(fastifyTRPCPlugin, {
    prefix: '/trpc',
    trpcOptions: { router: appRouter, createContext: input.context },
  } satisfies FastifyTRPCPluginOptions<AppRouter>)
  try {
    await server.listen({ port: input.port, host: HOST })
  } catch (error) {
    if (!isErrno(error, 'EADDRINUSE')) throw error
    throw new ClusterError(
      `port ${input.port} of the control plane is in use by another program; ` +
        'move the cluster with --base-port, or --base-port 0 for any ports',
    )
  }
  return server
}

function isEqualSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(sha256(utf8(given)), sha256(utf8(wanted)))
}
