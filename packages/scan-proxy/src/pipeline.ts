/**
 * The routes of the scan proxy (D-34 to D-43, D-51). They need no token, and voted reads not the validator's own
 * replica, which only helps to detect forks. All rows of `operations.ts` are answered in the same way:
 *
 *   stored reply   of the same request, while the same state is certified     stored-replies.ts
 *   read           certified if the caller asks for it, else voted;           certified.ts, voted.ts
 *                  never older than the read floor                            read-floor.ts
 *   raise          the read floor, to the offset of a certified answer
 *   reply          with the headers that say which nodes agreed               outcome.ts
 */
import type { validatorRoutes } from '@quorumscan/api'
import { CERTIFIED_HEADERS } from '@quorumscan/certifier'
import type { Outcome } from '@quorumscan/reader'
import type { CertifiedReader } from '@quorumscan/reader/certified'
import type { Handlers } from '@quorumscan/server'
import { canonicalJson, utf8 } from '@quorumscan/verifier'
import { createCertifiedReads, type Proven, readFromNode, type Unproven } from './certified.ts'
import type { ScanProxyDeps } from './dependencies.ts'
import { OPERATIONS, type Operation, type ProxyNetwork, type ProxyRead } from './operations.ts'
import { entryNotFound, outcomeError, quorumHeaders, readerError } from './outcome.ts'
import { expiredPageWalk } from './own-history.ts'
import {
  maxAgeOf,
  minOffsetOf,
  type ProxyRequest,
  signersOf,
  thresholdOf,
  thresholdTextOf,
  wantsDocument,
} from './request.ts'
import { createStoredReplies, type ProxyReply } from './stored-replies.ts'
import { readVoted } from './voted.ts'

/** The handlers of reads, and of what the validator itself stores. The routes are public: no handler sees a user. */
type ProxyHandlers = Pick<
  Handlers<typeof validatorRoutes, unknown>,
  keyof typeof OPERATIONS | 'proxyGetGenesis' | 'proxyListEvidence'
>

export function scanProxyHandlers(deps: ScanProxyDeps): ProxyHandlers {
  const genesis = utf8(canonicalJson(deps.genesis))
  const handlerOf = createPipeline(deps)
  const reads = Object.entries(OPERATIONS).map(([id, operation]) => [
    id,
    handlerOf(operation as Operation<never>),
  ])
  return {
    // Object.entries loses the keys that the type of the table states.
    ...(Object.fromEntries(reads) as unknown as Pick<ProxyHandlers, keyof typeof OPERATIONS>),
    proxyGetGenesis: async () => ({ body: genesis }),
    proxyListEvidence: async () => ({
      body: utf8(JSON.stringify({ evidence: deps.evidence.list() })),
    }),
  }
}

/** @returns What makes the handler of a row. */
function createPipeline(deps: ScanProxyDeps) {
  const { ledger, reader, readFloor } = deps
  const stored = createStoredReplies(deps)
  const readCertified = createCertifiedReads(deps)

  /** @param signers - Null: nodes vote. */
  const read = async (
    asked: ProxyRead,
    request: ProxyRequest,
    { signers, minOffset }: { readonly signers: string | null; readonly minOffset: number },
  ): Promise<Outcome | Proven | Unproven> => {
    const threshold = thresholdOf(signers ?? thresholdTextOf(request), deps)
    try {
      if (signers !== null) {
        const maxAgeMs = maxAgeOf(request)
        return await readCertified(asked, { request, threshold, minOffset, maxAgeMs })
      }
      const { forward: headers } = request
      const options = { threshold, minOffset, maxAgeMs: request.headers['x-max-age-ms'], headers }
      // A lookup shares its requests with others and ends within 2 s: a signal for it would cost more than it saves.
      const isLookup = 'lookup' in asked
      const bounds = isLookup ? options : { ...options, signal: request.signal }
      return await request.waitingForNodes(() => readVoted(reader, asked, bounds))
    } catch (error) {
      throw readerError(error)
    }
  }

  return <Request extends ProxyRequest>(operation: Operation<Request>) =>
    async (request: Request): Promise<ProxyReply> => {
      const signers = operation.isVotedOnly === true ? null : signersOf(request)
      const minOffset = Math.max(minOffsetOf(request), readFloor.offset())
      const known = signers === null ? null : stored.get(request, signers, minOffset)
      if (known !== null) return known

      const asked = operation.readOf(request, deps)
      if ('known' in asked) return { headers: {}, body: asked.known }
      const found = await read(asked, request, { signers, minOffset })
      // A vote does not raise it (D-39): callers of certified answers would wait for the certificate of its offset.
      if ('document' in found) readFloor.raise(found.offset)
      const over = 'position' in asked ? await expiredPageWalk(ledger, asked.position, found) : null
      if (over !== null) return { headers: quorumHeaders(found), error: over }
      const reply = replyOf(found, asked, { operation, request, network: deps })
      if (signers !== null && 'document' in found) stored.set(request, signers, { found, reply })
      return reply
    }
}

function replyOf(
  found: Outcome | Proven | Unproven,
  asked: ProxyRead,
  parts: {
    readonly operation: Pick<Operation<never>, 'form' | 'absent'>
    readonly request: ProxyRequest
    readonly network: ProxyNetwork
  },
): ProxyReply {
  const { form, absent } = parts.operation
  const headers = quorumHeaders(found)
  if (!('answer' in found)) return { headers, error: outcomeError(found) }
  if ('document' in found && wantsDocument(parts.request))
    return { headers: { ...headers, ...CERTIFIED_HEADERS }, body: found.document }
  if ('lookup' in asked && found.kind.endsWith('-absent'))
    return absent === undefined
      ? { headers, error: entryNotFound(asked.lookup) }
      : { headers, body: absent }
  return { headers, body: form === undefined ? found.answer : form(found, parts.network) }
}

/** The handlers of names in the form of the draft standard (D-76), for a process that reads with proof only. */
export function partyNameHandlers(network: ProxyNetwork, reader: CertifiedReader) {
  const handlerOf =
    <Request extends ProxyRequest>(operation: Operation<Request>) =>
    async (request: Request): Promise<ProxyReply> => {
      const asked = operation.readOf(request, network)
      if ('known' in asked) return { headers: {}, body: asked.known }
      const threshold = thresholdOf(signersOf(request) ?? thresholdTextOf(request), network)
      const bounds = { minOffset: minOffsetOf(request), maxAgeMs: maxAgeOf(request) }
      const { signal } = request
      const options = { threshold, ...bounds, signal }
      const reading = request.waitingForNodes(() => readFromNode(reader, asked, options))
      const found = await reading.catch((error) => {
        throw readerError(error)
      })
      return replyOf(found, asked, { operation, request, network })
    }
  const { proxyResolve, proxyReverseResolve } = OPERATIONS
  return {
    proxyResolve: handlerOf(proxyResolve),
    proxyReverseResolve: handlerOf(proxyReverseResolve),
  }
}
