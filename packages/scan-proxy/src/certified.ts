/**
 * Certified reads at the proxy: answered from the validator's own replica, at the newest offset at which enough
 * members signed the state that it computed itself, so that nobody is asked for a lookup. Where the own replica is
 * behind, or broken, a node is asked, and what it proves is checked before it is handed on. Whoever is given the
 * document need not believe this validator.
 */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { sha256, utf8 } from '@quorumscan/base'
import { CERTIFIED_HEADERS, createCertifiedAnswers, type Proven } from '@quorumscan/certifier'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { PageSubject } from '@quorumscan/model'
import type { Participation } from '@quorumscan/reader'
import {
  type CertifiedAnswer,
  type CertifiedOutcome,
  type CertifiedRequest,
  kindOf,
  requestOfActivitiesPage,
  requestOfEntriesPage,
  requestOfLookups,
} from '@quorumscan/reader/certified'
import { withWaitOf } from '@quorumscan/server'
import {
  type Genesis,
  type Lookup,
  parseThreshold,
  requestOfActivities,
  thresholdVotes,
} from '@quorumscan/verifier'
import { type AnyQuestion, type Certificate, isStale } from '@quorumscan/verifier/certified'
import { LRUCache } from 'lru-cache'
import { ansRulesRequest, dsoRequest, lookupRequest, scansRequest } from './certified-requests.ts'
import type { ProxyHandlersOf, ScanProxyDeps } from './dependencies.ts'
import { sharedDsoAnswer } from './dso-answer.ts'
import { entryNotFound, outcomeError, quorumHeaders, readerError } from './outcome.ts'
import { pagePosition } from './pages.ts'
import type { QuorumRequest } from './quorum-options.ts'

type Operation =
  | 'proxyListEntries'
  | 'proxyGetEntryByName'
  | 'proxyGetEntryByParty'
  | 'proxyListEntriesByParty'
  | 'proxyLookupEntries'
  | 'proxyListActivities'
  | 'proxyGetAnsRules'
  | 'proxyGetDso'
  | 'proxyListScans'

type Reply =
  | { readonly headers: Record<string, string>; readonly body: Uint8Array }
  | { readonly headers: Record<string, string>; readonly error: ScanError }

/** A proven answer, whoever proved it. */
type Answered<Answer> = Participation &
  Pick<CertifiedAnswer<Answer>, 'kind' | 'answer' | 'offset' | 'recordTime'> & {
    /** Encoded where it is asked for. */
    readonly document: Uint8Array
    /** Of the own replica's newest state; null: a node's answer, or one of a walk. */
    readonly certificate: Certificate | null
  }

type KeptReply = {
  readonly certificate: Certificate
  readonly signerCount: number
  readonly reply: Reply
}

type Unanswered = Exclude<CertifiedOutcome<unknown>, CertifiedAnswer<unknown>>

/** As for votes (D-39). */
const MAX_AGE_MS = 60_000

/** Replies that are kept: thirty thousand lookups, or ninety pages of a thousand. */
const KEPT_BYTES_MAX = 32 * 2 ** 20
/** Of the map, the headers and the objects of one reply. */
const KEPT_OVERHEAD_BYTES = 1_024

/** Why the own replica has no answer, where a node may have one. */
const BEHIND: ReadonlySet<string> = new Set([
  'NO_CERTIFICATE',
  'LOG_FORK',
  'STATE_DIVERGED',
  'NOT_READY',
  'OFFSET_NOT_REACHED',
  'OFFSET_PRUNED',
  'DEPENDENCY_UNAVAILABLE',
])

/** What `x-quorum` says beside the thresholds, as the threshold that it stands for. */
const CERTIFIED_QUORUMS: Readonly<Record<string, string>> = {
  certified: 'weak',
  'certified-strong': 'strong',
}

