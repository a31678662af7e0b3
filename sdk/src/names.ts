/** Looking names up: one interface, whether the nodes themselves are asked or a validator's scan proxy. */
import {
  type Decided,
  isDecided,
  type Outcome,
  type ReadOptions,
  requestOfLookup,
  reverseLookup,
} from '@quorumscan/consensus'
import type { Clock } from './clock.ts'
import { withDeadline } from './deadline.ts'
import { invalidArgument } from './errors.ts'
import { isEntryPage } from './generated/entry-checks.ts'
import type {
  Absent,
  Found,
  LookupOptions,
  LookupOutcome,
  LookupSource,
  Mismatch,
  NameChange,
  NameEntry,
} from './lookups.ts'
import { registrableName } from './name-rules.ts'
import { outcomeError } from './outcome-error.ts'
import { createSeenNames } from './seen-names.ts'
import type { Store } from './store.ts'

export interface Names {
  /**
   * The party that a name belongs to, or null if enough nodes agree that there is none.
   *
   * @throws {QuorumscanError} CONSENSUS_DISPUTED, NOT_ENOUGH_NODES, CONSENSUS_LAGGING, TIMEOUT, … Whatever
   *   is not agreed on is thrown, never returned.
   */
  resolve(name: string, options?: LookupOptions): Promise<string | null>
  /**
   * The name that stands for a party, or null. Checked forward: a name that does not lead back to the
   * party is none. Throws as `resolve`.
   */
  reverse(party: string, options?: LookupOptions): Promise<string | null>
  /**
   * A lookup with all that is known about it, a receipt among it.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT, TIMEOUT. What the nodes say or fail to say is an outcome.
   */
  lookup(
    name: string,
    options?: LookupOptions & {
      /** Whom the caller believes the name to belong to: anybody else is `mismatch`. */
      readonly expectParty?: string
      /** Whether nodes sign, so that there is a receipt. Costs them five times as much. Default true. */
      readonly receipt?: boolean
    },
  ): Promise<LookupOutcome>
  /** As `resolve` for each, in order; lookups share their requests. Throws if any is not decided. */
  resolveMany(names: readonly string[], options?: LookupOptions): Promise<(string | null)[]>
  /** Live entries whose name starts with the prefix, in byte order, all pages read at one offset. */
  search(
    prefix: string,
    options?: LookupOptions & {
      /** From 1 to 1000. Default 100. */
      readonly pageSize?: number
    },
  ): AsyncIterableIterator<NameEntry>
  /**
   * Whether the name can be registered now.
   *
   * @throws {QuorumscanError} NAME_SUFFIX_MISSING or INVALID_NAME if it never can be, with the rule in
   *   `details`; else as `resolve`.
   */
  isAvailable(name: string, options?: LookupOptions): Promise<boolean>
  /** The user has seen that the name changed hands: from now on it belongs to `party`. */
  acceptChange(name: string, party: string): Promise<void>
}

export type NamesOptions = {
  readonly source: LookupSource
  readonly clock: Clock
  readonly store: Store
  readonly timeoutMs: number
  readonly defaults: Pick<LookupOptions, 'threshold' | 'maxAgeMs'>
  readonly onChanged: ((change: NameChange) => void) | undefined
}

const LOOKUPS_MAX = 256 // D-14.
const PAGE_SIZE = 100
const PAGE_SIZE_MAX = 1000
/** Nodes that lag have usually caught up by then. */
const LAGGING_RETRIES_MAX = 2

