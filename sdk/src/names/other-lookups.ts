/** The lookups other than `resolve`: with all facts, by party, many at once, and lists. */
import { BATCH_LOOKUPS_MAX, formatInstant, type Lookup } from '@quorumscan/verifier'
import type { CertifiedEntry, CertifiedPage, PageSubject } from '@quorumscan/verifier/certified'
import type { QuorumscanError } from '../errors.ts'
import { assertTexts, pageSizeOf } from '../platform/arguments.ts'
import { hasEnded } from '../platform/clock.ts'
import { isParty, parseParty } from '../platform/values.ts'
import { decided, readAnswer, retryLookups } from './asking.ts'
import {
  type Answered,
  type BoundRead,
  type Bounds,
  isAnswered,
  type LookupSource,
  type ReadOutcome,
  toEntry,
} from './bounded.ts'
import type {
  Expired,
  Found,
  FoundEntry,
  Invalid,
  ListOptions,
  LookupOutcome,
  Mismatch,
  NameChange,
} from './lookup-types.ts'
import { parseMetadata, registryUrlsOf } from './metadata.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import { publicOutcome } from './outcome-error.ts'
import { parseName, parsePrefix, parseRegistrableName, refusalOfName } from './parse-name.ts'
import type { SeenNames, Sighting } from './seen-names.ts'
import { watchName } from './watch-name.ts'

export type NamesBase = LookupSource &
  Bounds & {
    /** The change of each name since it was last accepted, in order. `isRemembered`: new names are remembered. */
    changesOf(read: readonly Sighting[], isRemembered: boolean): Promise<(NameChange | null)[]>
    readonly accept: SeenNames['accept']
  }

export type OtherLookups = Omit<Names, 'resolve'>
type Read = ReadOutcome<CertifiedEntry | null>
type Decided = Exclude<LookupOutcome, Mismatch>

