/** Parties in React: a field that takes a name, a qualified name or a party, and the text to show for a party. */
import type { KnownError } from '../known-errors.ts'
import type { LookupOptions } from '../names/lookup-types.ts'
import type { Names } from '../names/names-type.ts'
import type { Shown } from '../names/shown.ts'
import type { Reading } from '../names/watch-state.ts'
import { displayParty, NAME_SERVICE } from '../naming/display.ts'
import type { Resolver } from '../naming/resolver-type.ts'
import type { Candidate } from '../naming/results.ts'
import type { ResolverWatchOptions } from '../naming/watch-resolution.ts'
import { systemClock } from '../platform/clock.ts'
import { assertOptions, isMs, isObject } from '../platform/options.ts'
import { KEY, numberOf } from '../platform/query-keys.ts'
import { hasEnded } from '../platform/times.ts'
import { NAMED_QUERY, READ_CHECKS, WATCHED_QUERY } from './hook-options.ts'
import { type QueryOptions, type ReadOptions, useRead, useSettled, useSource } from './reads.ts'
import { resultOf, type ShownQuery, type UseShownResult, useShown } from './shown-hook.ts'

/** Options of `useParty`. */
export type UsePartyOptions<Data = Shown<Candidate>> = Pick<
  ResolverWatchOptions,
  'pollMs' | 'maxAgeMs'
> & {
  /** Of `createResolver`. Create it once, outside of components: another one starts from scratch. */
  readonly resolver: Resolver
  readonly query?: ShownQuery<Candidate, Data>
}

/**
 * Resolves what a user types into the field of a recipient, by `resolver.watch`: a name, a qualified name or a party. Send
 * only if `party` is not null: the answer is recent, and checked as `minBasis` of the resolver demands.
 *
 * @param typed - The typed text; may be empty.
 * @example
 * const { shown, party, acceptChange, retry } = useParty(typed, { resolver })
 */
export function useParty<Data = Shown<Candidate>>(
  typed: string,
  options: UsePartyOptions<Data>,
): UseShownResult<Candidate, Data> {
  assertOptions<UsePartyOptions<Data>>('useParty', options, {
    resolver: isObject,
    pollMs: isMs,
    maxAgeMs: isMs,
    query: WATCHED_QUERY,
  })
  const { resolver, query = {}, ...bounds } = options
  const text = typed.trim()
  const isIdle = text === '' || query.enabled === false
  const asked = useSettled(isIdle ? '' : text)
  const { shown, retry } = useShown(resolver, asked, bounds)
  const accept = (party: string) => resolver.acceptChange(asked, party)
  const current: Shown<Candidate> = asked === text && !isIdle ? shown : { kind: 'pending' }
  return resultOf(current, { query, accept, retry })
}

/** The text for a party, and where it comes from. */
export type UsePartyNameResult = ReturnType<typeof displayParty> & {
  /** No answer yet. The text is that of a party without a name. */
  readonly isPending: boolean
  /** Not null: it is not known whether the party has a name. */
  readonly error: KnownError | null
}

/**
 * The text to show for a party: a name that leads back to it, else the hint, else the shortened identifier. Without a
 * `resolver` it reads from the names of the `NamesProvider`.
 *
 * @param party - May be empty.
 * @returns `icon`: the naming system of the name; `source`: which of the three it is.
 */
export function usePartyName(
  party: string,
  options: ReadOptions & {
    readonly resolver?: Resolver
    readonly query?: Pick<QueryOptions, 'enabled' | 'staleTime' | 'scope'>
  } = {},
): UsePartyNameResult {
  assertOptions('usePartyName', options, {
    ...READ_CHECKS,
    resolver: isObject,
    query: NAMED_QUERY,
  })
  const { names, resolver, query, ...bounds } = options
  const source = useSource<Resolver | Names>(resolver ?? names)
  const reverse = async (signal?: AbortSignal): Promise<Reading<readonly Named[]>> => {
    const found = await namesOf(source, party, { ...bounds, signal })
    const [recordTime = null] = found.flatMap((one) => one.recordTime ?? []).sort()
    const facts = { basis: 'proxy', validUntil: null, clockSkewMs: null, changed: null } as const
    return { ...facts, value: found, recordTime }
  }
  const more = { ...bounds, isOn: party !== '', query }
  const queryKey = [KEY, query?.scope ?? numberOf(source), 'party-name', party, bounds]
  const queryFn = ({ signal }: { readonly signal?: AbortSignal }) => reverse(signal)
  const read = useRead({ queryKey, queryFn }, more)
  const { shown } = read
  const known = (shown.kind === 'proven' && shown.value) || []
  const live = known.filter(
    ({ validUntil, clockSkewMs }) => !hasEnded(validUntil, systemClock, clockSkewMs),
  )
  return {
    ...displayParty(live, party),
    isPending: shown.kind === 'pending' && party !== '' && query?.enabled !== false,
    error: shown.kind === 'failed' || shown.kind === 'stale' ? shown.error : null,
  }
}

type Named = Pick<
  Candidate,
  'party' | 'displayName' | 'resolver' | 'validUntil' | 'clockSkewMs' | 'recordTime'
>

async function namesOf(
  source: Resolver | Names,
  party: string,
  read: LookupOptions,
): Promise<readonly Named[]> {
  if (!('lookup' in source))
    return source.reverse(party, { ...(read.signal && { signal: read.signal }) })
  const entry = await source.reverse(party, read)
  if (entry === null || entry.changed !== null) return []
  const { name, expiresAt: validUntil, ...facts } = entry
  return [{ ...facts, displayName: name, resolver: NAME_SERVICE, validUntil }]
}
