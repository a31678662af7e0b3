/**
 * Switches the faults of one process while it runs: by a unix socket in the cluster's private directory, never by the
 * public port.
 */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { messageOf } from '@quorumscan/runtime'
import type { AgentPath, AgentReply } from './agent-client.ts'

/** The requests that a process answers on its socket, by path. */
export type AgentHandlers = {
  readonly [Path in AgentPath]?: (body: unknown) => Promise<AgentReply<Path>>
}

/** Listens. Every process that can open the socket may send requests. */
export async function startAgent(path: string, handlers: AgentHandlers) {
  rmSync(path, { force: true })
  const server = createServer((request, response) => {
    void answer(handlers, request, response)
  })
  await once(server.listen(path), 'listening')
  server.unref()
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(
  handlers: AgentHandlers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? ''
  const handler = Object.hasOwn(handlers, path) ? handlers[path as AgentPath] : undefined
  try {
    const body = request.method === 'POST' ? await json(request) : null
    const reply = handler === undefined ? `unknown path ${path}` : await handler(body)
    response.writeHead(handler === undefined ? 404 : 200).end(JSON.stringify(reply))
  } catch (error) {
    // Only the control plane asks, so the reason is no secret.
    response.writeHead(500).end(JSON.stringify(messageOf(error)))
  }
}
