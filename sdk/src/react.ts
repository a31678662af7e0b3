/** Names in React, on TanStack Query: what is shown beside a recipient, and whether to believe it. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react'
import type { Names } from './names/bound-reads.ts'
import type {
  FoundEntry,
  LookupOptions,
  LookupOutcome,
  NameChange,
  NameEntry,
} from './names/lookups.ts'
import { normalizeName } from './names/name-rules.ts'
import { refusalOfName } from './names/parse-name.ts'

/**
 * What to show beside a recipient.
 *
 * `idle`: nothing was asked. `checking`: no answer that is fresh enough yet; do not send. `verified`:
 * enough nodes agree. `trusted`: there are too few nodes to outvote one that lies. `changed`: verified,
 * but the name belonged to somebody else before: show `entry` with a warning, and once the user agrees call
 * `names.acceptChange` and `refetch`. `absent`: enough nodes agree that there is none. `mismatch`: not whom
 * the caller expected. `unverified`: nodes disagree, lag or are gone; do not send. `invalid`: what was typed can
 * be no name; `error` says why.
 */
export type Trust =
  | 'idle'
  | 'checking'
  | 'verified'
  | 'trusted'
  | 'changed'
  | 'absent'
  | 'mismatch'
  | 'unverified'
  | 'invalid'

/** What a lookup takes, and where it is asked. */
export type UseNameOptions = Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
  /** Whom the user believes the name to belong to: anybody else is `mismatch`. */
  readonly expectParty?: string
  /** Default: that of the `NamesProvider`. */
  readonly names?: Names
}

/** Whom a name belongs to, as far as it can be believed now. */
export type UseNameResult = {
  /** To show beside the recipient. */
  readonly trust: Trust
  /** Whom to send to. Set only where trust is `verified` or `trusted`. */
  readonly party: string | null
  /** Set where `party` is, and where trust is `changed`. */
  readonly entry: NameEntry | null
  /** All that is known; null before the first answer. */
  readonly outcome: LookupOutcome | null
  /** Of the last lookup, if it threw. */
  readonly error: Error | null
  /** Asks again at once. */
  refetch(): void
}

/** The name of a party, as far as it can be believed now. */
export type UseReverseResult = {
  /** As in `useName`. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'changed' | 'absent' | 'unverified'
  /** Set only where trust is `verified`; it leads back to the party. */
  readonly name: string | null
  /** Set where trust is `changed`: the name that leads to the party belonged to somebody else before. */
  readonly changed: NameChange | null
  /** Of the last lookup, if it threw. */
  readonly error: Error | null
  /** Asks again at once. */
  refetch(): void
}

const MAX_AGE_MS = 60_000 // D-39.
const NamesContext = createContext<Names | null>(null)
/** Told apart only; two networks in one page must not share their answers. */
const numbers = new WeakMap<Names, number>()
let count = 0

/** Gives the hooks below their `names`, of `createScan` or `createValidator`. */
export function NamesProvider(props: {
  readonly names: Names
  readonly children?: ReactNode
}): ReactElement {
  return createElement(NamesContext.Provider, { value: props.names }, props.children)
}

/**
 * Whom a name belongs to, kept fresh while it is shown. An answer that could not be renewed in time is not
 * shown as verified any more.
 *
 * @param typed - The name as it is typed; empty while nothing is.
 */
export function useName(typed: string, options: UseNameOptions = {}): UseNameResult {
  const name = normalizeName(typed)
  const refusal = name === '' ? null : refusalOfName(name)
  const { threshold, maxAgeMs = MAX_AGE_MS, expectParty } = options
  const names = useNames(options.names)
  const query = useQuery<LookupOutcome>({
    queryKey: [...keyOf(names), 'name', name, threshold ?? null, maxAgeMs, expectParty ?? null],
    queryFn: ({ signal }) =>
      names.lookup(name, {
        maxAgeMs,
        receipt: false,
        signal,
        ...(threshold === undefined ? {} : { threshold }),
        ...(expectParty === undefined ? {} : { expectParty }),
      }),
    enabled: name !== '' && refusal === null,
    ...freshness(maxAgeMs),
  })
  const trust = name === '' ? 'idle' : refusal !== null ? 'invalid' : trustOf(query)
  const outcome = query.data ?? null
  const isUsable = trust === 'verified' || trust === 'trusted' || trust === 'changed'
  const entry = isUsable && outcome !== null && 'entry' in outcome ? outcome.entry : null
  return {
    trust,
    party: trust === 'changed' ? null : (entry?.party ?? null),
    entry,
    outcome,
    error: refusal ?? query.error,
    refetch: () => void query.refetch(),
  }
}

/** The name that stands for a party, checked forward. @param party - Empty while there is none. */
export function useReverse(
  party: string,
  options: Omit<UseNameOptions, 'expectParty'> = {},
): UseReverseResult {
  const { threshold, maxAgeMs = MAX_AGE_MS } = options
  const names = useNames(options.names)
  const query = useQuery<FoundEntry | null>({
    queryKey: [...keyOf(names), 'party', party, threshold ?? null, maxAgeMs],
    queryFn: ({ signal }) =>
      names.reverse(party, { maxAgeMs, signal, ...(threshold === undefined ? {} : { threshold }) }),
    enabled: party !== '',
    ...freshness(maxAgeMs),
  })
  const entry = query.data ?? null
  const found = entry === null ? 'absent' : entry.changed === null ? 'verified' : 'changed'
  const trust = party === '' ? 'idle' : (standing(query) ?? found)
  return {
    trust,
    name: trust === 'verified' ? (entry?.name ?? null) : null,
    changed: trust === 'changed' ? (entry?.changed ?? null) : null,
    error: query.error,
    refetch: () => void query.refetch(),
  }
}

function useNames(own: Names | undefined): Names {
  const provided = useContext(NamesContext)
  const names = own ?? provided
  if (names === null)
    throw new Error('No names: wrap the tree in <NamesProvider>, or pass `names`.')
  return names
}

/** Where in the cache the answers of these `names` are: answers of another network, or another verifier, are none of theirs. */
function keyOf(names: Names): readonly [string, number] {
  const number = numbers.get(names) ?? ++count
  numbers.set(names, number)
  return ['quorumscan', number]
}

/** Asked again in time, so that an answer is stale only when it could not be renewed. */
function freshness(maxAgeMs: number) {
  return { staleTime: maxAgeMs, refetchInterval: maxAgeMs / 2, retry: false } as const
}

/** null: there is a fresh answer. */
function standing(query: UseQueryResult<unknown>): 'checking' | 'unverified' | null {
  if (query.isError) return 'unverified'
  return query.data === undefined || query.isStale ? 'checking' : null
}

function trustOf(query: UseQueryResult<LookupOutcome>): Trust {
  const outcome = query.data
  const state = standing(query)
  if (state !== null || outcome === undefined) return state ?? 'checking'
  switch (outcome.kind) {
    case 'verified':
    case 'trusted':
      return outcome.changed === null ? outcome.kind : 'changed'
    case 'verified-absent':
    case 'trusted-absent':
      return 'absent'
    case 'mismatch':
      return 'mismatch'
    default:
      return 'unverified'
  }
}
