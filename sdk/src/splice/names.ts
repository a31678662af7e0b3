/** Lookups over several scans. */
import { LONE_SURROGATE, PAGE_SIZE_MAX } from '@quorumscan/verifier'
import { failure, invalidArgument } from '../errors.ts'
import type { NameEntry } from '../names/lookups.ts'
import { pageSizeOf } from '../platform/arguments.ts'
import { askName, askParty, askPrefix, isLive } from './entry-questions.ts'
import { decided, type SpliceOutcome } from './outcome.ts'
import type { SpliceReader, SpliceReadOptions } from './reader.ts'

/**
 * Lookups of names and parties. `resolve`, `reverse` and `search` are called as those of `createScan`. Space around a
 * name and upper case are taken away; what can be no name is INVALID_NAME, and never said to be absent.
 */
export interface SpliceNames {
  /**
   * The party that a name belongs to, or null if enough scans say that there is none. An entry that has expired
   * by this device's clock is none.
   *
   * @throws {QuorumscanError} INVALID_NAME, CONSENSUS_DISPUTED, CONSENSUS_LAGGING, NOT_ENOUGH_NODES, NETWORK_ERROR,
   *   TIMEOUT, INVALID_QUORUM, INVALID_ARGUMENT, CLOSED. Whatever is not agreed on is thrown, never returned.
   */
  resolve(name: string, options?: SpliceReadOptions): Promise<string | null>
  /**
   * The entry that stands for a party, or null. Checked forward: a name that does not lead back to the party is
   * none. Throws as `resolve`.
   */
  reverse(party: string, options?: SpliceReadOptions): Promise<NameEntry | null>
  /** `/v0/ans-entries/by-name`, with who said what. Throws INVALID_NAME, and where it is not known whom to ask. */
  lookup(name: string, options?: SpliceReadOptions): Promise<SpliceOutcome<NameEntry>>
  /** `/v0/ans-entries/by-party`: the first name of a party, not checked forward. Throws as `lookup`. */
  lookupParty(party: string, options?: SpliceReadOptions): Promise<SpliceOutcome<NameEntry>>
  /** As `lookup` for each, in order, within one `timeoutMs`. */
  resolveMany(
    names: readonly string[],
    options?: SpliceReadOptions,
  ): Promise<readonly SpliceOutcome<NameEntry>[]>
  /**
   * Live entries whose name starts with the prefix, in order of UTF-16 code units. Throws as `resolve`, and
   * INVALID_ARGUMENT where there are more than a scan tells at once (1000): say more of the name.
   */
  search(
    prefix: string,
    options?: SpliceReadOptions & {
      /** How many are asked for at first, from 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<NameEntry>
}

/** No name and no party is as long. */
const TEXT_LENGTH_MAX = 1000
/** Lookups at a time: thirteen scans have a hundred requests on their way. */
const PARALLEL_MAX = 8

export function createSpliceNames(reader: SpliceReader): SpliceNames {
  const lookup: SpliceNames['lookup'] = async (typed, options = {}) =>
    unexpired(await reader.read(askName(spliceName(typed)), options))
  const lookupParty: SpliceNames['lookupParty'] = async (party, options = {}) =>
    reader.read(askParty(text('the party', party)), options)

  /** One that expired while the others were waited for. */
  const unexpired = (outcome: SpliceOutcome<NameEntry>): SpliceOutcome<NameEntry> =>
    outcome.kind !== 'agreed' || isLive(outcome.value, reader.nowMicros())
      ? outcome
      : { ...outcome, kind: 'agreed-absent', value: null }

  return {
    async resolve(name, options) {
      return decided(`resolve ${name}`, await lookup(name, options)).value?.party ?? null
    },
    lookup,
    lookupParty,
    async resolveMany(names, options = {}) {
      if (!Array.isArray(names)) throw invalidArgument('names are an array of texts.')
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
    reverse(party, options = {}) {
      return reader.bounded(options, async (bound) => {
        const { value } = decided(`reverse ${party}`, await lookupParty(party, bound()))
        if (value === null) return null
        // Between the two reads the name may have lapsed or changed hands: then it is none, rightly.
        const forward = decided(`reverse ${party}`, await lookup(value.name, bound())).value
        return forward?.party === party ? forward : null
      })
    },
    async *search(prefix, options = {}) {
      const pageSize = pageSizeOf(options)
      text('the prefix', prefix)
      // There is no second page to ask for: a page that is full is asked for again, larger.
      for (let size = pageSize; ; size = Math.min(size * 4, PAGE_SIZE_MAX)) {
        const { value } = decided(
          `search ${prefix}`,
          await reader.read(askPrefix(prefix, size), options),
        )
        if (value?.isComplete === false && size < PAGE_SIZE_MAX) continue
        yield* value?.entries ?? []
        if (value?.isComplete !== false) return
        throw invalidArgument(`More than ${PAGE_SIZE_MAX} names begin with "${prefix}".`)
      }
    },
  }
}

/** Whatever the ending of the network: letters, digits and what may stand between them, with a dot. */
const NAME = /^[a-z0-9_.-]{1,200}\.[a-z0-9_-]+$/

/** @throws {QuorumscanError} INVALID_NAME. */
function spliceName(typed: string): string {
  const name = text('the name', typed)
    .trim()
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  if (NAME.test(name)) return name
  const rule = 'A name is of a-z, 0-9, "_", "-" and ".", and complete, as in alice.unverified.cns'
  throw failure('INVALID_NAME', `${rule}.`, { details: { rule } })
}

/** @throws {QuorumscanError} INVALID_ARGUMENT if it cannot stand in a URL. */
function text(what: string, value: string): string {
  const isText =
    typeof value === 'string' && value.length <= TEXT_LENGTH_MAX && !LONE_SURROGATE.test(value)
  if (!isText) throw invalidArgument(`${what} is a text of at most ${TEXT_LENGTH_MAX} characters.`)
  return value
}
