/**
 * Certified reads of the proxy: answered from the local replica, at the newest offset at which enough
 * members signed the state that it computed itself, so that a lookup asks no node. Where the local replica lags or is
 * broken, the certified reader asks a node, and verifies its proof before the proxy returns it. A client that
 * receives the document need not trust this validator.
 */
import { sha256 } from '@quorumscan/base'
import { createCertifiedAnswers } from '@quorumscan/certifier'
import { isScanError } from '@quorumscan/errors'
import type { Decided } from '@quorumscan/reader'
import {
  type CertifiedAnswer,
  type CertifiedOutcome,
  type CertifiedQuery,
  type CertifiedReader,
  type CertifiedReadOptions,
  kindOf,
  requestOfLookups,
} from '@quorumscan/reader/certified'
import { withWaitOf } from '@quorumscan/server'
import {
  memberSetOf,
  requestOfLookup,
  type Threshold,
  thresholdVotes,
  utf8,
} from '@quorumscan/verifier'
import { type Certificate, queryOf, type StateQuery } from '@quorumscan/verifier/certified'
import type { ScanProxyDeps } from './dependencies.ts'
import type { ProxyRead } from './operations.ts'
import { isOwnRecent } from './own-age.ts'
import { MAX_AGE_MS, type ProxyRequest } from './request.ts'

/** A proven answer, of the local replica or of a node. Bodies are encoded where they are used. */
export type Proven = Omit<Decided, 'historyHash'> & {
  readonly document: Uint8Array
  /** The certificate of the local replica's newest state; null: the answer is a node's, or one of a walk. */
  readonly certificate: Certificate | null
}

export type Unproven = Exclude<CertifiedOutcome<unknown>, CertifiedAnswer<unknown>>

type CertifiedOptions = {
  readonly request: ProxyRequest
  readonly threshold: Threshold
  readonly minOffset: number
  readonly maxAgeMs: number
}

/** Errors of the local replica after which a node may have an answer. */
const CODES_WITH_NODE_FALLBACK: ReadonlySet<string> = new Set([
  'NO_CERTIFICATE',
  'LOG_FORK',
  'STATE_DIVERGED',
  'NOT_READY',
  'OFFSET_NOT_REACHED',
  'OFFSET_PRUNED',
  'DEPENDENCY_UNAVAILABLE',
])

/** @returns A read, which throws ReaderError if it was not attempted. */
export function createCertifiedReads(deps: ScanProxyDeps) {
  const { genesis, genesisHash, trustRule: trust, ledger, certifiedReader } = deps
  const network = { genesis, genesisHash, sha256 }
  const set = memberSetOf(genesis)
  const nodeCount = trust?.members.length ?? set.n
  /** Every certificate has as many signers. */
  const signersMin = set.f + 1
  const answers = createCertifiedAnswers({
    genesis,
    certifier: deps.certifier,
    replica: ledger.proofs,
  })
  const isWithin = (recordTime: number, maxAgeMs: number): boolean =>
    isOwnRecent(deps, recordTime, maxAgeMs)

  /** Null: the local replica has no such state. */
  const proveOwn = async (
    asked: ProxyRead,
    stateQuery: StateQuery<unknown>,
    options: CertifiedOptions,
  ): Promise<Proven | null> => {
    const { request } = options
    const threshold = thresholdVotes(options.threshold, set, trust) ?? 0
    // Certificates of the local replica are signed by members of the rule only.
    if (nodeCount < signersMin) return null
    const signers = String(Math.max(threshold, signersMin))
    const isPageWalk = stateQuery.offset !== null
    const query = { signers, min_offset: isPageWalk ? 0 : options.minOffset }
    // A replica that lags would let every caller wait for nothing.
    const waits = ledger.state() === 'live'
    try {
      const proven = await answers.prove(stateQuery, withWaitOf(request, { query, waits }))
      const { answer, certificate } = proven
      const { offset, recordTime, signatures } = certificate
      const agreed = signatures.map(([name]) => name)
      return {
        kind: kindOf(answer, (trust?.threshold ?? signersMin) - 1),
        get answer() {
          return bodyOf(asked, answer)
        },
        get document() {
          return proven.document.body
        },
        offset,
        recordTime,
        threshold,
        nodeCount,
        trust,
        answered: agreed.length,
        agreed,
        dissented: [],
        clockSkewMs: null,
        certificate: isPageWalk ? null : certificate,
      }
    } catch (error) {
      if (isScanError(error) && CODES_WITH_NODE_FALLBACK.has(error.code)) return null
      throw error
    }
  }

  /** What the local replica proves if that is recent enough, else a node. */
  return async (asked: ProxyRead, options: CertifiedOptions): Promise<Proven | Unproven> => {
    const { request, threshold, maxAgeMs } = options
    const stateQuery = certifiedRequestOf(asked).stateQuery(network)
    const own = await proveOwn(asked, stateQuery, options)
    // A walk stays at its own offset, however old that is.
    const isPageWalk = stateQuery.offset !== null
    if (own !== null && (isPageWalk || isWithin(own.recordTime, Math.min(MAX_AGE_MS, maxAgeMs))))
      return own
    const minOffset = Math.max(options.minOffset, own?.offset ?? 0)
    const { signal } = request
    const bounds = { threshold, minOffset, maxAgeMs, signal }
    const found = await request.waitingForNodes(() => readFromNode(certifiedReader, asked, bounds))
    return own !== null && !('answer' in found) && isWithin(own.recordTime, maxAgeMs) ? own : found
  }
}

/** What a node proves. @throws {ReaderError} If the read was not attempted. */
export async function readFromNode(
  reader: Pick<CertifiedReader, 'read'>,
  asked: ProxyRead,
  options: CertifiedReadOptions,
): Promise<Proven | Unproven> {
  const outcome = await reader.read(certifiedRequestOf(asked), options)
  if (!('answer' in outcome)) return outcome
  const { answer, receipt } = outcome
  const document = utf8(receipt.document)
  return { ...outcome, answer: bodyOf(asked, answer), document, certificate: null }
}

function certifiedRequestOf(asked: ProxyRead): CertifiedQuery<unknown> {
  if ('lookups' in asked) return requestOfLookups(asked.lookups)
  if (!('lookup' in asked)) return asked
  const { lookup } = asked
  // The query of one lookup, whose answer is the entry or null, in a request that caches can keep.
  return {
    ...requestOfLookups([lookup]),
    stateQuery: (network) => queryOf(requestOfLookup(lookup), network),
  }
}

/** The body that a node gives to the same request. */
function bodyOf(asked: ProxyRead, answer: unknown): Uint8Array<ArrayBuffer> {
  let body = answer
  if ('lookup' in asked) body = { entry: answer }
  if ('lookups' in asked) body = { results: (answer as unknown[]).map((entry) => ({ entry })) }
  return utf8(JSON.stringify(body))
}
