/** The lookups beside `resolve`: with all facts, backwards, and by prefix. */
import {
  type Decided,
  entriesBytesMax,
  isDecided,
  type Outcome,
  type ReadOptions,
  requestOfEntries,
  requestOfLookup,
  reverseLookup,
} from '@quorumscan/consensus'
import { invalidArgument } from '../errors.ts'
import { isEntryPage } from '../generated/entry-checks.ts'
import { type Names, type NamesBase, text } from './bound-reads.ts'
import { entryOf, jsonOf, toEntry, type WireEntry } from './entries.ts'
import type { Absent, Found, LookupSource, Mismatch } from './lookups.ts'
import { registrableName } from './name-rules.ts'
import { outcomeError } from './outcome-error.ts'
import { retryLookups } from './retry-lookups.ts'

const LOOKUPS_MAX = 256 // D-14.
const PAGE_SIZE = 100
const PAGE_SIZE_MAX = 1000

export type OtherLookups = Pick<
  Names,
  'resolveMany' | 'reverse' | 'lookup' | 'search' | 'isAvailable'
>

export function createOtherLookups(base: NamesBase): OtherLookups {
  const { source, clock, bounded, changeOf } = base
  return {
    async resolveMany(names, lookup = {}) {
      if (!Array.isArray(names)) throw invalidArgument('names are an array of texts.')
      for (const name of names) text('a name', name)
      return bounded(`resolve ${names.length} names`, lookup, async (read) => {
        const found: (string | null)[] = []
        for (let first = 0; first < names.length; first += LOOKUPS_MAX) {
          const chunk = names.slice(first, first + LOOKUPS_MAX)
          const lookups = chunk.map((name) => ({ name }))
          const outcomes = await retryLookups(() => source.lookup(lookups, read), { clock, read })
          for (const [index, outcome] of outcomes.entries())
            found.push(await base.partyOf(chunk[index] as string, outcome)) // One for each.
        }
        return found
      })
    },
    reverse(party, lookup = {}) {
      text('the party', party)
      return bounded(`reverse ${party}`, lookup, async (read) => {
        const patientSource = {
          lookup: (lookups: Parameters<LookupSource['lookup']>[0], more: ReadOptions = {}) =>
            retryLookups(() => source.lookup(lookups, more), { clock, read }),
        }
        const { outcome, forward, match } = await reverseLookup(patientSource, party, read)
        if (!isDecided(outcome)) throw outcomeError(party, outcome)
        if (forward !== null && !isDecided(forward)) throw outcomeError(party, forward)
        return match ? (entryOf(outcome)?.name ?? null) : null
      })
    },
    lookup(name, lookup = {}) {
      text('the name', name)
      return bounded(`look up ${name}`, lookup, async (read) => {
        const sign = lookup.receipt ?? true
        const [outcome] = (await retryLookups(() => source.lookup([{ name }], { ...read, sign }), {
          clock,
          read,
        })) as [Outcome]
        if (!isDecided(outcome)) return outcome
        const facts = {
          offset: outcome.offset,
          recordTime: outcome.recordTime,
          threshold: outcome.threshold,
          nodeCount: outcome.nodeCount,
          agreed: outcome.agreed,
          dissented: outcome.dissented,
          verifiedBy: source.verifiedBy,
          receipt:
            lookup.receipt === false
              ? null
              : await source.receipt(outcome, requestOfLookup({ name })),
        }
        const entry = entryOf(outcome)
        const isTrusted = outcome.kind === 'trusted' || outcome.kind === 'trusted-absent'
        if (entry === null) {
          const kind = isTrusted ? 'trusted-absent' : 'verified-absent'
          return { kind, entry, ...facts } satisfies Absent
        }
        const changed = await changeOf(entry)
        const { expectParty } = lookup
        return expectParty === undefined || expectParty === entry.party
          ? ({
              kind: isTrusted ? 'trusted' : 'verified',
              entry,
              changed,
              ...facts,
            } satisfies Found)
          : ({
              kind: 'mismatch',
              entry,
              changed,
              expectedParty: expectParty,
              ...facts,
            } satisfies Mismatch)
      })
    },
    async *search(prefix, lookup = {}) {
      text('the prefix', prefix)
      const pageSize = lookup.pageSize ?? PAGE_SIZE
      if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX)
        throw invalidArgument(`pageSize is a whole number from 1 to ${PAGE_SIZE_MAX}.`)
      for (let pageToken: string | null = null; ; ) {
        const request = pageRequest({ prefix, pageSize, pageToken })
        const page = await bounded(`search ${prefix}`, lookup, async (read) => {
          const [outcome] = await retryLookups(async () => [await source.read(request, read)], {
            clock,
            read,
          })
          if (outcome === undefined || !isDecided(outcome))
            throw outcomeError(`search ${prefix}`, outcome as Exclude<Outcome, Decided>)
          return jsonOf(outcome) as EntryPage // `isValid` of the request.
        })
        for (const entry of page.entries) yield toEntry(entry)
        pageToken = page.next_page_token
        if (pageToken === null) return
      }
    },
    async isAvailable(name, lookup) {
      registrableName(name)
      return (await base.resolve(name, lookup)) === null
    },
  }
}

type EntryPage = { readonly entries: readonly WireEntry[]; readonly next_page_token: string | null }

function pageRequest(page: {
  readonly prefix: string
  readonly pageSize: number
  readonly pageToken: string | null
}) {
  const { prefix, pageSize, pageToken } = page
  const query = [
    `name_prefix=${encodeURIComponent(prefix)}`,
    `page_size=${pageSize}`,
    ...(pageToken === null ? [] : [`page_token=${encodeURIComponent(pageToken)}`]),
  ]
  return {
    ...requestOfEntries({ name_prefix: prefix, page_size: pageSize, page_token: pageToken }),
    method: 'GET',
    path: `/v0/ans-entries?${query.join('&')}`,
    body: null,
    bytesMax: entriesBytesMax(pageSize),
    pin: pageToken === null ? 'reader' : 'request',
    isValid: isEntryPage,
  } as const
}