/** The handlers of operations that have a certified answer; `voted` are those that let the nodes vote. */
export function certifiedHandlers(
  context: ScanProxyDeps,
  voted: ProxyHandlersOf<Operation>,
): ProxyHandlersOf<Operation> {
  const { genesis, genesisHash, ledger, shown, clock, certifier, certifiedReader } = context
  const network = { genesis, genesisHash, sha256 }
  const answers = createCertifiedAnswers({ ...context, replica: ledger.proofs })
  /** Replies of the own replica: the same until another state is certified. */
  const keptReplies = new LRUCache<string, KeptReply>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ reply }, key) =>
      KEPT_OVERHEAD_BYTES + key.length + ('body' in reply ? reply.body.byteLength : 0),
  })

  const isRecent = (recordTime: number, request: QuorumRequest): boolean => {
    const maxAgeMs = Math.min(MAX_AGE_MS, maxAgeOf(request))
    return !isStale(recordTime, { nowMicros: clock.nowMicros(), maxAgeMs })
  }

  /** What was replied to the same request, if it still is what would be. */
  const keptReply = (request: QuorumRequest): Reply | null => {
    const key = keyOf(request)
    const kept = key === null ? undefined : keptReplies.get(key)
    if (kept === undefined) return null
    const { offset, recordTime, stateRoot } = kept.certificate
    // More members may have signed it meanwhile: it had as many as were asked for.
    const newest = certifier.newest(kept.signerCount)
    if (newest?.offset !== offset || newest.stateRoot !== stateRoot) return null
    return offset >= floorOf(request) && isRecent(recordTime, request) ? kept.reply : null
  }

  /** A handler that votes unless a certified answer is asked for, and certifies what it has not replied before. */
  const or =
    <Request extends QuorumRequest, Voted>(
      vote: (request: Request) => Promise<Voted>,
      certify: (request: Request) => Promise<Reply>,
    ) =>
    async (request: Request): Promise<Reply | Voted> =>
      signersOf(request) === null ? vote(request) : (keptReply(request) ?? certify(request))

  /** Null: the own replica has no such state. */
  const proveOwn = async <Answer>(
    question: AnyQuestion<Answer>,
    request: QuorumRequest,
  ): Promise<Answered<Answer> | null> => {
    const signers = signersOf(request) ?? 'weak'
    const query = { signers, min_offset: question.offset === null ? floorOf(request) : 0 }
    // Who is not up to date would let every caller wait for nothing.
    const isPatient = ledger.state() === 'live'
    try {
      const proven = await answers.prove(question, withWaitOf(request, { query, isPatient }))
      return ownAnswer(proven, { genesis, signers, isWalk: question.offset !== null })
    } catch (error) {
      if (isScanError(error) && BEHIND.has(error.code)) return null
      throw error
    }
  }

  const askNode = async <Answer>(
    asked: CertifiedRequest<Answer>,
    minOffset: number,
    request: QuorumRequest,
  ) => {
    const threshold = parseThreshold(signersOf(request) ?? 'weak', genesis.nodes.length) ?? 'weak'
    const { signal } = request
    try {
      const options = { threshold, minOffset, maxAgeMs: maxAgeOf(request), signal }
      return await certifiedReader.read(asked, options)
    } catch (error) {
      throw readerError(error)
    }
  }

  /** What the own replica proves if that is recent enough, else a node. */
  const prove = async <Answer>(
    asked: CertifiedRequest<Answer>,
    request: QuorumRequest,
  ): Promise<Answered<Answer> | Unanswered> => {
    const question = asked.question(network)
    const isWalk = question.offset !== null
    const own = await proveOwn(question, request)
    // A walk stays at its own offset, however old that is.
    if (own !== null && (isWalk || isRecent(own.recordTime, request))) return own
    const minOffset = Math.max(floorOf(request), own?.offset ?? 0)
    const outcome = await askNode(asked, minOffset, request)
    if ('answer' in outcome)
      return { ...outcome, document: utf8(outcome.receipt.document), certificate: null }
    const taken = { nowMicros: clock.nowMicros(), maxAgeMs: maxAgeOf(request) }
    return own !== null && !isStale(own.recordTime, taken) ? own : outcome
  }

  const answer = async <Answer>(
    request: QuorumRequest,
    asked: CertifiedRequest<Answer>,
    form: (answer: Answer, agreed: readonly string[]) => Uint8Array | ScanError,
  ): Promise<Reply> => {
    const found = await prove(asked, request)
    const headers = quorumHeaders(found)
    if (!('answer' in found)) {
      if (found.kind !== 'expired') return { headers, error: outcomeError(found) }
      const reason = 'The walk is over: its offset is not certified any more. Begin it anew.'
      return { headers, error: new ScanError('OFFSET_PRUNED', reason) }
    }
    shown.noteCertified(found)
    const reply = replyOf(found, { headers, form, isDocument: isDocument(request) })
    const { certificate, threshold: signerCount } = found
    const key = keyOf(request)
    if (key !== null && certificate !== null)
      keptReplies.set(key, { certificate, signerCount, reply })
    return reply
  }

  /** The least offset that the caller takes. */
  const floorOf = ({ headers }: QuorumRequest) =>
    Math.max(headers['x-min-offset'] ?? 0, shown.offset())

  const lookup = (one: Lookup, request: QuorumRequest) =>
    answer(request, lookupRequest(one), (entry) =>
      entry === null ? entryNotFound(one) : json({ entry }),
    )

  const page = (
    subject: PageSubject,
    request: QuorumRequest & {
      readonly query: { readonly page_size: number; readonly page_token?: string }
    },
  ) => {
    const { page_size: pageSize, page_token: token } = request.query
    // Refuses a token that is none of this list.
    pagePosition(genesisHash, subject, token)
    const asked = { subject, pageSize, pageToken: token ?? null }
    return answer(request, requestOfEntriesPage(asked), json)
  }

  return {
    proxyGetEntryByName: or(voted.proxyGetEntryByName, (request) =>
      lookup({ name: request.params.name }, request),
    ),
    proxyGetEntryByParty: or(voted.proxyGetEntryByParty, (request) =>
      lookup({ party: request.params.party }, request),
    ),
    proxyLookupEntries: or(voted.proxyLookupEntries, (request) =>
      answer(withFloorOfBody(request), requestOfLookups(request.body.lookups), (entries) =>
        json({ results: entries.map((entry) => ({ entry })) }),
      ),
    ),
    proxyListActivities: or(voted.proxyListActivities, (request) => {
      const { page_size: pageSize, ...asked } = requestOfActivities(request.body).parameters
      const page = { pageSize, after: asked.begin_after_id, order: asked.sort_order }
      return answer(withFloorOfBody(request), requestOfActivitiesPage(page), json)
    }),
    proxyListEntries: or(voted.proxyListEntries, (request) =>
      page({ kind: 'prefix', prefix: request.query.name_prefix ?? '' }, request),
    ),
    proxyListEntriesByParty: or(voted.proxyListEntriesByParty, (request) =>
      page({ kind: 'party', party: request.params.party }, request),
    ),
    proxyGetAnsRules: or(voted.proxyGetAnsRules, (request) =>
      answer(request, ansRulesRequest, json),
    ),
    proxyGetDso: or(voted.proxyGetDso, (request) =>
      answer(request, dsoRequest, (value, agreed) =>
        sharedDsoAnswer({ answer: json(value), agreed }),
      ),
    ),
    proxyListScans: or(voted.proxyListScans, (request) => answer(request, scansRequest, json)),
  }
}

