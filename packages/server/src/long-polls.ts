/**
 * Long polls: requests that wait for news. The server limits them for each client and in total. A new poll beyond a limit
 * ends the oldest poll of that client, or of the client with most: its handler then answers as after a timeout. A process
 * that stops ends all, because it waits for what is in progress.
 */
import { held, linkedController } from '@quorumscan/base'
import { ConnectionLimiter } from './connection-limiter.ts'
import type { ApiRequest, WaitingRequest } from './handler.ts'

/** Each member and each validator polls every node once. A whole local cluster may share one address. */
const LIMITS = { pool: 'long polls', max: 1024, perClientMax: 64, perNetworkMax: 128 }

export type LongPolls = ReturnType<typeof createLongPolls>

export function createLongPolls() {
  const limiter = new ConnectionLimiter(LIMITS)
  const open = held(
    { owner: 'server', name: 'long polls', kind: 'work', bound: LIMITS.max },
    new Set<AbortController>(),
  )
  return {
    endAll(): void {
      for (const one of open) one.abort()
    },
    /** The result of the poll; null if a newer poll, or `endAll`, ended it. */
    async hold<T>(
      request: WaitingRequest & Pick<ApiRequest<never, never>, 'client'>,
      poll: (request: WaitingRequest) => Promise<T>,
    ): Promise<T | null> {
      const ended = linkedController(request.signal)
      open.add(ended)
      const slot = limiter.acquire(request.client.address, { evict: () => ended.abort() })
      try {
        return await poll({ signal: ended.signal, waiting: (wait) => request.waiting(wait) })
      } catch (error) {
        if (ended.signal.aborted && !request.signal.aborted) return null
        throw error
      } finally {
        ended.abort()
        open.delete(ended)
        slot?.release()
      }
    },
  }
}
