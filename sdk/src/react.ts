'use client'
/** Names in React, on TanStack Query: what to show for a recipient, and whether to believe it. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from 'react'
import { invalidArgument, isQuorumscanError, type QuorumscanError } from './errors.ts'
import type {
  Basis,
  FoundEntry,
  LookupOptions,
  NameChange,
  NameEntry,
  Names,
  Unverified,
  Watched,
} from './names/lookup-types.ts'
import { normalizeName } from './names/name-rules.ts'
import { refusalOfName } from './names/parse-name.ts'
import { hasEnded, systemClock } from './platform/clock.ts'

/**
 * What to show for a recipient. Send only if it is `verified` or `trusted`.
 *
 * `idle`: there is no name. `checking`: no recent answer yet. `verified`: enough nodes agree. `trusted`: the network has too
 * few nodes to outvote a lying one. `changed`: verified, but the name had another owner before: show `entry` with a
 * warning, and once the user agrees call `names.acceptChange` and `refetch`. `absent`: enough nodes agree that no such
 * entry exists. `mismatch`: the owner is not the expected party. `expired`: the entry has expired by the clock of this
 * device. `unverified`: the owner is not known, or no longer; `reason` has the cause. `invalid`: the text cannot be a name;
 * `error` has the reason.
 */
export type Trust =
  | 'idle'
  | 'checking'
  | 'verified'
  | 'trusted'
  | 'changed'
  | 'absent'
  | 'mismatch'
  | 'expired'
  | 'unverified'
  | 'invalid'

/** Options of the hooks. */
export type UseNameOptions = Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
  /** The party that the user expects. Any other one is `mismatch`. */
  readonly expectParty?: string
  /** Default: `names` of the `NamesProvider`. */
  readonly names?: Names
}

/** The owner of a name, as far as it is known now. */
export type UseNameResult = {
  /** What to show for the recipient. */
  readonly trust: Trust
  /** The party to send to. Set only if `trust` is `verified` or `trusted`. */
  readonly party: string | null
  /** Set if `party` is set, and if `trust` is `changed` or `expired`. */
  readonly entry: NameEntry | null
  /** Who checked the answer, and how; null: there is no verified answer. */
  readonly basis: Basis | null
  /** Why `trust` is `unverified`; otherwise null. */
  readonly reason: Unverified['reason'] | 'disputed' | 'insufficient' | 'lagging' | null
  /** The whole outcome; null before the first answer. */
  readonly outcome: Watched | null
  /** The error of the last lookup, if it threw one. */
  readonly error: QuorumscanError | null
  /** Looks up again at once. */
  refetch(): void
}

/** The name of a party, as far as it is known now. */
export type UseReverseResult = {
  /** As in `useName`. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'changed' | 'absent' | 'unverified'
  /** Set only if `trust` is `verified`. The name resolves to the party. */
  readonly name: string | null
  /** Set if `trust` is `changed`: the name had another owner before. */
  readonly changed: NameChange | null
  /** The error of the last lookup, if it threw one. */
  readonly error: QuorumscanError | null
  /** Looks up again at once. */
  refetch(): void
}

const MAX_AGE_MS = 60_000 // D-39.
const NamesContext = createContext<Names | null>(null)
/** A number for each `names`, so that two networks in one page do not share answers. */
const numbers = new WeakMap<Names, number>()
let count = 0

/** Provides `names` of `createScan` or `createValidator` to the hooks below. */
export function NamesProvider(props: {
  readonly names: Names
  readonly children?: ReactNode
}): ReactElement {
  return createElement(NamesContext.Provider, { value: props.names }, props.children)
}

/** The pause in typing after which a name is looked up. */
const TYPING_PAUSE_MS = 300
/** How often a shown name is looked up within the greatest age of an answer. */
const POLLS_PER_AGE = 4
/** Bounds of the interval between lookups. */
const POLL_MS_MIN = 1000
const POLL_MS_MAX = 15_000

/**
 * The owner of a name, refreshed while it is shown. It is looked up when typing pauses, and is verified only as long as
 * its answer is recent.
 *
 * @param typed - The typed text; may be empty.
 */
export function useName(typed: string, options: UseNameOptions = {}): UseNameResult {
  const name = normalizeName(typed)
  const refusal = name === '' ? null : refusalOfName(name)
  const names = useNames(options.names)
  const asked = useSettled(refusal === null ? name : '')
  const { watched, refetch } = useWatched(names, asked, options)
  const outcome = asked === name ? watched : null
  const trust = name === '' ? 'idle' : refusal !== null ? 'invalid' : trustOf(outcome)
  const isShown = ['verified', 'trusted', 'changed', 'expired'].includes(trust)
  const entry = isShown && outcome !== null && 'entry' in outcome ? outcome.entry : null
  return {
    trust,
    party: trust === 'verified' || trust === 'trusted' ? (entry?.party ?? null) : null,
    entry,
    basis: outcome !== null && 'basis' in outcome ? outcome.basis : null,
    reason: reasonOf(outcome),
    outcome,
    error: refusal ?? (outcome?.kind === 'unverified' ? outcome.error : null),
    refetch,
  }
}

/** Entries whose names begin with the typed text, for a list below the field. */
export type UseSearchResult = {
  /** As in `useName`. `verified`: these are the first entries with the prefix. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'unverified' | 'invalid'
  /** In byte order of the names. Empty unless `trust` is `verified`. */
  readonly entries: readonly FoundEntry[]
  readonly error: QuorumscanError | null
}

const SUGGESTIONS = 10

/**
 * Names to choose from while the user types. Look up the chosen one with `useName`.
 *
 * @param typed - The prefix of a name; may be empty.
 */