/** The floor of a POST may be in its body as well. */
function withFloorOfBody(
  request: QuorumRequest & { readonly body: { readonly min_offset?: number | null } },
): QuorumRequest {
  const { url, body, headers, query, forward } = request
  const minOffset = Math.max(body.min_offset ?? 0, headers['x-min-offset'] ?? 0)
  return withWaitOf(request, {
    headers: { ...headers, 'x-min-offset': minOffset },
    ...{ url, body, query, forward },
  })
}

/** What the own replica proves. */
function ownAnswer<Answer>(
  proven: Proven<Answer>,
  context: { readonly genesis: Genesis; readonly signers: string; readonly isWalk: boolean },
): Answered<Answer> {
  const { genesis, signers, isWalk } = context
  const { answer, certificate } = proven
  const nodeCount = genesis.nodes.length
  const threshold = thresholdVotes(parseThreshold(signers, nodeCount) ?? 'weak', nodeCount) ?? 0
  const agreed = signersIn(certificate)
  const { offset, recordTime } = certificate
  return {
    ...{ threshold, nodeCount, answered: agreed.length, agreed, dissented: [] },
    ...{ kind: kindOf(answer, nodeCount), answer, offset, recordTime },
    certificate: isWalk ? null : certificate,
    get document() {
      return proven.document.body
    },
  }
}

function replyOf<Answer>(
  found: Answered<Answer>,
  how: {
    readonly headers: Record<string, string>
    readonly form: (answer: Answer, agreed: readonly string[]) => Uint8Array | ScanError
    readonly isDocument: boolean
  },
): Reply {
  const { headers, form } = how
  if (how.isDocument) return { headers: { ...headers, ...CERTIFIED_HEADERS }, body: found.document }
  const body = form(found.answer, found.agreed)
  return body instanceof Uint8Array ? { headers, body } : { headers, error: body }
}

/** Equal for requests that are answered alike at one state; null: it depends on a body. */
function keyOf(request: QuorumRequest): string | null {
  if (request.body !== undefined) return null
  return `${signersOf(request)} ${isDocument(request)} ${request.url}`
}

/** Signers that a certified answer is asked for with; null: votes are asked for. */
function signersOf({ headers, query }: QuorumRequest): string | null {
  const quorum = headers['x-quorum'] ?? query.quorum ?? 'weak'
  const signers = Object.hasOwn(CERTIFIED_QUORUMS, quorum) ? CERTIFIED_QUORUMS[quorum] : undefined
  if (signers !== undefined) return signers
  return accepts(headers.accept, CERTIFIED_MEDIA_TYPE) ? quorum : null
}

function signersIn({ signatures }: Certificate): readonly string[] {
  return signatures.map(([name]) => name)
}

/** Whoever is given the proof sees itself how old it is, and need not tell what it takes. */
function maxAgeOf(request: QuorumRequest): number {
  const ageMsMax = isDocument(request) ? Number.POSITIVE_INFINITY : MAX_AGE_MS
  return request.headers['x-max-age-ms'] ?? ageMsMax
}

function isDocument({ headers }: QuorumRequest): boolean {
  return accepts(headers.accept, CERTIFIED_MEDIA_TYPE)
}

function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(utf8(JSON.stringify(value)))
}
