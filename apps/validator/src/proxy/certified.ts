/**
 * Certified reads at the proxy: answered from the validator's own replica, at the newest offset at which enough
 * members signed the state that it computed itself. Nobody is asked for a lookup, and who is given the document
 * need not believe this validator.
 */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { sha256, utf8 } from '@quorumscan/base'
import {
  type Decided,
  type Genesis,
  type Lagging,
  type Lookup,
  maxFaulty,
  parseThreshold,
  thresholdVotes,
} from '@quorumscan/consensus'
import {
  askBatch,
  askEntries,
  askEntriesOfParty,
  askName,
  askNetwork,
  askParty,
  type Certificate,
  type CertifiedEntry,
  isStale,
  type Question,
} from '@quorumscan/consensus/certified'
import type { ScanError } from '@quorumscan/errors'
import { createCertifiedAnswers } from '@quorumscan/http'
import type { PageSubject } from '@quorumscan/model'
import type { Context } from '../context.ts'
import type { HandlersOf } from '../handlers/handlers.ts'
import { sharedDsoAnswer } from './dso-answer.ts'
import { entryNotFound, outcomeError, quorumHeaders } from './outcome.ts'
import { pagePosition } from './pages.ts'
import type { QuorumRequest } from './quorum-options.ts'

type Operation =
  | 'proxyListEntries'
  | 'proxyGetEntryByName'
  | 'proxyGetEntryByParty'
  | 'proxyListEntriesByParty'
  | 'proxyLookupEntries'
  | 'proxyGetAnsRules'
  | 'proxyGetDso'
  | 'proxyListScans'

type Reply =
  | { readonly headers: Record<string, string>; readonly body: Uint8Array }
  | { readonly headers: Record<string, string>; readonly error: ScanError }

/** As for votes (D-39). */
const MAX_AGE_MS = 60_000
const MICROS_PER_MS = 1000
/** Certificates come several times a second. */
const RETRY_AFTER_MS = 250

/** What `x-quorum` says beside the thresholds, as the threshold that it stands for. */
const CERTIFIED_QUORUMS: Readonly<Record<string, string>> = {
  certified: 'weak',
  'certified-strong': 'strong',
}