export function createNames(options: NamesOptions): Names {
  const { source, clock } = options
  const seen = createSeenNames(options.store, () => source.storeKey('names'))

  const bounded = <T>(
    what: string,
    lookup: LookupOptions,
    run: (read: ReadOptions & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> => {
    const timeoutMs = lookup.timeoutMs ?? options.timeoutMs
    const bound = { clock, timeoutMs, signal: lookup.signal, what, isRead: true }
    return withDeadline(bound, (signal) => {
      const { threshold, minOffset, maxAgeMs } = { ...options.defaults, ...lookup }
      return run({
        signal,
        ...(threshold === undefined ? {} : { threshold }),
        ...(minOffset === undefined ? {} : { minOffset }),
        ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
      })
    })
  }

  /** Asks again where the nodes only lag. */
  const patiently = async (
    read: { readonly signal: AbortSignal },
    ask: () => Promise<Outcome[]>,
  ): Promise<Outcome[]> => {
    for (let retries = 0; ; retries++) {
      const outcomes = await ask()
      const lagging = outcomes.find((outcome) => outcome.kind === 'lagging')
      if (lagging?.kind !== 'lagging' || retries >= LAGGING_RETRIES_MAX) return outcomes
      await clock.delay(lagging.retryAfterMs, read.signal)
    }
  }

  const one = async (
    lookup: { readonly name: string } | { readonly party: string },
    read: ReadOptions & { readonly signal: AbortSignal },
  ): Promise<Outcome> => {
    const [outcome] = await patiently(read, () => source.lookup([lookup], read))
    return outcome as Outcome // One asked, one answered.
  }

  const changeOf = async (entry: NameEntry): Promise<NameChange | null> => {
    const change = await seen.compare(entry.name, entry.party)
    if (change !== null) options.onChanged?.(change)
    return change
  }

  const partyOf = async (name: string, outcome: Outcome): Promise<string | null> => {
    if (!isDecided(outcome)) throw outcomeError(name, outcome)
    const entry = entryOf(outcome)
    if (entry !== null) await changeOf(entry)
    return entry?.party ?? null
  }

  const resolve: Names['resolve'] = (name, lookup = {}) => {
    text('the name', name)
    return bounded(`resolve ${name}`, lookup, async (read) =>
      partyOf(name, await one({ name }, read)),
    )
  }

  return {
    resolve,
    reverse(party, lookup = {}) {
      text('the party', party)
      return bounded(`reverse ${party}`, lookup, async (read) => {
        const patientSource = {
          lookup: (lookups: Parameters<LookupSource['lookup']>[0], more: ReadOptions = {}) =>
            patiently(read, () => source.lookup(lookups, more)),
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
        const outcome = await one({ name }, { ...read, sign: lookup.receipt ?? true })
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
    resolveMany(names, lookup = {}) {
      for (const name of names) text('a name', name)
      return bounded(`resolve ${names.length} names`, lookup, async (read) => {
        const parties: (string | null)[] = []
        for (let first = 0; first < names.length; first += LOOKUPS_MAX) {
          const chunk = names.slice(first, first + LOOKUPS_MAX)
          const lookups = chunk.map((name) => ({ name }))
          const outcomes = await patiently(read, () => source.lookup(lookups, read))
          for (const [index, outcome] of outcomes.entries())
            parties.push(await partyOf(chunk[index] as string, outcome)) // One for each.
        }
        return parties
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
          const [outcome] = await patiently(read, async () => [await source.read(request, read)])
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
      return (await resolve(name, lookup)) === null
    },
    acceptChange: (name, party) => seen.accept(name, party),
  }
}

type WireEntry = {
  readonly name: string
  readonly user: string
  readonly url: string
  readonly description: string
  readonly expires_at: string | null
  readonly contract_id: string | null
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
    operation: 'listEntries',
    parameters: { name_prefix: prefix, page_size: pageSize, page_token: pageToken },
    method: 'GET',
    path: `/v0/ans-entries?${query.join('&')}`,
    body: null,
    pin: pageToken === null ? 'reader' : 'request',
    isValid: isEntryPage,
  } as const
}

export function jsonOf(outcome: Decided): unknown {
  return JSON.parse(new TextDecoder().decode(outcome.answer))
}

function entryOf(outcome: Decided): NameEntry | null {
  // The source checked the shape of what the nodes agreed on.
  const { entry } = jsonOf(outcome) as { entry: WireEntry | null }
  return entry === null ? null : toEntry(entry)
}

function toEntry(entry: WireEntry): NameEntry {
  return {
    name: entry.name,
    party: entry.user,
    url: entry.url,
    description: entry.description,
    expiresAt: entry.expires_at,
    contractId: entry.contract_id,
  }
}

function text(what: string, value: string): void {
  if (typeof value !== 'string') throw invalidArgument(`${what} is a text.`)
}
