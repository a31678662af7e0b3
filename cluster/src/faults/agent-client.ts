/** Asking the agent of a process, with a bound on the wait: a paused one answers nothing. */
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { ClusterError, messageOf } from '../cluster-error.ts'

/** Agents answer within milliseconds, also on a machine under load within this. */
const TIMEOUT_MS = 3000

/** What the agent answers. @throws {ClusterError} If it does not, or refuses. */
export async function askAgent(
  socketPath: string,
  path: string,
  body: unknown = null,
): Promise<unknown> {
  try {
    return await send(socketPath, path, body)
  } catch (error) {
    if (error instanceof ClusterError) throw error
    throw new ClusterError(`the process does not take faults now: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function send(socketPath: string, path: string, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        path,
        method: body === null ? 'GET' : 'POST',
        timeout: TIMEOUT_MS,
        agent: false,
      },
      (response) => {
        text(response).then((answer) => {
          const value: unknown = JSON.parse(answer)
          if (response.statusCode === 200) resolve(value)
          else reject(new ClusterError(String(value)))
        }, reject)
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)))
    sent.on('error', reject)
    sent.end(body === null ? undefined : JSON.stringify(body))
  })
}
