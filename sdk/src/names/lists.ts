/** Lists and watches of names, and what few programs look up. */
import { formatInstant } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage, PageSubject } from '@quorumscan/verifier/certified'
import { pageSizeOf } from '../platform/arguments.ts'
import { parseParty } from '../platform/parse-party.ts'
import { hasEnded } from '../platform/times.ts'
import { readAnswer } from './asking.ts'
import { type Answered, type BoundRead, basisOf, type ReadOutcome, toListed } from './bounded.ts'
import type { FoundEntry, Listed, ListOptions } from './lookup-types.ts'
import type { ManyLookups } from './many-lookups.ts'
import { parseMetadata, registryUrlsOf } from './metadata.ts'
import type { Names } from './names-type.ts'
import type { NamesBase, OtherLookups } from './other-lookups.ts'
import { parseName, parsePrefix, parseRegistrableName } from './parse-name.ts'
import { watchName } from './watch-name.ts'

/** The lookups of this part. */
export type Lists = Pick<
  Names,
  'search' | 'namesOf' | 'watch' | 'isAvailable' | 'metadata' | 'registryUrls'
>

export function createLists(
  base: NamesBase,
  { lookUpOnce }: Pick<OtherLookups, 'lookUpOnce'>,
  { reverse }: Pick<ManyLookups, 'reverse'>,
): Lists {
  const { clock, changesOf } = base

  async function* list(
    what: string,
    subject: PageSubject,
    lookup: ListOptions,
  ): AsyncGenerator<Listed<FoundEntry>> {
    const pageSize = pageSizeOf(lookup)
    let after: string | null = null
    for (let pageToken: string | null = null; ; ) {
      const asked = { subject, pageSize, pageToken, after }
      const found: Answered<CertifiedPage> = await readAnswer(base, what, lookup, (read) =>
        base.page(asked, read),
      )
      const { clockSkewMs } = found
      const basis = basisOf(base, found)
      const recordTime = formatInstant(found.recordTime)
      const entries = found.answer.entries.map(toListed)
      const sightings = entries.flatMap(({ name, party }) =>
        party === null ? [] : [{ name, party, atMicros: found.recordTime }],
      )
      const changes = await changesOf(sightings, false)
      for (const entry of entries) {
        // One change for each entry with an owner, in order.
        const changed = entry.party === null ? null : (changes.shift() ?? null)
        if (!hasEnded(entry.expiresAt, clock))
          yield { ...entry, changed, basis, recordTime, clockSkewMs }
      }
      after = entries.at(-1)?.name ?? after
      pageToken = found.answer.next_page_token
      if (pageToken === null) return
    }
  }

  const metadata: Names['metadata'] = async (party, lookup) =>
    parseMetadata((await reverse(party, lookup))?.description)

  return {
    metadata,
    registryUrls: async (party, lookup) => registryUrlsOf(await metadata(party, lookup)),
    async *search(typed, lookup = {}) {
      const prefix = parsePrefix(typed)
      yield* list(`search ${prefix}`, { kind: 'prefix', prefix }, lookup)
    },
    async *namesOf(typed, lookup = {}) {
      const party = parseParty(typed)
      yield* list(`list the names of ${party}`, { kind: 'party', party }, lookup)
    },
    async isAvailable(typed, lookup = {}) {
      const name = parseRegistrableName(typed)
      const ask = async (read: BoundRead) => (await base.lookup([{ name }], read))[0] as Read
      return (await readAnswer(base, `look up ${name}`, lookup, ask)).answer === null
    },
    async *watch(typed, watched = {}) {
      const channel = () => base.storeKey('names')
      // The watch itself asks unreachable nodes again, less and less often.
      const lookup = lookUpOnce
      yield* watchName(parseName(typed).name, { ...watched, clock, channel, lookup })
    },
  }
}

type Read = ReadOutcome<CertifiedEntry | null>
