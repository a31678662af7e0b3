/** A minimal fastify server, which returns the same bytes from memory for any name. */
import Fastify from 'fastify'
import { answer, childArgument } from '../../support/child.ts'

export type BareArgument = { readonly body: string }

const { body } = childArgument<BareArgument>()
const bytes = Buffer.from(body)
const app = Fastify()
app.get('/v0/ans-entries/by-name/:name', (_request, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(bytes),
)
app.get('/metrics', () => {
  const { user, system } = process.cpuUsage()
  return `process_cpu_seconds_total ${(user + system) / 1e6}`
})
answer({ origin: await app.listen({ port: 0, host: '127.0.0.1' }) })
