/** Names in React: what to show for a recipient, and whether to believe it. */
import { useEffect, useRef, useState } from 'react'
import type { QuorumscanError } from '../errors.ts'
import type {
  Basis,
  FoundEntry,
  NameChange,
  NameEntry,
  Names,
  UnverifiedReason,
  Watched,
  WatchOptions,
} from '../names/lookup-types.ts'
import { normalizeName } from '../names/name-rules.ts'
import { refusalOfName } from '../names/parse-name.ts'
import { asError } from '../naming/party-resolver.ts'
import { hasEnded, systemClock } from '../platform/clock.ts'
import { type QueryOptions, type ReadOptions, useRead, useSettled, useSource } from './reads.ts'

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
export type Trust = UseReverseResult['trust'] | 'trusted' | 'mismatch' | 'expired' | 'invalid'

/** Options of `useName`. */
export type UseNameOptions<Data = Watched> = ReadOptions &
  Pick<WatchOptions, 'expectParty' | 'pollMs'> & {
    readonly query?: Omit<QueryOptions<Watched, Data>, 'staleTime'>
  }

/**
 * Why `trust` is `unverified`, otherwise null; and the error of the last lookup, or of an invalid text. An error belongs to
 * every `failed`.
 */
type Why =
  | UnverifiedReason
  | {
      readonly reason: 'disputed' | 'insufficient' | 'lagging' | null
      readonly error: QuorumscanError | null
    }

/** The owner of a name, as far as it is known now. */
export type UseNameResult<Data = Watched> = Why & {
  /** What to show for the recipient. */
  readonly trust: Trust
  /** The party to send to. Set only if `trust` is `verified` or `trusted`. */
  readonly party: string | null
  /** Set if `party` is set, and if `trust` is `changed` or `expired`. */
  readonly entry: NameEntry | null
  /** Not null: the name had another owner before. Remains until `names.acceptChange`. */
  readonly changed: NameChange | null
  /** Who checked the answer, and how; null: there is no verified answer. */
  readonly basis: Basis | null
  /** The whole outcome; null before the first answer. */
  readonly outcome: Watched | null
  /** What `select` makes of the outcome; undefined before the first answer. */
  readonly data: Data | undefined
  /** Looks up again at once. */
  refetch(): void
}

/**
 * The owner of a name, from `names.watch`: a change is shown as soon as a watch reports it, and nothing is asked while the
 * page is hidden. The name is looked up when typing pauses.
 *
 * @param typed - The typed text; may be empty.
 * @example
 * const { trust, party, changed } = useName(typed)
 */
export function useName<Data = Watched>(
  typed: string,
  options: UseNameOptions<Data> = {},
): UseNameResult<Data> {
  const { names, query = {}, ...bounds } = options
  const name = normalizeName(typed)
  const refusal = name === '' ? null : refusalOfName(name)
  const isIdle = name === '' || query.enabled === false
  const asked = useSettled(isIdle || refusal !== null ? '' : name)
  const { watched, refetch } = useWatched(useSource(names), asked, bounds)
  const outcome = asked === name ? watched : null
  const trust = isIdle ? 'idle' : refusal !== null ? 'invalid' : trustOf(outcome)
  const isShown = ['verified', 'trusted', 'changed', 'expired'].includes(trust)
  const entry = isShown && outcome !== null && 'entry' in outcome ? outcome.entry : null
  const { select = (watched: Watched): Data => watched as never } = query
  return {
    ...whyOf(outcome, isIdle ? null : refusal),
    trust,
    party: trust === 'verified' || trust === 'trusted' ? (entry?.party ?? null) : null,
    entry,
    changed: outcome !== null && 'changed' in outcome ? outcome.changed : null,
    basis: outcome !== null && 'basis' in outcome ? outcome.basis : null,
    outcome,
    data: outcome === null ? undefined : select(outcome),
    refetch,
  }
}

/** What is known of a name while it is shown; null: nothing yet, or there is no name. */
function useWatched(names: Names, name: string, bounds: WatchOptions) {
  const key = JSON.stringify([name, bounds])
  const [current, setCurrent] = useState<{ key: string; names: Names; watched: Watched } | null>(
    null,
  )
  const [turn, setTurn] = useState(0)
  /** Asks again without another watch, which would not know how old the shown answer is; null: the watch has ended. */
  const askAgain = useRef<(() => void) | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key has the bounds; a turn follows a watch that has ended.
  useEffect(() => {
    if (name === '') return
    askAgain.current = null
    const closing = new AbortController()
    const { signal } = closing
    const show = (watched: Watched) => setCurrent({ key, names, watched })
    const onStart = (again: () => void) => {
      if (!signal.aborted) askAgain.current = again
    }
    const follow = async () => {
      for await (const watched of names.watch(name, { ...bounds, signal, onStart })) show(watched)
    }
    follow().catch((error: unknown) => {
      if (signal.aborted) return
      askAgain.current = null
      show({ kind: 'unverified', reason: 'failed', error: asError(error) })
    })
    return () => closing.abort()
  }, [names, key, turn])
  const isCurrent = current !== null && current.key === key && current.names === names
  return {
    watched: isCurrent ? current.watched : null,
    refetch() {
      if (askAgain.current === null) setTurn((count) => count + 1)
      else askAgain.current()
    },
  }
}

