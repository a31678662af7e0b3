/** Client of the engine: JSON-RPC over its unix socket. */

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { anySignal } from '@quorumscan/base'
import { memberOf, membersOf } from '@quorumscan/verifier'

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

export type EngineRpc = ReturnType<typeof createEngineRpc>

type RpcOptions = {
  readonly socketPath: string
  /** Ends requests in flight. */
  readonly signal: AbortSignal
}

export function createEngineRpc(options: RpcOptions) {
  return {
    /**
     * The result; its form is the engine's.
     *
     * @throws {EngineRefusedError} @throws {EngineUnavailableError}
     */
    async call(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      let answer: unknown
      try {
        answer = JSON.parse(await post(body, options))
      } catch (cause) {
        throw new EngineUnavailableError(`the engine did not answer ${method}`, { cause })
      }
      const { error, result } = membersOf(answer)
      if (error === undefined) return result
      throw new EngineRefusedError(
        `${memberOf(error, 'message')}: ${memberOf(error, 'data') ?? ''}`,
      )
    },
  }
}

function post(body: string, { socketPath, signal }: RpcOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        socketPath,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        signal: anySignal([signal, AbortSignal.timeout(ENGINE_MS_MAX)]),
      },
      (response) => text(response).then(resolve, reject),
    )
    asked.once('error', reject)
    asked.end(body)
  })
}

// The forms below are the engine's.

/** Which blocks an engine has, of its `status`. */
export function readBlockRange(status: unknown) {
  const { earliest_block_height, latest_block_height, latest_block_time } = membersOf(
    memberOf(status, 'sync_info'),
  )
  return {
    /** 0: it has none. */
    earliest: Number(earliest_block_height),
    latest: Number(latest_block_height),
    /** RFC 3339. */
    latestTime: String(latest_block_time),
  }
}

/** Lower-case hex, of its `commit`. */
export function blockHashOf(commit: unknown): string {
  return String(memberOf(commit, 'signed_header', 'commit', 'block_id', 'hash')).toLowerCase()
}
