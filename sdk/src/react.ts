'use client'
/** Names in React, on TanStack Query: what is shown beside a recipient, and whether to believe it. */
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
  AnswerFacts,
  FoundEntry,
  LookupOptions,
  NameChange,
  NameEntry,
  Names,
  Unverified,
  Watched,
} from './names/lookups.ts'
import { normalizeName } from './names/name-rules.ts'
import { refusalOfName } from './names/parse-name.ts'
import { hasEnded, systemClock } from './platform/clock.ts'

/**
 * What to show beside a recipient.
 *
 * `idle`: nothing was asked. `checking`: no answer that is fresh enough yet; do not send. `verified`:
 * enough nodes agree. `trusted`: there are too few nodes to outvote one that lies. `changed`: verified,
 * but the name belonged to somebody else before: show `entry` with a warning, and once the user agrees call
 * `names.acceptChange` and `refetch`. `absent`: enough nodes agree that there is none. `mismatch`: not whom
 * the caller expected. `expired`: the entry has ended by this device's clock; do not send. `unverified`: nobody can say
 * any more, or yet, who owns it, `reason` says why; do not send. `invalid`: what was typed can be no name; `error` says
 * why.
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
  /** Set where `party` is, and where trust is `changed` or `expired`. */
  readonly entry: NameEntry | null
  /**
   * Who checked what is shown: this program (`self`), or a validator that is trusted to have (`proxy`). null: nothing
   * is shown that anybody checked.
   */
  readonly basis: AnswerFacts['verifiedBy'] | null
  /** Why trust is `unverified`; else null. */
  readonly reason: Unverified['reason'] | 'disputed' | 'insufficient' | 'lagging' | null
  /** All that is known; null before the first answer. */
  readonly outcome: Watched | null
  /** Of the last lookup, if it threw. */
  readonly error: QuorumscanError | null
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
  readonly error: QuorumscanError | null
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

/** Nobody types the next letter after so long a pause: then what was typed is asked for. */
const TYPING_PAUSE_MS = 300
/** A name that is shown is asked for so often in the time that an answer may be old, */
const POLLS_PER_AGE = 4
/** within these bounds, in ms. */
const POLL_MS_MIN = 1000
const POLL_MS_MAX = 15_000

/**
 * Whom a name belongs to, kept fresh while it is shown: not asked for before typing pauses, and not shown as verified
 * for a moment longer than it holds.
 *
 * @param typed - The name as it is typed; empty while nothing is.
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
    basis: outcome !== null && 'verifiedBy' in outcome ? outcome.verifiedBy : null,
    reason: trust === 'unverified' ? reasonOf(outcome) : null,
    outcome,
    error: refusal ?? (outcome?.kind === 'unverified' ? outcome.error : null),
    refetch,
  }
}

/** Entries whose names begin with what is typed, for a list below the field. */
export type UseSearchResult = {
  /** As in `useName`; `verified`: these, and no others, are the first that begin so. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'unverified' | 'invalid'
  /** In byte order of the names. Empty unless trust is `verified`. */
  readonly entries: readonly FoundEntry[]
  readonly error: QuorumscanError | null
}

const SUGGESTIONS = 10

/**
 * Names to choose from while one is typed. Ask `useName` about the one that is chosen.
 *
 * @param typed - The beginning of a name; empty while nothing is typed.
 */
