/**
 * The scan proxy (D-34 to D-40): every answer is what enough scan nodes gave at one offset, byte for byte.
 * It needs no token, and not the validator's own replica, which only helps to notice forks.
 */
import {
  isDecided,
  type Lookup,
  type Outcome,
  type ReadOptions,
  type ReadRequest,
} from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import { DSO_ENTRY_NAME, type PageSubject } from '@quorumscan/model'
import type { Context } from '../context.ts'
import { batchBody, batchOutcome, normalLookup } from '../proxy/batch.ts'
import { sharedDsoAnswer } from '../proxy/dso-answer.ts'
import { outcomeError, quorumHeaders, readerError } from '../proxy/outcome.ts'
import { pagePosition, whyOver } from '../proxy/pages.ts'
import { type QuorumRequest, quorumOptions } from '../proxy/quorum-options.ts'
import {
  activitiesRequest,
  ansRulesRequest,
  dsoPartyIdRequest,
  listEntriesByPartyRequest,
  listEntriesRequest,
  scansRequest,
  sharedDsoRequest,
} from '../proxy/requests.ts'
import type { HandlersOf } from './handlers.ts'

/** A batch whose lookups ended at different offsets is asked again, at the highest of them. */
const BATCH_ATTEMPTS_MAX = 3

type ProxyReply =
  | { readonly headers: Record<string, string>; readonly body: Uint8Array }
  | { readonly headers: Record<string, string>; readonly error: ScanError }

export function scanProxyHandlers(
  context: Context,
): HandlersOf<
  | 'proxyListEntries'
  | 'proxyGetEntryByName'
  | 'proxyGetEntryByParty'
  | 'proxyListEntriesByParty'
  | 'proxyLookupEntries'
  | 'proxyListActivities'
  | 'proxyGetAnsRules'
  | 'proxyGetDsoPartyId'
  | 'proxyGetDso'
  | 'proxyListScans'
> {
  const { genesis, reader } = context

  const lookupOne = async (lookup: Lookup, request: QuorumRequest): Promise<ProxyReply> => {
    const outcomes = await attempt(reader.lookup([lookup], quorumOptions(request, genesis)))
    const [outcome] = outcomes as [Outcome]
    if (outcome.kind !== 'verified-absent' && outcome.kind !== 'trusted-absent')
      return reply(outcome)
    // D-13.
    const text = 'name' in lookup ? `name: ${lookup.name}` : `party: ${lookup.party}`
    return {
      headers: proxyHeaders(outcome),
      error: new ScanError('ENTRY_NOT_FOUND', `No ans entry found for ${text}`),
    }
  }

  const read = async (input: ReadRequest, request: QuorumRequest): Promise<Outcome> =>
    attempt(reader.read(input, quorumOptions(request, genesis)))

  const readPage = async (
    subject: PageSubject,
    input: ReadRequest,
    request: QuorumRequest & { readonly query: { readonly page_token?: string } },
  ): Promise<ProxyReply> => {
    const position = pagePosition(context.genesisHash, subject, request.query.page_token)
    const outcome = await read(input, request)
    const over = await whyOver(context.ledger, { position, outcome }, request.signal)
    return over === null ? reply(outcome) : { headers: proxyHeaders(outcome), error: over }
  }

  const lookupMany = async (
    lookups: readonly Lookup[],
    options: ReadOptions,
  ): Promise<readonly [Outcome, ...Outcome[]]> => {
    // Nothing to look up still is a question: at which offset are we? The operator's entry is always there.
    const asked = lookups.length === 0 ? [{ name: DSO_ENTRY_NAME }] : lookups
    return (await attempt(reader.lookup(asked, options))) as [Outcome, ...Outcome[]]
  }

  return {
    proxyGetEntryByName: (request) => lookupOne({ name: request.params.name }, request),
    proxyGetEntryByParty: (request) => lookupOne({ party: request.params.party }, request),

    async proxyLookupEntries(request) {
      const { min_offset: minOffset } = request.body
      const lookups = request.body.lookups.map(normalLookup)
      let options = quorumOptions(request, genesis)
      if (minOffset !== undefined)
        options = { ...options, minOffset: Math.max(minOffset, options.minOffset ?? 0) }
      for (let left = BATCH_ATTEMPTS_MAX; left > 0; left--) {
        const outcomes = await lookupMany(lookups, options)
        const whole = batchOutcome(outcomes)
        if (whole !== undefined)
          return isDecided(whole)
            ? {
                headers: proxyHeaders(whole),
                body: batchBody(lookups.length === 0 ? [] : outcomes),
              }
            : reply(whole)
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
    proxyListActivities: async (request) =>
      reply(await read(activitiesRequest(request.body), request)),
    proxyGetAnsRules: async (request) => reply(await read(ansRulesRequest(request.body), request)),
    proxyGetDsoPartyId: async (request) => reply(await read(dsoPartyIdRequest, request)),
    proxyListScans: async (request) => reply(await read(scansRequest, request)),

    async proxyGetDso(request) {
      const outcome = await read(sharedDsoRequest, request)
      if (!isDecided(outcome)) return reply(outcome)
      return { headers: proxyHeaders(outcome), body: sharedDsoAnswer(outcome) }
    },
  }
}

function reply(outcome: Outcome): ProxyReply {
  const headers = proxyHeaders(outcome)
  return isDecided(outcome)
    ? { headers, body: outcome.answer }
    : { headers, error: outcomeError(outcome) }
}

/** D-16: an answer is true at its offset, not later. */
function proxyHeaders(outcome: Outcome): Record<string, string> {
  return { ...quorumHeaders(outcome), 'cache-control': 'no-store' }
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
