/** Asking the agent of a process, with bounds on the wait and on the reply: a paused process replies nothing, a broken one anything. */
import { type IncomingMessage, request } from 'node:http'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { type AgentPath, type AgentReply, agentReplies } from './agent-replies.ts'

/** Agents answer within milliseconds, also on a machine under load within this. */
const TIMEOUT_MS = 3000
/** More than the newest failures of every job queue, with their messages. */
const REPLY_BYTES_MAX = 4 * 1024 * 1024

/** The process sent something, which is no reply of an agent. */
class MalformedReplyError extends CommandError {
  override readonly name = 'MalformedReplyError'
}

type Asked = { readonly name: string; readonly node: string; readonly faultSocket: string }

export class AgentClient {
  readonly #noteMalformed: (node: string, sentence: string) => void
  readonly #malformedNames = new Set<string>()

  /** @param noteMalformed - Called for the first malformed reply of a process, and again after a valid one. */
  constructor(noteMalformed: (node: string, sentence: string) => void) {
    this.#noteMalformed = noteMalformed
  }

  /**
   * What the agent of a service replies.
   *
   * @throws {CommandError} If it does not reply in time, refuses, or replies what `agentReplies` does not allow.
   */
  async ask<Path extends AgentPath>(
    { name, node, faultSocket }: Asked,
    path: Path,
    body: unknown = null,
  ): Promise<AgentReply<Path>> {
    try {
      const reply = await askAgent(faultSocket, path, body)
      this.#malformedNames.delete(name)
      return reply
    } catch (error) {
      if (error instanceof MalformedReplyError && !this.#malformedNames.has(name)) {
        this.#malformedNames.add(name)
        this.#noteMalformed(node, `${name}: ${error.message}`)
      }
      throw error
    }
  }
}

async function askAgent<Path extends AgentPath>(
  socketPath: string,
  path: Path,
  body: unknown = null,
): Promise<AgentReply<Path>> {
  const { status, text } = await send(socketPath, path, body).catch((cause: unknown) => {
    if (cause instanceof CommandError) throw cause
    throw new CommandError(`the process does not take faults now: ${messageOf(cause)}`, { cause })
  })
  const value = parsed(text, path)
  if (status !== 200) throw new CommandError(typeof value === 'string' ? value : `HTTP ${status}`)
  const reply = agentReplies[path].safeParse(value)
  if (!reply.success) throw malformed(path, messageOf(reply.error))
  return reply.data as AgentReply<Path>
}

function parsed(text: string, path: AgentPath): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(path, 'it is not JSON')
  }
}

function malformed(path: AgentPath, why: string): MalformedReplyError {
  return new MalformedReplyError(`its control socket sent a malformed reply to ${path}: ${why}`)
}

type Raw = { readonly status: number | undefined; readonly text: string }

async function send(socketPath: string, path: AgentPath, body: unknown): Promise<Raw> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const method = body === null ? 'GET' : 'POST'
      const sent = request({ socketPath, path, method, agent: false, signal: timeout }, resolve)
      sent.on('error', reject)
      sent.end(body === null ? undefined : JSON.stringify(body))
    })
    return { status: response.statusCode, text: await readText(response, path) }
  } catch (error) {
    throw timeout.aborted ? new Error(`no answer within ${TIMEOUT_MS} ms`) : error
  }
}

async function readText(response: IncomingMessage, path: AgentPath): Promise<string> {
  const chunks: Buffer[] = []
  let byteCount = 0
  // Leaving the loop destroys the response, and the connection with it.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    byteCount += chunk.length
    if (byteCount > REPLY_BYTES_MAX)
      throw malformed(path, `it is longer than ${REPLY_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
