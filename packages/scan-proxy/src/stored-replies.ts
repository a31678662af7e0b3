/** Certified replies of the local replica: the same until another state is certified. */
import { bytesOfCache, held } from '@quorumscan/base'
import type { ScanError } from '@quorumscan/errors'
import type { Certificate } from '@quorumscan/verifier/certified'
import { LRUCache } from 'lru-cache'
import type { Proven } from './certified.ts'
import type { ScanProxyDeps } from './dependencies.ts'
import { isOwnRecent, type OwnAge } from './own-age.ts'
import { MAX_AGE_MS, maxAgeOf, type ProxyRequest, wantsDocument } from './request.ts'

export type ProxyReply =
  | { readonly headers: Record<string, string>; readonly body: Uint8Array }
  | { readonly headers: Record<string, string>; readonly error: ScanError }

type StoredReply = {
  readonly certificate: Certificate
  readonly signerCount: number
  readonly reply: ProxyReply
}

/** Thirty thousand lookups, or ninety pages of a thousand. */
const BYTES_MAX = 32 * 2 ** 20
/** The memory of the map, the headers and the objects of one reply. */
const OVERHEAD_BYTES = 1_024

export function createStoredReplies(deps: OwnAge & Pick<ScanProxyDeps, 'certifier'>) {
  const { certifier } = deps
  const replies = held(
    { owner: 'scan-proxy', name: 'bytes of cached replies', kind: 'cache', bound: BYTES_MAX },
    new LRUCache<string, StoredReply>({
      maxSize: BYTES_MAX,
      sizeCalculation: ({ reply }, key) =>
        OVERHEAD_BYTES + key.length + ('body' in reply ? reply.body.byteLength : 0),
    }),
    bytesOfCache,
  )
  return {
    /** The stored reply to the same request, if a new reply would be the same; null: no such reply. */
    get(request: ProxyRequest, signers: string, minOffset: number): ProxyReply | null {
      const key = keyOf(request, signers)
      const stored = key === null ? undefined : replies.get(key)
      if (stored === undefined) return null
      const { offset, recordTime, stateRoot } = stored.certificate
      // More members may have signed it since: the stored certificate has the requested number.
      const newest = certifier.newest(stored.signerCount)
      if (newest?.offset !== offset || newest.stateRoot !== stateRoot || offset < minOffset)
        return null
      const maxAgeMs = Math.min(MAX_AGE_MS, maxAgeOf(request))
      return isOwnRecent(deps, recordTime, maxAgeMs) ? stored.reply : null
    },
    set(request: ProxyRequest, signers: string, made: { found: Proven; reply: ProxyReply }): void {
      const { certificate, threshold: signerCount } = made.found
      const key = keyOf(request, signers)
      if (key !== null && certificate !== null)
        replies.set(key, { certificate, signerCount, reply: made.reply })
    },
  }
}

/** Equal for requests that are answered alike at one state; null: it depends on a body. */
function keyOf(request: ProxyRequest, signers: string): string | null {
  return request.body === undefined ? `${signers} ${wantsDocument(request)} ${request.url}` : null
}
