/** Lookups over several scans, and their questions. An answer with another name or an expired entry is not an answer. */

import { entriesBytesMax } from '@quorumscan/reader'
import { formatInstant, LONE_SURROGATE, PAGE_SIZE_MAX, parseInstant } from '@quorumscan/verifier'
import { failure, invalidArgument } from '../errors.ts'
import type { Listed, Metadata, NameEntry } from '../names/lookup-types.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { loadPart } from '../platform/load-part.ts'
import { anything, assertOptions } from '../platform/options.ts'
import { isParty, type Party } from '../platform/party.ts'
import { shownValue } from '../platform/shown-value.ts'
import { isContractId } from '../platform/values.ts'
import { decided } from './decided.ts'
import { type JsonValue, membersOf, readAll, text, whole } from './exact-json.ts'
import { sortNames } from './network-questions.ts'
import { type Question, question } from './question.ts'
import type { SpliceOutcome } from './splice-outcome.ts'
import { READ_CHECKS, type SpliceReader, type SpliceReadOptions } from './splice-reader.ts'

/**
 * Lookups of names and parties. `resolve`, `reverse` and `search` have the parameters of `createScan`. Names are trimmed
 * and converted to lower case. A text that cannot be a name is INVALID_NAME, never absent.
 */
export interface SpliceNames {
  /**
   * The party that owns a name, or null if enough scans answer that no such entry exists. An entry that has expired by
   * the clock of this device counts as absent.
   *
   * @throws {QuorumscanError} INVALID_NAME, CONSENSUS_DISPUTED, CONSENSUS_LAGGING, NOT_ENOUGH_NODES, NETWORK_ERROR,
   *   TIMEOUT, INVALID_QUORUM, INVALID_ARGUMENT, CLOSED. Only answers with an agreement are returned.
   */
  resolve(name: string, options?: SpliceReadOptions): Promise<Party | null>
  /**
   * The entry that represents a party, or null. It is checked forward: a name that does not resolve to the party counts
   * as absent. Throws as `resolve`.
   */
  reverse(party: string, options?: SpliceReadOptions): Promise<NameEntry | null>
  /**
   * The metadata of a party (CIP-0056), of the entry that `reverse` returns; null without an entry, and if its description
   * has none. Members with an invalid key are left out. Throws as `reverse`.
   */
  metadata(party: string, options?: SpliceReadOptions): Promise<Metadata | null>
  /** The https URLs of the token registry that a party runs, in its order; [] if it states none. Throws as `reverse`. */
  registryUrls(adminParty: string, options?: SpliceReadOptions): Promise<readonly string[]>
  /** `/v0/ans-entries/by-name`, with all answers. Throws INVALID_NAME, and if the scans to ask are not known. */
  lookup(name: string, options?: SpliceReadOptions): Promise<SpliceOutcome<NameEntry>>
  /** `/v0/ans-entries/by-party`: the first name of a party, not checked forward. Throws as `lookup`. */
  lookupParty(party: string, options?: SpliceReadOptions): Promise<SpliceOutcome<NameEntry>>
  /** The outcome of `lookup` for each name, in order, within one `timeoutMs`. */
  resolveMany(
    names: readonly string[],
    options?: SpliceReadOptions,
  ): Promise<readonly SpliceOutcome<NameEntry>[]>
  /**
   * Live entries whose name starts with the prefix, in order of UTF-16 code units. `party` is null if the owner does not
   * have the form of a `Party`. Throws as `resolve`, and INVALID_ARGUMENT if there are more than a scan returns at once
   * (1000): use a longer prefix.
   */
  search(
    prefix: string,
    options?: SpliceReadOptions & {
      /** Size of the first page, from 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<Listed<NameEntry>>
}

/** Longer than any name or party. */
const TEXT_LENGTH_MAX = 1000
/** Concurrent lookups: about a hundred requests to thirteen scans. */
const PARALLEL_MAX = 8

export function createSpliceNames(reader: SpliceReader): SpliceNames {
  const lookup: SpliceNames['lookup'] = async (typed, options = {}) =>
    unexpired(await reader.read(askEntry('name', spliceName(typed)), options))
  const lookupParty: SpliceNames['lookupParty'] = async (party, options = {}) =>
    withEnd(await reader.read(askEntry('party', checkedText('The party', party)), options))

  /** Turns an entry that expired during the read into an absence. */
  const unexpired = (outcome: SpliceOutcome<NameEntry>): SpliceOutcome<NameEntry> =>
    outcome.kind === 'failed' || outcome.value === null || isLive(outcome.value, reader.nowMicros())
      ? withEnd(outcome)
      : { ...outcome, value: null }

  const reverse: SpliceNames['reverse'] = (party, options = {}) =>
    reader.bounded(options, async (bound) => {
      const { value } = decided(await lookupParty(party, bound()))
      if (value === null) return null
      // Between the two reads the name may have lapsed, or its owner may have changed. Then it counts as absent.
      const forward = decided(await lookup(value.name, bound())).value
      return forward?.party === party ? forward : null
    })
  const part = () => loadPart(() => import('../names/metadata.ts'))
  const metadata: SpliceNames['metadata'] = async (party, options) => {
    const entry = await reverse(party, options)
    return (await part()).parseMetadata(entry?.description)
  }

  return {
    reverse,
    metadata,
    async registryUrls(party, options) {
      const found = await metadata(party, options)
      return (await part()).registryUrlsOf(found)
    },
    async resolve(name, options) {
      return decided(await lookup(name, options)).value?.party ?? null
    },
    lookup,
    lookupParty,
    async resolveMany(names, options = {}) {
      if (!Array.isArray(names))
        throw invalidArgument(`\`names\` must be an array of strings, not ${shownValue(names)}.`)
      for (const name of names) spliceName(name)
      return reader.bounded(options, async (bound) => {
        const outcomes: SpliceOutcome<NameEntry>[] = []
        for (let first = 0; first < names.length; first += PARALLEL_MAX) {
          const some = names.slice(first, first + PARALLEL_MAX)
          outcomes.push(...(await Promise.all(some.map((name) => lookup(name, bound())))))
        }
        return outcomes
      })
    },
    async *search(prefix, asked = {}) {
      assertOptions<SearchOptions>('search', asked, SEARCH_CHECKS)
      const { pageSize: _, ...options } = asked
      checkedText('The prefix', prefix)
      // Scans have no second page: a full page is requested again, larger.
      for (let size = pageSizeOf(asked); ; size = Math.min(size * 4, PAGE_SIZE_MAX)) {
        const outcome = await reader.read(askPrefix(prefix, size), options)
        const { value } = decided(outcome)
        if (value?.isComplete === false && size < PAGE_SIZE_MAX) continue
        yield* value?.entries ?? []
        if (value?.isComplete !== false) return
        const message = `More than ${PAGE_SIZE_MAX} names begin with "${prefix}": use a longer prefix.`
        throw invalidArgument(message)
      }
    },
  }
}

type SearchOptions = NonNullable<Parameters<SpliceNames['search']>[1]>

const SEARCH_CHECKS = { ...READ_CHECKS, pageSize: anything } // `pageSizeOf` checks it.

/** With the time at which the entry ends. */
function withEnd(outcome: SpliceOutcome<NameEntry>): SpliceOutcome<NameEntry> {
  if (outcome.kind === 'failed') return outcome
  return { ...outcome, validUntil: outcome.value?.expiresAt ?? null }
}

/** A name of any network: characters of names, and a dot before the ending. */
const NAME = /^[a-z0-9_.-]{1,200}\.[a-z0-9_-]+$/

/** @throws {QuorumscanError} INVALID_NAME. */
function spliceName(typed: string): string {
  const name = checkedText('The name', typed)
    .trim()
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  if (NAME.test(name)) return name
  const rule =
    'A name has only a-z, 0-9, "_", "-" and ".", and its ending, such as alice.unverified.cns'
  throw failure('INVALID_NAME', `${rule}.`, { details: { rule } })
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if the text cannot be part of a URL. */
function checkedText(what: string, value: string): string {
  const isText =
    typeof value === 'string' && value.length <= TEXT_LENGTH_MAX && !LONE_SURROGATE.test(value)
  if (!isText)
    throw invalidArgument(
      `${what} must be a string of at most ${TEXT_LENGTH_MAX} characters, not ${shownValue(value)}.`,
    )
  return value
}

/** Live entries of a prefix, in order of the names. */
type EntryList = {
  readonly entries: readonly Listed<NameEntry>[]
  /** False: there may be more, which only a longer prefix returns. */
  readonly isComplete: boolean
}

/** One entry with all its texts, and members of newer versions. */
const ENTRY_BYTES_MAX = 64 * 1024

/** The question for the entry of a name, or for one of a party. */
function askEntry(kind: 'name' | 'party', subject: string): Question<NameEntry> {
  return question<NameEntry>(
    {
      path: `/v0/ans-entries/by-${kind}/${encodeURIComponent(subject)}`,
      what: kind === 'name' ? `the name ${subject}` : `a name of ${subject}`,
      bytesMax: ENTRY_BYTES_MAX,
      absence: `No ans entry found for ${kind}: ${subject}`,
    },
    (body, nowMicros) => {
      const entry = readEntry(body['entry'])
      if (entry?.[kind] !== subject) return undefined
      if (isLive(entry, nowMicros)) return entry
      // A scan whose clock lags still shows the entry. For a name, its answer counts as absence. A
      // party may have another name, which this scan does not show until its clock has caught up.
      return kind === 'name' ? null : undefined
    },
  )
}

function askPrefix(prefix: string, pageSize: number): Question<EntryList> {
  return question<EntryList>(
    {
      path: `/v0/ans-entries?name_prefix=${encodeURIComponent(prefix)}&page_size=${pageSize}`,
      what: `names that begin with ${prefix}`,
      bytesMax: entriesBytesMax(2 * pageSize), // With room for members of newer versions.
    },
    (body, nowMicros) => {
      const { entries: listed } = body
      if (!Array.isArray(listed) || listed.length > pageSize) return undefined
      const all = readAll(listed, readListed)
      if (all === undefined) return undefined
      if (!all.every(({ name }) => name.startsWith(prefix))) return undefined
      // Scans sort differently.
      const entries = sortNames(all.filter((entry) => isLive(entry, nowMicros)))
      return entries && { entries, isComplete: listed.length < pageSize }
    },
  )
}

/** An entry is live up to and including the time of its expiry, as upstream shows it. */
function isLive({ expiresAt }: Pick<NameEntry, 'expiresAt'>, nowMicros: number): boolean {
  return expiresAt === null || (parseInstant(expiresAt) ?? 0) >= nowMicros
}

function readEntry(entry: JsonValue | undefined): NameEntry | undefined {
  const listed = readListed(entry)
  return listed?.party == null ? undefined : listed
}

/** One entry whose owner cannot be paid hides no other one. */
function readListed(entry: JsonValue | undefined): Listed<NameEntry> | undefined {
  const { name, user, url, description, contract_id = null, expires_at = null } = membersOf(entry)
  return whole<Listed<NameEntry>>({
    name: text(name),
    party: typeof user !== 'string' ? undefined : isParty(user) ? user : null,
    url: text(url),
    description: text(description),
    expiresAt: readInstant(expires_at),
    contractId: contract_id === null || isContractId(contract_id) ? contract_id : undefined,
  })
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/

/** Java writes up to six fractional digits. */
function readInstant(text: JsonValue): string | null | undefined {
  if (text === null) return null
  const [, seconds, fraction = ''] = INSTANT.exec(typeof text === 'string' ? text : '') ?? []
  const micros = parseInstant(`${seconds}.${fraction.padEnd(6, '0')}Z`)
  return micros === undefined ? undefined : formatInstant(micros)
}
