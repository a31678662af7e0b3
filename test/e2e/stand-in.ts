import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { until } from '@quorumscan/testkit'

/** Starts a server at the address of a killed process, as soon as the port is free. */
export async function standIn(
  url: string,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const port = Number(new URL(url).port)
  await until(
    `port ${port} to be free`,
    () =>
      new Promise<true | undefined>((resolve) => {
        server.once('error', () => resolve(undefined))
        server.listen(port, '127.0.0.1', () => resolve(true))
      }),
  )
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
