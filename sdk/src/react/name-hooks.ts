/** Names in React: what to show for a recipient, and whether to believe it. */
import type { KnownError } from '../known-errors.ts'
import type { FoundEntry, Listed, NameEntry, WatchOptions } from '../names/lookup-types.ts'
import { normalizeName } from '../names/name-rules.ts'
import { refusalOfName } from '../names/parse-name.ts'
import { nameQuery, reverseQuery, searchQuery } from '../names/queries.ts'
import type { Shown } from '../names/shown.ts'
import { assertOptions, isMs, isText, isWhole } from '../platform/options.ts'
import { READ_CHECKS, READ_QUERY, WATCHED_QUERY } from './hook-options.ts'
import {
  type QueryOptions,
  type ReadOptions,
  useCached,
  useRead,
  useSettled,
  useSource,
} from './reads.ts'
import { resultOf, type ShownQuery, type UseShownResult, useShown } from './shown-hook.ts'

/** Options of `useName`. */
export type UseNameOptions<Data = Shown<NameEntry>> = ReadOptions &
  Pick<WatchOptions, 'expectParty' | 'pollMs'> & { readonly query?: ShownQuery<NameEntry, Data> }

/**
 * The owner of a name, from `names.watch`: a change is shown as soon as a watch reports it, and nothing is asked while the
 * page is hidden. The name is looked up when typing pauses. A text that cannot be a name is `failed` at once.
 *
 * @param typed - The typed text; may be empty.
 * @example
 * const { shown, party, acceptChange } = useName(typed)
 */
export function useName<Data = Shown<NameEntry>>(
  typed: string,
  options: UseNameOptions<Data> = {},
): UseShownResult<NameEntry, Data> {
  assertOptions<UseNameOptions<Data>>('useName', options, {
    ...READ_CHECKS,
    expectParty: isText,
    pollMs: isMs,
    query: WATCHED_QUERY,
  })
  const { names: own, query = {}, ...bounds } = options
  const names = useSource(own)
  const name = normalizeName(typed)
  const refusal = name === '' ? null : refusalOfName(name)
  const isIdle = name === '' || query.enabled === false
  const asked = useSettled(isIdle || refusal !== null ? '' : name)
  const { shown: watched, retry } = useShown(names, asked, bounds)
  const { pollMs: _, ...subject } = bounds
  const first = useCached(nameQuery(names, name, { ...subject, scope: query.scope }), bounds)
  const known = watched.kind === 'pending' ? first : watched
  const current: Shown<NameEntry> = asked === name && !isIdle ? known : { kind: 'pending' }
  const shown: Shown<NameEntry> =
    refusal !== null && !isIdle ? { kind: 'failed', error: refusal as KnownError } : current
  const accept = (party: string) => names.acceptChange(name, party)
  return resultOf(shown, { query, accept, retry })
}

/** Entries whose names begin with the typed text, for a list below the field. */
export type UseSearchResult<Data = readonly Listed<FoundEntry>[]> = {
  /** `proven`: these are the first entries with the prefix. */
  readonly shown: Shown<readonly Listed<FoundEntry>[]>
  /** In byte order of the names. Empty unless `shown` is `proven`. `party` is null if the owner is not a party. */
  readonly entries: readonly Listed<FoundEntry>[]
  /** What `select` makes of the entries; undefined unless `shown` is `proven`. */
  readonly data: Data | undefined
}

/**
 * Names to choose from while the user types. Look up the chosen one with `useName`.
 *
 * @param typed - The prefix of a name; may be empty.
 */
export function useSearch<Data = readonly Listed<FoundEntry>[]>(
  typed: string,
  options: ReadOptions & {
    /** The number of entries. Default 10. */
    readonly limit?: number
    readonly query?: QueryOptions<readonly Listed<FoundEntry>[], Data>
  } = {},
): UseSearchResult<Data> {
  const checks = { ...READ_CHECKS, limit: isWhole(1), query: READ_QUERY }
  assertOptions('useSearch', options, checks)
  const { names: own, query = {}, limit = 10, ...bounds } = options
  const { select, ...more } = query
  const names = useSource(own)
  const prefix = useSettled(typed)
  const asked = { ...bounds, isOn: prefix !== '', query: more }
  const read = useRead(searchQuery(names, prefix, { ...bounds, limit, scope: more.scope }), asked)
  const shown: Shown<readonly Listed<FoundEntry>[]> =
    prefix === typed && typed !== '' ? read.shown : { kind: 'pending' }
  const entries = (shown.kind === 'proven' && shown.value) || []
  const data = shown.kind === 'proven' ? (select?.(entries) ?? (entries as never)) : undefined
  return { shown, entries, data }
}

/** The name of a party, as far as it is known now. */
export type UseReverseResult<Data = FoundEntry | null> = {
  readonly shown: Shown<FoundEntry>
  /** Set only if `shown` is `proven` and has a value. The name resolves to the party. */
  readonly name: string | null
  /** What `select` makes of the entry, or of null; undefined while no answer is recent. */
  readonly data: Data | undefined
  /** Looks up again at once. */
  retry(): void
}

/** The name that represents a party, checked forward. @param party - May be empty. */
export function useReverse<Data = FoundEntry | null>(
  party: string,
  options: ReadOptions & { readonly query?: QueryOptions<FoundEntry | null, Data> } = {},
): UseReverseResult<Data> {
  assertOptions('useReverse', options, { ...READ_CHECKS, query: READ_QUERY })
  const { names: own, query, ...bounds } = options
  const names = useSource(own)
  const more = { ...bounds, isOn: party !== '', query }
  const asked = reverseQuery(names, party, { ...bounds, scope: query?.scope })
  const { shown, data, refetch } = useRead(asked, more)
  const name = shown.kind === 'proven' ? (shown.value?.name ?? null) : null
  return { shown, name, data, retry: refetch }
}
