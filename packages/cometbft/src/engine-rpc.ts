/** Client of the engine: JSON-RPC over its unix socket. */

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { linkedController } from '@quorumscan/base'
import { z } from 'zod'

/** The engine answers from memory; one that needs longer hangs. */
export const ENGINE_MS_MAX = 5000

/** The engine refuses the request. `message` is its own. */
export class EngineRefusedError extends Error {
  override readonly name = 'EngineRefusedError'
}

/** The engine cannot be reached, or did not answer: the request may have had its effect. */
export class EngineUnavailableError extends Error {
  override readonly name = 'EngineUnavailableError'
}

const envelope = z.object({
  error: z.object({ message: z.string(), data: z.string().nullish() }).nullish(),
  result: z.unknown().optional(),
})

export type EngineRpc = ReturnType<typeof createEngineRpc>

type RpcOptions = {
  readonly socketPath: string
  /** Ends requests in flight. */
  readonly signal: AbortSignal
}

export function createEngineRpc(options: RpcOptions) {
  return {
    /**
     * The result, which `engine-answers.ts` reads.
     *
     * @throws {EngineRefusedError} @throws {EngineUnavailableError}
     */
    async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      let answer: z.infer<typeof envelope>
      try {
        answer = envelope.parse(JSON.parse(await post(body, options)))
      } catch (cause) {
        throw new EngineUnavailableError(`the engine did not answer ${method}`, { cause })
      }
      const { error, result } = answer
      if (error == null) return result
      throw new EngineRefusedError(`${error.message}: ${error.data ?? ''}`)
    },
  }
}

function post(body: string, { socketPath, signal }: RpcOptions): Promise<string> {
  const ending = linkedController(signal, AbortSignal.timeout(ENGINE_MS_MAX))
  return new Promise<string>((resolve, reject) => {
    const asked = request(
      {
        socketPath,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal: ending.signal,
      },
      (response) => text(response).then(resolve, reject),
    )
    asked.once('error', reject)
    asked.end(body)
  }).finally(() => ending.abort())
}