export function useSearch(
  typed: string,
  options: Omit<UseNameOptions, 'expectParty'> & {
    /** The number of entries. Default 10. */
    readonly limit?: number
  } = {},
): UseSearchResult {
  const { limit = SUGGESTIONS } = options
  const prefix = useSettled(typed)
  const query = useRead(options, ['search', prefix, limit], async (names, bounds) => {
    const found: FoundEntry[] = []
    for await (const entry of names.search(prefix, { ...bounds, pageSize: limit }))
      if (found.push(entry) === limit) break
    return found
  })
  const error = errorOf(query.error)
  const state = prefix === typed ? queryState(query) : 'checking'
  const trust = error?.code === 'INVALID_NAME' ? 'invalid' : (state ?? 'verified')
  const isVerified = typed !== '' && trust === 'verified'
  return {
    trust: typed === '' ? 'idle' : trust,
    entries: isVerified ? (query.data ?? []) : [],
    error: prefix === typed ? error : null,
  }
}

/** The name that represents a party, checked forward. @param party - May be empty. */
export function useReverse(
  party: string,
  options: Omit<UseNameOptions, 'expectParty'> = {},
): UseReverseResult {
  const query = useRead(options, ['party', party], (names, bounds) => names.reverse(party, bounds))
  const entry = query.data ?? null
  const isOver = entry !== null && hasEnded(entry.expiresAt, systemClock)
  const found =
    entry === null || isOver ? 'absent' : entry.changed === null ? 'verified' : 'changed'
  const trust = party === '' ? 'idle' : (queryState(query) ?? found)
  return {
    trust,
    name: trust === 'verified' ? (entry?.name ?? null) : null,
    changed: trust === 'changed' ? (entry?.changed ?? null) : null,
    error: errorOf(query.error),
    refetch: () => void query.refetch(),
  }
}

function useNames(own: Names | undefined): Names {
  const provided = useContext(NamesContext)
  const names = own ?? provided
  if (names === null) {
    const message = 'There are no `names`: wrap the tree in <NamesProvider>, or pass `names`.'
    throw invalidArgument(message)
  }
  return names
}

/** The prefix of cache keys, so that answers of another network or verifier are not used. */
function keyOf(names: Names): readonly [string, number] {
  const number = numbers.get(names) ?? ++count
  numbers.set(names, number)
  return ['quorumscan', number]
}

/** The text after a pause in typing. The first text and an empty one are returned at once. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return text === '' ? '' : settled
}

/** What is known of a name while it is shown; null: nothing yet, or there is no name. */
function useWatched(names: Names, name: string, options: UseNameOptions) {
  const { threshold, maxAgeMs = MAX_AGE_MS, expectParty } = options
  const key = JSON.stringify([name, threshold, maxAgeMs, expectParty])
  const [current, setCurrent] = useState<{ key: string; names: Names; watched: Watched } | null>(
    null,
  )
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key has the options; a turn is a refetch.
  useEffect(() => {
    if (name === '') return
    const closing = new AbortController()
    const { signal } = closing
    const show = (watched: Watched) => setCurrent({ key, names, watched })
    const follow = async () => {
      const pollMs = Math.min(Math.max(maxAgeMs / POLLS_PER_AGE, POLL_MS_MIN), POLL_MS_MAX)
      const bounds = { maxAgeMs, pollMs, signal, ...given({ threshold, expectParty }) }
      for await (const watched of names.watch(name, bounds)) show(watched)
    }
    follow().catch((error: unknown) => {
      if (signal.aborted) return
      show({ kind: 'unverified', reason: 'failed', error: errorOf(error) })
    })
    return () => closing.abort()
  }, [names, key, turn])
  const isCurrent = current !== null && current.key === key && current.names === names
  return {
    watched: isCurrent ? current.watched : null,
    refetch: () => setTurn((count) => count + 1),
  }
}

/** The options without undefined ones. */
function given<T extends object>(options: T) {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}

/**
 * A read on TanStack Query, refreshed while it is shown. It also runs if the device reports to be offline, since the nodes
 * may be on it.
 *
 * @param key - Kind and subject of the read. Nothing is read while the subject is empty.
 */
function useRead<T>(
  { names: own, threshold, maxAgeMs = MAX_AGE_MS }: Omit<UseNameOptions, 'expectParty'>,
  key: readonly [kind: string, subject: string, ...more: number[]],
  read: (names: Names, bounds: LookupOptions) => Promise<T>,
): UseQueryResult<T> {
  const names = useNames(own)
  return useQuery<T>({
    queryKey: [...keyOf(names), ...key, threshold ?? null, maxAgeMs],
    queryFn: ({ signal }) => read(names, { maxAgeMs, signal, ...given({ threshold }) }),
    enabled: key[1] !== '',
    staleTime: maxAgeMs,
    refetchInterval: maxAgeMs / POLLS_PER_AGE,
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    retry: false,
  })
}

/** null: there is a recent answer. */
function queryState(query: UseQueryResult<unknown>): 'checking' | 'unverified' | null {
  if (query.isError) return 'unverified'
  if (query.data === undefined) return 'checking'
  return query.isStale ? 'unverified' : null
}

function errorOf(error: unknown): QuorumscanError | null {
  return isQuorumscanError(error) ? error : null
}

function trustOf(watched: Watched | null): Trust {
  if (watched === null) return 'checking'
  const { kind } = watched
  if (kind === 'verified' || kind === 'trusted') return watched.changed === null ? kind : 'changed'
  if (kind === 'verified-absent' || kind === 'trusted-absent') return 'absent'
  return kind === 'mismatch' || kind === 'expired' ? kind : 'unverified'
}

/** null: there is an answer. */
function reasonOf(watched: Watched | null): UseNameResult['reason'] {
  if (watched === null || 'entry' in watched) return null
  return watched.kind === 'unverified' ? watched.reason : watched.kind
}
