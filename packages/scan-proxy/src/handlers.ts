/**
 * The scan proxy (D-34 to D-43): every answer is what enough scan nodes gave at one offset, byte for byte.
 * It needs no token, and not the validator's own replica, which only helps to notice forks.
 */
import { utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { PageSubject } from '@quorumscan/model'
import {
  type Decided,
  isDecided,
  type Outcome,
  type ReadOptions,
  type ReadRequest,
} from '@quorumscan/reader'
import { canonicalJson, DSO_ENTRY_NAME, type Json, type Lookup } from '@quorumscan/verifier'
import { batchBody, batchOutcome } from './batch.ts'
import { certifiedHandlers } from './certified.ts'
import { roundsAnswer, rulesAnswer } from './coin-rules.ts'
import type { ProxyHandlersOf, ScanProxyDeps } from './dependencies.ts'
import { sharedDsoAnswer } from './dso-answer.ts'
import { entryNotFound, isAbsence, outcomeError, quorumHeaders, readerError } from './outcome.ts'
import { pagePosition, whyOver } from './pages.ts'
import { type QuorumRequest, quorumOptions } from './quorum-options.ts'
import {
  activitiesRequest,
  amuletRulesRequest,
  ansRulesRequest,
  dsoPartyIdRequest,
  listEntriesByPartyRequest,
  listEntriesRequest,
  miningRoundsRequest,
  scansRequest,
  sharedDsoRequest,
} from './requests.ts'

/** A batch whose lookups ended at different offsets is asked again, at the highest of them. */
const BATCH_ATTEMPTS_MAX = 3

type ProxyReply =
  | {
      readonly status?: number
      readonly headers: Record<string, string>
      readonly body: Uint8Array
    }
  | { readonly headers: Record<string, string>; readonly error: ScanError }

type VotedOperation =
  | 'proxyListEntries'
  | 'proxyGetEntryByName'
  | 'proxyGetEntryByParty'
  | 'proxyListEntriesByParty'
  | 'proxyLookupEntries'
  | 'proxyListActivities'
  | 'proxyGetAnsRules'
  | 'proxyGetAmuletRules'
  | 'proxyGetOpenAndIssuingMiningRounds'
  | 'proxyGetDsoPartyId'
  | 'proxyGetDso'
  | 'proxyListScans'

export function scanProxyHandlers(
  context: ScanProxyDeps,
): ProxyHandlersOf<VotedOperation | 'proxyGetGenesis' | 'proxyListEvidence'> {
  const { genesis, genesisHash, reader } = context
  // A Genesis is JSON by construction; its type only lacks the index signature.
  const genesisBytes = utf8(canonicalJson(genesis as unknown as Json))

  const lookupOne = async (lookup: Lookup, request: QuorumRequest): Promise<ProxyReply> => {
    const options = quorumOptions(request, genesis)
    const [outcome] = (await attempt(reader.lookup([lookup], options))) as [Outcome]
    if (!isAbsence(outcome)) return reply(outcome)
    return { headers: quorumHeaders(outcome), error: entryNotFound(lookup) }
  }

  const read = async (input: ReadRequest, request: QuorumRequest): Promise<Outcome> =>
    attempt(reader.read(input, quorumOptions(request, genesis)))

  const readAndReply = async (input: ReadRequest, request: QuorumRequest): Promise<ProxyReply> =>
    reply(await read(input, request))

  /** In another form than the nodes have. */
  const readInForm = async (
    input: ReadRequest,
    request: QuorumRequest,
    form: (outcome: Decided) => Uint8Array,
  ): Promise<ProxyReply> => {
    const outcome = await read(input, request)
    return isDecided(outcome)
      ? { headers: quorumHeaders(outcome), body: form(outcome) }
      : reply(outcome)
  }

  const readPage = async (
    subject: PageSubject,
    input: ReadRequest,
    request: QuorumRequest & { readonly query: { readonly page_token?: string } },
  ): Promise<ProxyReply> => {
    const position = pagePosition(genesisHash, subject, request.query.page_token)
    const outcome = await read(input, request)
    const over = await whyOver(context.ledger, { position, outcome }, request.signal)
    return over === null ? reply(outcome) : { headers: quorumHeaders(outcome), error: over }
  }

  const lookupMany = async (
    lookups: readonly Lookup[],
    options: ReadOptions,
  ): Promise<readonly [Outcome, ...Outcome[]]> => {
    // Nothing to look up still is a question: at which offset are we? The operator's entry is always there.
    const asked = lookups.length === 0 ? [{ name: DSO_ENTRY_NAME }] : lookups
    return (await attempt(reader.lookup(asked, options))) as [Outcome, ...Outcome[]]
  }

  const voted: ProxyHandlersOf<VotedOperation> = {
    proxyGetEntryByName: (request) => lookupOne({ name: request.params.name }, request),
    proxyGetEntryByParty: (request) => lookupOne({ party: request.params.party }, request),

    async proxyLookupEntries(request) {
      const { lookups, min_offset: minOffset } = request.body
      let options = quorumOptions(request, genesis)
      if (typeof minOffset === 'number')
        options = { ...options, minOffset: Math.max(minOffset, options.minOffset ?? 0) }
      for (let left = BATCH_ATTEMPTS_MAX; left > 0; left--) {
        const outcomes = await lookupMany(lookups, options)
        const whole = batchOutcome(outcomes)
        if (whole !== undefined) {
          if (!isDecided(whole)) return reply(whole)
          const answers = lookups.length === 0 ? [] : outcomes.filter(isDecided)
          return { headers: quorumHeaders(whole), body: batchBody(answers) }
        }
        options = { ...options, minOffset: Math.max(...outcomes.map(offsetOf)) }
      }
      throw new ScanError('CONSENSUS_LAGGING', 'The lookups of the batch met no common offset.', {
        retryAfterSeconds: 1,
      })
    },

    proxyListEntries: (request) =>
      readPage(
        { kind: 'prefix', prefix: request.query.name_prefix ?? '' },
        listEntriesRequest(request.query),
        request,
      ),
    proxyListEntriesByParty: (request) => {
      const { party } = request.params
      const input = listEntriesByPartyRequest(party, request.query)
      return readPage({ kind: 'party', party }, input, request)
    },
    proxyListActivities: (request) => readAndReply(activitiesRequest(request.body), request),
    proxyGetAnsRules: (request) => readAndReply(ansRulesRequest(request.body), request),
    proxyGetAmuletRules: (request) => readInForm(amuletRulesRequest, request, rulesAnswer),
    proxyGetOpenAndIssuingMiningRounds: (request) =>
      readInForm(miningRoundsRequest, request, roundsAnswer),
    proxyGetDsoPartyId: (request) => readAndReply(dsoPartyIdRequest, request),
    proxyListScans: (request) => readAndReply(scansRequest, request),

    proxyGetDso: (request) => readInForm(sharedDsoRequest(genesis), request, sharedDsoAnswer),
  }
  return {
    ...voted,
    ...certifiedHandlers(context, voted),
    proxyGetGenesis: async () => ({ headers: {}, body: genesisBytes }),
    proxyListEvidence: async () => ({
      headers: {},
      body: utf8(JSON.stringify({ evidence: context.evidence.list() })),
    }),
  }
}

function reply(outcome: Outcome): ProxyReply {
  const headers = quorumHeaders(outcome)
  return isDecided(outcome)
    ? { headers, body: outcome.answer }
    : { headers, error: outcomeError(outcome) }
}

async function attempt<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw readerError(error)
  }
}

function offsetOf(outcome: Outcome): number {
  return isDecided(outcome) ? outcome.offset : 0
}