/** The handlers of operations that have a certified answer; `voted` are those that let the nodes vote. */
export function certifiedHandlers(
  context: Context,
  voted: HandlersOf<Operation>,
): HandlersOf<Operation> {
  const { genesis, genesisHash, shown, clock } = context
  const network = { genesis, genesisHash, sha256 }
  const answers = createCertifiedAnswers({ ...context, replica: context.ledger })

  /** @param form - The usual body. */
  const answer = async <Answer>(
    request: QuorumRequest,
    question: Question<Answer>,
    form: (answer: Answer, certificate: Certificate) => Uint8Array | ScanError,
  ): Promise<Reply> => {
    const { headers: asked } = request
    const signers = signersOf(request) ?? 'weak'
    // A walk stays at its own offset.
    const floor = Math.max(asked['x-min-offset'] ?? 0, shown.offset())
    const query = { signers, min_offset: question.offset === null ? floor : 0 }
    const proven = await answers.prove(question, withSignalOf(request, { query }))
    const { certificate } = proven
    const part = participation(certificate, { genesis, signers })
    const isDocument = accepts(asked.accept, CERTIFIED_MEDIA_TYPE)
    // Whoever is given the proof sees itself how old it is, and need not tell what it takes.
    const ageMsMax = isDocument ? Number.POSITIVE_INFINITY : MAX_AGE_MS
    const maxAgeMs = asked['x-max-age-ms'] ?? ageMsMax
    const nowMicros = clock.nowMicros()
    if (isStale(certificate.recordTime, { nowMicros, maxAgeMs })) {
      const stale: Lagging = {
        ...part,
        kind: 'lagging',
        reason: 'stale',
        wantedOffset: floor,
        headOffset: certificate.offset,
        ageMs: Math.ceil((nowMicros - certificate.recordTime) / MICROS_PER_MS),
        retryAfterMs: RETRY_AFTER_MS,
      }
      return { headers: quorumHeaders(stale), error: outcomeError(stale) }
    }
    const headers = quorumHeaders(decided(proven.answer, certificate, part))
    if (isDocument) {
      const { document } = proven
      return { headers: { ...headers, ...document.headers }, body: document.body }
    }
    const body = form(proven.answer, certificate)
    return body instanceof Uint8Array ? { headers, body } : { headers, error: body }
  }

  const lookup = (one: Lookup, request: QuorumRequest) => {
    const question = 'name' in one ? askName(one.name) : askParty(one.party, network)
    return answer<CertifiedEntry | null>(request, question, (entry) =>
      entry === null ? entryNotFound(one) : json({ entry }),
    )
  }

  const page = (
    subject: PageSubject,
    request: QuorumRequest & {
      readonly query: { readonly page_size: number; readonly page_token?: string }
    },
  ) => {
    const { page_size: pageSize, page_token: token } = request.query
    // Refuses a token that is none of this list.
    pagePosition(genesisHash, subject, token)
    const asked = { pageSize, pageToken: token ?? null }
    const question =
      subject.kind === 'prefix'
        ? askEntries(subject.prefix, asked, network)
        : askEntriesOfParty(subject.party, asked, network)
    return answer(request, question, json)
  }

  return {
    proxyGetEntryByName: or(voted.proxyGetEntryByName, (request) =>
      lookup({ name: request.params.name }, request),
    ),
    proxyGetEntryByParty: or(voted.proxyGetEntryByParty, (request) =>
      lookup({ party: request.params.party }, request),
    ),
    proxyLookupEntries: or(voted.proxyLookupEntries, (request) => {
      const { lookups, min_offset: minOffset } = request.body
      const asked = request.headers
      const headers = {
        ...asked,
        'x-min-offset': Math.max(minOffset ?? 0, asked['x-min-offset'] ?? 0),
      }
      const { query, forward } = request
      const forwarded = withSignalOf(request, { headers, query, forward })
      return answer(forwarded, askBatch(lookups, network), (entries) =>
        json({ results: entries.map((entry) => ({ entry })) }),
      )
    }),
    proxyListEntries: or(voted.proxyListEntries, (request) =>
      page({ kind: 'prefix', prefix: request.query.name_prefix ?? '' }, request),
    ),
    proxyListEntriesByParty: or(voted.proxyListEntriesByParty, (request) =>
      page({ kind: 'party', party: request.params.party }, request),
    ),
    proxyGetAnsRules: or(voted.proxyGetAnsRules, (request) =>
      answer(request, askNetwork('ans-rules'), json),
    ),
    proxyGetDso: or(voted.proxyGetDso, (request) =>
      answer(request, askNetwork('dso'), (value, { signatures }) =>
        sharedDsoAnswer({ answer: json(value), agreed: signatures.map(([name]) => name) }),
      ),
    ),
    proxyListScans: or(voted.proxyListScans, (request) =>
      answer(request, askNetwork('scans'), json),
    ),
  }
}

/** A handler that votes unless a certified answer is asked for. */
function or<Request extends QuorumRequest, Voted>(
  vote: (request: Request) => Promise<Voted>,
  certify: (request: Request) => Promise<Reply>,
): (request: Request) => Promise<Reply | Voted> {
  return (request) => (signersOf(request) === null ? vote(request) : certify(request))
}

/** The signal of a request is made when it is asked for: hardly any read waits. */
function withSignalOf<Rest extends object>(
  request: { readonly signal: AbortSignal },
  rest: Rest,
): Rest & { readonly signal: AbortSignal } {
  return {
    ...rest,
    get signal() {
      return request.signal
    },
  }
}

/** Signers that a certified answer is asked for with; null: votes are asked for. */
function signersOf({ headers, query }: QuorumRequest): string | null {
  const quorum = headers['x-quorum'] ?? query.quorum ?? 'weak'
  const signers = Object.hasOwn(CERTIFIED_QUORUMS, quorum) ? CERTIFIED_QUORUMS[quorum] : undefined
  if (signers !== undefined) return signers
  return accepts(headers.accept, CERTIFIED_MEDIA_TYPE) ? quorum : null
}

function participation(
  { signatures }: Certificate,
  { genesis, signers }: { readonly genesis: Genesis; readonly signers: string },
) {
  const nodeCount = genesis.nodes.length
  const threshold = thresholdVotes(parseThreshold(signers, nodeCount) ?? 'weak', nodeCount) ?? 0
  const agreed = signatures.map(([name]) => name)
  return { threshold, nodeCount, answered: agreed.length, agreed, dissented: [] }
}

function decided(
  answer: unknown,
  { offset, recordTime, historyHash }: Certificate,
  part: ReturnType<typeof participation>,
): Decided {
  const isAbsent = answer === null
  const kind = maxFaulty(part.nodeCount) === 0 ? 'trusted' : 'verified'
  const where = { offset, recordTime, historyHash, answer: new Uint8Array(0), signatures: [] }
  return { ...part, ...where, kind: isAbsent ? `${kind}-absent` : kind }
}

function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(utf8(JSON.stringify(value)))
}
