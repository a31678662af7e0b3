import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port that was just free, for processes that must know the port before a server listens on it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