export function useSearch(
  typed: string,
  options: Omit<UseNameOptions, 'expectParty'> & {
    /** How many. Default 10. */
    readonly limit?: number
  } = {},
): UseSearchResult {
  const { limit = SUGGESTIONS, threshold, maxAgeMs = MAX_AGE_MS } = options
  const names = useNames(options.names)
  const prefix = useSettled(typed)
  const query = useQuery<readonly FoundEntry[]>({
    queryKey: [...keyOf(names), 'search', prefix, threshold ?? null, maxAgeMs, limit],
    async queryFn({ signal }) {
      const found: FoundEntry[] = []
      const bounds = { maxAgeMs, signal, pageSize: limit, ...given({ threshold }) }
      for await (const entry of names.search(prefix, bounds)) if (found.push(entry) === limit) break
      return found
    },
    enabled: prefix !== '',
    ...freshness(maxAgeMs),
  })
  const error = errorOf(query.error)
  const standing = prefix === typed ? standingOf(query) : 'checking'
  const trust = error?.code === 'INVALID_NAME' ? 'invalid' : (standing ?? 'verified')
  const isVerified = typed !== '' && trust === 'verified'
  return {
    trust: typed === '' ? 'idle' : trust,
    entries: isVerified ? (query.data ?? []) : [],
    error: prefix === typed ? error : null,
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
    queryFn: ({ signal }) => names.reverse(party, { maxAgeMs, signal, ...given({ threshold }) }),
    enabled: party !== '',
    ...freshness(maxAgeMs),
  })
  const entry = query.data ?? null
  const isOver = entry !== null && hasEnded(entry.expiresAt, systemClock)
  const found =
    entry === null || isOver ? 'absent' : entry.changed === null ? 'verified' : 'changed'
  const trust = party === '' ? 'idle' : (standingOf(query) ?? found)
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
  if (names === null)
    throw invalidArgument('No names: wrap the tree in <NamesProvider>, or pass `names`.')
  return names
}

/** Where in the cache the answers of these `names` are: answers of another network, or another verifier, are none of theirs. */
function keyOf(names: Names): readonly [string, number] {
  const number = numbers.get(names) ?? ++count
  numbers.set(names, number)
  return ['quorumscan', number]
}

/** The text, once it has stayed as it is for as long as a pause in typing; the first one, and none, at once. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return text === '' ? '' : settled
}

/** What holds of a name, while it is shown; null: nothing is known yet, or no name is asked for. */
function useWatched(
  names: Names,
  name: string,
  options: UseNameOptions,
): { readonly watched: Watched | null; refetch(): void } {
  const { threshold, maxAgeMs = MAX_AGE_MS, expectParty } = options
  const key = JSON.stringify([name, threshold, maxAgeMs, expectParty])
  const [shown, setShown] = useState<{ key: string; names: Names; watched: Watched } | null>(null)
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key holds the options; a turn is for asking again.
  useEffect(() => {
    if (name === '') return
    const closing = new AbortController()
    const { signal } = closing
    const show = (watched: Watched) => setShown({ key, names, watched })
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
  const isCurrent = shown !== null && shown.key === key && shown.names === names
  return {
    watched: isCurrent ? shown.watched : null,
    refetch: () => setTurn((count) => count + 1),
  }
}

/** Without what is undefined. */
function given<T extends object>(options: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}

/** Asked again in time, also where the device says that it is offline: the nodes may be on it. */
function freshness(maxAgeMs: number) {
  return {
    staleTime: maxAgeMs,
    refetchInterval: maxAgeMs / POLLS_PER_AGE,
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    retry: false,
  } as const
}

/** null: there is a fresh answer. */
function standingOf(query: UseQueryResult<unknown>): 'checking' | 'unverified' | null {
  if (query.isError) return 'unverified'
  if (query.data === undefined) return 'checking'
  return query.isStale ? 'unverified' : null
}

function errorOf(error: unknown): QuorumscanError | null {
  return isQuorumscanError(error) ? error : null
}

function trustOf(watched: Watched | null): Trust {
  switch (watched?.kind) {
    case undefined:
      return 'checking'
    case 'verified':
    case 'trusted':
      return watched.changed === null ? watched.kind : 'changed'
    case 'verified-absent':
    case 'trusted-absent':
      return 'absent'
    case 'mismatch':
    case 'expired':
      return watched.kind
    default:
      return 'unverified'
  }
}

function reasonOf(watched: Watched | null): UseNameResult['reason'] {
  switch (watched?.kind) {
    case 'unverified':
      return watched.reason
    case 'disputed':
    case 'insufficient':
    case 'lagging':
      return watched.kind
    default:
      return null
  }
}
