/** For tests: another socket of the log's Redis, whose answers can be held back. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

export type LogGate = AsyncDisposable & {
  /** The socket. */
  readonly path: string
  /** Nothing comes through until what it returns is called. */
  hold(): () => void
}

export async function openLogGate(path: string, redisPath: string): Promise<LogGate> {
  let held: Promise<void> = Promise.resolve()
  async function* whenFree(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      await held
      yield chunk
    }
  }
  const sockets = new Set<Socket>()
  const ended = () => {} // Either side may go: the other one notices.
  const server = createServer((client) => {
    const redis = connect(redisPath)
    for (const socket of [client, redis]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
    pipeline(client, redis, ended)
    pipeline(redis, whenFree, client, ended)
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    path,
    hold() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
