/**
 * Reads of names as options of TanStack Query, for prefetching and for rendering on a server. The hooks find what was read
 * with the same `scope` and bounds. This module needs neither React nor TanStack Query.
 */
import { PAGE_SIZE_MAX } from '@quorumscan/verifier'
import { anything, assertOptions, isMs, isText, isWhole } from '../platform/options.ts'
import { KEY, numberOf } from '../platform/query-keys.ts'
import type { FoundEntry, Listed, LookupOptions, NameEntry } from './lookup-types.ts'
import { isName, normalizeName } from './name-rules.ts'
import type { Names } from './names-type.ts'
import { readingOf, toFound } from './reading.ts'
import type { Reading } from './watch-state.ts'

/** Options of a query of names. */
export type NameQueryOptions = Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
  /**
   * The name of the network in the key of the cache. Give the same one on the server and in the browser, so that the
   * browser finds what the server has read. Default: one of this load of the page.
   */
  readonly scope?: string | undefined
}

/** What `prefetchQuery` and `fetchQuery` take. The answer has its record time, by which the hooks judge its age. */
export type NameQuery<Value> = {
  readonly queryKey: readonly unknown[]
  /** It rejects with a `QuorumscanError`. */
  readonly queryFn: (context: {
    readonly signal?: AbortSignal | undefined
  }) => Promise<Reading<Value>>
  /** It also runs if the device reports to be offline, since the nodes may be on it. */
  readonly networkMode: 'always'
}

const QUERY_CHECKS = {
  threshold: anything, // The reader judges it, which knows the members.
  maxAgeMs: isMs,
  scope: isText,
} as const
/** How many entries a search shows. */
const SUGGESTIONS = 10

/**
 * The entry of a name, which `useName` shows until its own first answer.
 *
 * @example await queryClient.prefetchQuery(nameQuery(scan.names, 'alice', { scope: 'mainnet' }))
 */
export function nameQuery(
  names: Pick<Names, 'lookup'>,
  typed: string,
  options: NameQueryOptions & {
    /** As of `useName`. */
    readonly expectParty?: string
  } = {},
): NameQuery<NameEntry> {
  assertOptions('nameQuery', options, { ...QUERY_CHECKS, expectParty: isText })
  const name = isName(typed) ? normalizeName(typed) : typed
  return query(names, 'name', name, options, async (bounds) => {
    const outcome = await names.lookup(name, { ...bounds, receipt: false })
    return readingOf(outcome, (entry) => entry)
  })
}

/** The entry that represents a party, checked forward, which `useReverse` shows. */
export function reverseQuery(
  names: Pick<Names, 'reverseMany'>,
  party: string,
  options: NameQueryOptions = {},
): NameQuery<FoundEntry> {
  assertOptions('reverseQuery', options, QUERY_CHECKS)
  return query(names, 'reverse', party, options, async (bounds) => {
    const [outcome] = await names.reverseMany([party], bounds)
    if (outcome === undefined) throw new Error('one asked, one answered')
    return readingOf(outcome, toFound)
  })
}

/** The first entries with a prefix, which `useSearch` shows. @param options.limit - Default 10. */
export function searchQuery(
  names: Pick<Names, 'search'>,
  prefix: string,
  options: NameQueryOptions & { readonly limit?: number } = {},
): NameQuery<readonly Listed<FoundEntry>[]> {
  assertOptions('searchQuery', options, { ...QUERY_CHECKS, limit: isWhole(1, PAGE_SIZE_MAX) })
  const { limit = SUGGESTIONS, ...more } = options
  return query(names, 'search', prefix, { ...more, limit }, async ({ limit: _, ...bounds }) => {
    const found: Listed<FoundEntry>[] = []
    for await (const entry of names.search(prefix, { ...bounds, pageSize: limit }))
      if (found.push(entry) === limit) break
    const [first] = found
    const [recordTime = null] = found.map((entry) => entry.recordTime).sort()
    const facts = { validUntil: null, clockSkewMs: first?.clockSkewMs ?? null, changed: null }
    return { ...facts, value: found, basis: first?.basis ?? 'proxy', recordTime }
  })
}

function query<Value, Bounds extends NameQueryOptions>(
  names: object,
  kind: string,
  subject: string,
  { scope, ...bounds }: Bounds,
  read: (
    bounds: Omit<Bounds, 'scope'> & { readonly signal?: AbortSignal | undefined },
  ) => Promise<Reading<Value>>,
): NameQuery<Value> {
  return {
    queryKey: [KEY, scope ?? numberOf(names), kind, subject, bounds],
    queryFn: ({ signal }) => read({ ...bounds, signal }),
    networkMode: 'always',
  }
}
