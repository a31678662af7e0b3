/** The lookups beside `resolve`: with all facts, backwards, and by prefix. */
import type { Lookup } from '@quorumscan/consensus'
import type { CertifiedPage } from '@quorumscan/consensus/certified'
import { invalidArgument } from '../errors.ts'
import { type Names, type NamesBase, text } from './bound-reads.ts'
import { toEntry } from './entries.ts'
import {
  type Absent,
  type Answered,
  type EntriesPage,
  type Found,
  isAnswered,
  type Mismatch,
  type ReadOutcome,
} from './lookups.ts'
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
        const ask = async (asked: Lookup, minOffset = read.minOffset) => {
          const options = { ...read, minOffset }
          const outcomes = await retryLookups(() => source.lookup([asked], options), {
            clock,
            read,
          })
          return decided(party, outcomes)
        }
        const found = await ask({ party })
        if (found.answer === null) return null
        const { name } = found.answer
        // Between the two reads the name may have lapsed or changed hands: then it is none, rightly.
        const forward = await ask({ name }, Math.max(found.offset, read.minOffset ?? 0))
        return forward.answer?.user === party ? name : null
      })
    },
    lookup(name, lookup = {}) {
      text('the name', name)
      return bounded(`look up ${name}`, lookup, async (read) => {
        const options = { ...read, isShared: lookup.receipt === false }
        const outcomes = await retryLookups(() => source.lookup([{ name }], options), {
          clock,
          read,
        })
        const outcome = outcomes[0] as (typeof outcomes)[number] // One asked, one answered.
        if (!isAnswered(outcome)) return outcome
        const { answer } = outcome
        const facts = {
          offset: outcome.offset,
          recordTime: outcome.recordTime,
          threshold: outcome.threshold,
          nodeCount: outcome.nodeCount,
          agreed: outcome.agreed,
          dissented: outcome.dissented,
          verifiedBy: source.verifiedBy,
          receipt: lookup.receipt === false ? null : outcome.receipt,
        }
        const entry = answer === null ? null : toEntry(answer)
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
      let after: string | null = null
      for (let pageToken: string | null = null; ; ) {
        const asked: EntriesPage = { prefix, pageSize, pageToken, after }
        const page: CertifiedPage = await bounded(`search ${prefix}`, lookup, async (read) => {
          const ask = async () => [await source.page(asked, read)]
          return decided(`search ${prefix}`, await retryLookups(ask, { clock, read })).answer
        })
        for (const entry of page.entries) yield toEntry(entry)
        after = page.entries.at(-1)?.name ?? after
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

/** @throws {QuorumscanError} Where the one outcome is no answer. */
function decided<Answer>(
  what: string,
  [outcome]: readonly ReadOutcome<Answer>[],
): Answered<Answer> {
  if (outcome !== undefined && isAnswered(outcome)) return outcome
  throw outcomeError(what, outcome as Exclude<ReadOutcome, Answered<unknown>>)
}