export function createOtherLookups(base: NamesBase): OtherLookups {
  const { clock, bounded, changesOf, basis } = base

  /** Outcomes in order, for any number of lookups. Lookups of one request are retried together. */
  const ask = async (lookups: readonly Lookup[], read: BoundRead, pausesMs?: readonly number[]) => {
    const outcomes: Read[] = []
    for (let first = 0; first < lookups.length; first += BATCH_LOOKUPS_MAX) {
      const chunk = lookups.slice(first, first + BATCH_LOOKUPS_MAX)
      outcomes.push(
        ...(await retryLookups(() => base.lookup(chunk, read), { clock, read, pausesMs })),
      )
    }
    return outcomes
  }

  /** The outcomes for callers, with the change of each name. */
  const present = async (outcomes: readonly Read[], hasReceipt = false): Promise<Decided[]> => {
    const entries = outcomes.flatMap((outcome) =>
      isAnswered(outcome) && outcome.answer !== null
        ? [{ ...toEntry(outcome.answer), atMicros: outcome.recordTime }]
        : [],
    )
    const changes = await changesOf(entries, true)
    return outcomes.map((outcome) => {
      if (!isAnswered(outcome)) return publicOutcome(outcome)
      // One change for each entry, in order.
      const changed = outcome.answer === null ? null : (changes.shift() ?? null)
      return publicAnswer(outcome, changed, hasReceipt, base)
    })
  }

  /** Looks up the names of parties, and then their owners. A name that resolves to another party counts as absent. */
  const askReverse = async (parties: readonly string[], read: BoundRead): Promise<Read[]> => {
    const reversed = parties.map((party) => ({ party }))
    const found = await ask(reversed, read)
    const entries = found.flatMap((outcome) => (isAnswered(outcome) && outcome.answer) || [])
    const offsets = found.map((outcome) => (isAnswered(outcome) ? outcome.offset : 0))
    const minOffset = Math.max(read.minOffset ?? 0, ...offsets)
    const lookups = entries.map(({ name }) => ({ name }))
    const forward = await ask(lookups, { ...read, minOffset })
    return found.map((outcome, index) => {
      if (!isAnswered(outcome) || outcome.answer === null) return outcome
      const back = forward.shift() as Read // One for each entry.
      if (!isAnswered(back) || back.answer?.user === parties[index]) return back
      const kind = back.kind.startsWith('trusted') ? 'trusted-absent' : 'verified-absent'
      return { ...back, kind, answer: null }
    })
  }

  async function* list(what: string, subject: PageSubject, lookup: ListOptions) {
    const pageSize = pageSizeOf(lookup)
    let after: string | null = null
    for (let pageToken: string | null = null; ; ) {
      const asked = { subject, pageSize, pageToken, after }
      const found: Answered<CertifiedPage> = await readAnswer(base, what, lookup, (read) =>
        base.page(asked, read),
      )
      const { clockSkewMs } = found
      const recordTime = formatInstant(found.recordTime)
      const entries = found.answer.entries.map(toEntry)
      const read = entries.map((entry) => ({ ...entry, atMicros: found.recordTime }))
      const changes = await changesOf(read, false)
      for (const [index, entry] of entries.entries())
        if (!hasEnded(entry.expiresAt, clock))
          yield { ...entry, changed: changes[index] ?? null, basis, recordTime, clockSkewMs }
      after = entries.at(-1)?.name ?? after
      pageToken = found.answer.next_page_token
      if (pageToken === null) return
    }
  }

  const lookupWith =
    (pausesMs?: readonly number[]): Names['lookup'] =>
    async (typed, options = {}) => {
      const { name } = parseName(typed)
      const { receipt = true, expectParty = null } = options
      return bounded(`look up ${name}`, options, async (read) => {
        const outcomes = await ask([{ name }], { ...read, isShared: !receipt }, pausesMs)
        const [outcome] = await present(outcomes, receipt)
        const isOther = outcome && 'changed' in outcome && outcome.kind !== 'expired'
        return isOther && expectParty !== null && expectParty !== outcome.entry.party
          ? { ...outcome, kind: 'mismatch', expectedParty: expectParty }
          : (outcome as Decided) // One asked, one answered.
      })
    }

  const reverse: Names['reverse'] = async (typed, lookup = {}) => {
    const party = parseParty(typed)
    return bounded(`reverse ${party}`, lookup, async (read) => {
      const outcomes = await askReverse([party], read)
      decided(party, outcomes)
      const [found] = await present(outcomes)
      return found && 'changed' in found && found.kind !== 'expired' ? toFound(found) : null
    })
  }
  const metadata: Names['metadata'] = async (party, lookup) =>
    parseMetadata((await reverse(party, lookup))?.description)

  return {
    lookup: lookupWith(),
    reverse,
    metadata,
    registryUrls: async (party, lookup) => registryUrlsOf(await metadata(party, lookup)),
    async resolveMany(typed, lookup = {}) {
      assertTexts('`names`', typed)
      return bounded(`resolve ${typed.length} names`, lookup, async (read) => {
        const lookups = typed.filter(isName).map((name) => ({ name: normalizeName(name) }))
        const outcomes = await present(await ask(lookups, read))
        return typed.map((name) => {
          const error = refusalOfName(name)
          // One outcome for each text that can be a name, in order.
          return error ? { kind: 'invalid', entry: null, error } : (outcomes.shift() as Decided)
        })
      })
    },
    async reverseMany(typed, lookup = {}) {
      assertTexts('`parties`', typed)
      const parties = typed.map((party) => party.trim())
      return bounded(`reverse ${parties.length} parties`, lookup, async (read) => {
        const outcomes = await present(await askReverse(parties.filter(isParty), read))
        // One outcome for each text that can be a party, in order.
        return parties.map((party) => refusalOfParty(party) ?? (outcomes.shift() as Decided))
      })
    },
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
      const lookup = lookupWith([])
      yield* watchName(parseName(typed).name, { ...watched, clock, channel, lookup })
    },
    acceptChange: async (typed, party) =>
      base.accept({ name: parseName(typed).name, party, atMicros: clock.nowMicros() }),
  }
}

/** The outcome for callers. */
function publicAnswer(
  { answer, kind, recordTime, ...read }: Answered<CertifiedEntry | null>,
  changed: NameChange | null,
  hasReceipt: boolean,
  { basis, clock }: Pick<NamesBase, 'basis' | 'clock'>,
): Decided {
  const { offset, threshold, nodeCount, trust, agreed, dissented, clockSkewMs } = read
  const at = { offset, recordTime: formatInstant(recordTime) }
  const receipt = hasReceipt ? { ...read.receipt, ...(trust && { trust }) } : null
  const facts = {
    ...at,
    threshold,
    nodeCount,
    trust,
    agreed,
    dissented,
    basis,
    clockSkewMs,
    receipt,
  }
  const found = kind.startsWith('trusted') ? 'trusted' : 'verified'
  if (answer === null) return { kind: `${found}-absent`, entry: null, ...facts }
  const isOver = hasEnded(answer.expires_at, clock)
  return { kind: isOver ? 'expired' : found, entry: toEntry(answer), changed, ...facts }
}

/** The entry of an outcome, with what its reader must know of it. */
export function toFound(outcome: Found | Expired | Mismatch): FoundEntry {
  const { entry, changed, basis, recordTime, clockSkewMs } = outcome
  return { ...entry, changed, basis, recordTime, clockSkewMs }
}

/** null: it can be one. */
function refusalOfParty(party: string): Invalid | null {
  try {
    parseParty(party)
    return null
  } catch (error) {
    return { kind: 'invalid', entry: null, error: error as QuorumscanError }
  }
}