/** Entries whose names begin with the typed text, for a list below the field. */
export type UseSearchResult<Data = readonly FoundEntry[]> = {
  /** As in `useName`. `verified`: these are the first entries with the prefix. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'unverified' | 'invalid'
  /** In byte order of the names. Empty unless `trust` is `verified`. */
  readonly entries: readonly FoundEntry[]
  /** What `select` makes of the entries; undefined unless `trust` is `verified`. */
  readonly data: Data | undefined
  /** Not null if `trust` is `unverified` or `invalid`. */
  readonly error: QuorumscanError | null
}

const SUGGESTIONS = 10

/**
 * Names to choose from while the user types. Look up the chosen one with `useName`.
 *
 * @param typed - The prefix of a name; may be empty.
 */
export function useSearch<Data = readonly FoundEntry[]>(
  typed: string,
  options: ReadOptions & {
    /** The number of entries. Default 10. */
    readonly limit?: number
    readonly query?: QueryOptions<readonly FoundEntry[], Data>
  } = {},
): UseSearchResult<Data> {
  const { names: own, query, limit = SUGGESTIONS, ...bounds } = options
  const names = useSource(own)
  const prefix = useSettled(typed)
  const list = async (signal: AbortSignal) => {
    const found: FoundEntry[] = []
    for await (const entry of names.search(prefix, { ...bounds, signal, pageSize: limit }))
      if (found.push(entry) === limit) break
    return found
  }
  const more = { ...bounds, isOn: prefix !== '', query }
  const read = useRead(names, ['search', prefix, limit, bounds], list, more)
  const isAsked = prefix === typed
  const error = isAsked ? read.error : null
  const isInvalid = error?.code === 'INVALID_NAME'
  const state = isAsked ? (read.state ?? 'verified') : 'checking'
  const isIdle = typed === '' || query?.enabled === false
  const trust = isIdle ? 'idle' : isInvalid ? 'invalid' : state
  const isVerified = trust === 'verified'
  const data = isVerified ? read.data : undefined
  return { trust, entries: (isVerified && read.answer) || [], data, error }
}

/** The name of a party, as far as it is known now. */
export type UseReverseResult<Data = FoundEntry | null> = {
  /** As in `useName`. */
  readonly trust: 'idle' | 'checking' | 'verified' | 'changed' | 'absent' | 'unverified'
  /** Set only if `trust` is `verified`. The name resolves to the party. */
  readonly name: string | null
  /** Set if `trust` is `changed`: the name had another owner before. */
  readonly changed: NameChange | null
  /** What `select` makes of the entry, or of null; undefined while no answer is recent. */
  readonly data: Data | undefined
  /** The error of the last lookup. Not null if `trust` is `unverified`. */
  readonly error: QuorumscanError | null
  /** Looks up again at once. */
  refetch(): void
}

/** The name that represents a party, checked forward. @param party - May be empty. */
export function useReverse<Data = FoundEntry | null>(
  party: string,
  options: ReadOptions & { readonly query?: QueryOptions<FoundEntry | null, Data> } = {},
): UseReverseResult<Data> {
  const { names: own, query, ...bounds } = options
  const names = useSource(own)
  const reverse = (signal: AbortSignal) => names.reverse(party, { ...bounds, signal })
  const more = { ...bounds, isOn: party !== '', query }
  const read = useRead(names, ['reverse', party, bounds], reverse, more)
  const entry = read.answer ?? null
  const isOver = entry !== null && hasEnded(entry.expiresAt, systemClock, entry.clockSkewMs)
  const found =
    entry === null || isOver ? 'absent' : entry.changed === null ? 'verified' : 'changed'
  const trust = read.state ?? found
  return {
    trust,
    name: trust === 'verified' ? (entry?.name ?? null) : null,
    changed: trust === 'changed' ? (entry?.changed ?? null) : null,
    data: read.data,
    error: read.error,
    refetch: read.refetch,
  }
}

function trustOf(watched: Watched | null): Trust {
  if (watched === null) return 'checking'
  const { kind } = watched
  if (kind === 'verified' || kind === 'trusted') return watched.changed === null ? kind : 'changed'
  if (kind === 'verified-absent' || kind === 'trusted-absent') return 'absent'
  return kind === 'mismatch' || kind === 'expired' ? kind : 'unverified'
}

function whyOf(watched: Watched | null, refusal: QuorumscanError | null): Why {
  if (watched === null || 'entry' in watched) return { reason: null, error: refusal }
  if (watched.kind !== 'unverified') return { reason: watched.kind, error: null }
  const { kind: _, ...why } = watched
  return why
}
