/**
 * Switches the faults of one process while it runs: by a unix socket in the cluster's private directory, never by the
 * public port. The control plane asks with bounds on time and size: a paused process sends no reply, a broken one any reply.
 */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { held } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'
import type { Service } from '@quorumscan/supervisor'
import { z } from 'zod'
import { faultSocketOf } from './fault-sockets.ts'

/** Agents answer within milliseconds. This allows for a machine under load. */
const AGENT_MS_MAX = 3000
/** Far more than any reply has. */
const REPLY_BYTES_MAX = 4 * 1024 * 1024

/** The replies of agents by path. The control plane validates every reply, as a process may be broken. */
const REPLIES = {
  '/faults': z.null(),
  '/engine/restart': z.null(),
  '/prune': z.object({ horizon: z.number().int().min(0) }),
} as const
export type AgentPath = keyof typeof REPLIES
export type AgentReply<Path extends AgentPath> = z.output<(typeof REPLIES)[Path]>

/** The requests that a process answers on its socket, by path. */
export type AgentHandlers = {
  readonly [Path in AgentPath]?: (body: unknown) => Promise<AgentReply<Path>>
}

/** Listens. Every process that can open the socket may send requests. */
export async function startAgent(path: string, handlers: AgentHandlers) {
  rmSync(path, { force: true })
  const server = createServer((message, response) => {
    void answer(handlers, message, response)
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

async function answer(handlers: AgentHandlers, message: IncomingMessage, response: ServerResponse) {
  const path = message.url ?? ''
  const handler = Object.hasOwn(handlers, path) ? handlers[path as AgentPath] : undefined
  try {
    const body = message.method === 'POST' ? await json(message) : null
    const reply = handler === undefined ? `unknown path ${path}` : await handler(body)
    response.writeHead(handler === undefined ? 404 : 200).end(JSON.stringify(reply))
  } catch (error) {
    // Only the control plane asks, so the reason is not secret.
    response.writeHead(500).end(JSON.stringify(messageOf(error)))
  }
}

/**
 * A client for all agents of a cluster.
 *
 * @param onMalformed - Called for the first malformed reply of a process, and again after a valid one.
 */
export function createAgentClient(onMalformed: (owner: string, sentence: string) => void) {
  const malformedNames = held(
    {
      owner: 'cluster',
      name: 'processes with malformed reports',
      kind: 'state',
      bound: 'one of each process',
    },
    new Set<string>(),
  )
  /**
   * The reply of the agent of a service.
   *
   * @throws {CommandError} If there is no reply in time, a refusal, or a reply that `REPLIES` does not allow.
   */
  return async function askAgent<Path extends AgentPath>(
    service: Pick<Service, 'name' | 'owner'> & Parameters<typeof faultSocketOf>[0],
    path: Path,
    body: unknown = null,
  ): Promise<AgentReply<Path>> {
    const { name, owner } = service
    const malformed = (why: string) => {
      const sentence = `its control socket sent a malformed reply to ${path}: ${why}`
      if (!malformedNames.has(name)) onMalformed(owner, `${name}: ${sentence}`)
      malformedNames.add(name)
      return new CommandError(sentence)
    }
    const { status, text } = await send(faultSocketOf(service), path, body)
    if (text === null) throw malformed(`it is longer than ${REPLY_BYTES_MAX} bytes`)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      throw malformed('it is not JSON')
    }
    if (status !== 200) throw new CommandError(typeof value === 'string' ? value : `HTTP ${status}`)
    const reply = REPLIES[path].safeParse(value)
    if (!reply.success) throw malformed(messageOf(reply.error))
    malformedNames.delete(name)
    return reply.data as AgentReply<Path>
  }
}

/** The text is null if it is too long. @throws {CommandError} If no whole reply arrives in time. */
async function send(socketPath: string, path: string, body: unknown) {
  const signal = AbortSignal.timeout(AGENT_MS_MAX)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const method = body === null ? 'GET' : 'POST'
      request({ socketPath, path, method, agent: false, signal }, resolve)
        .on('error', reject)
        .end(body === null ? undefined : JSON.stringify(body))
    })
    const { statusCode: status } = response
    const chunks: Buffer[] = []
    let byteCount = 0
    // Leaving the loop destroys the response, and the connection with it.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      byteCount += chunk.length
      if (byteCount > REPLY_BYTES_MAX) return { status, text: null }
      chunks.push(chunk)
    }
    return { status, text: Buffer.concat(chunks).toString() }
  } catch (cause) {
    const why = signal.aborted ? `no answer within ${AGENT_MS_MAX} ms` : messageOf(cause)
    throw new CommandError(`the process accepts no faults now: ${why}`, { cause })
  }
}
