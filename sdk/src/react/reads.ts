/** What the hooks share: the names of the tree, the pause in typing, and reads on TanStack Query. */
import { QueryClientContext, useQuery } from '@tanstack/react-query'
import type { ReactElement, ReactNode } from 'react'
import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useMemo,
  useReducer,
  useState,
} from 'react'
import { invalidArgument } from '../errors.ts'
import type { LookupOptions } from '../names/lookup-types.ts'
import type { Names } from '../names/names-type.ts'
import type { Shown } from '../names/shown.ts'
import {
  type Limits,
  nextTickMs,
  nothingKnown,
  type Reading,
  step,
  view,
  type WatchState,
} from '../names/watch-state.ts'
import { asError } from '../naming/party-resolver.ts'
import { systemClock } from '../platform/clock.ts'
import { deviceState } from '../platform/page.ts'

/** Options of a query, as in TanStack Query. */
export type QueryOptions<Answer = unknown, Data = Answer> = {
  /** Default true. With false nothing is read, and the result is idle. */
  readonly enabled?: boolean
  /** For how long a component that mounts uses an answer without another read, in ms. Default and maximum: `maxAgeMs`. */
  readonly staleTime?: number
  /** Makes `data` of the result. */
  readonly select?: (answer: Answer) => Data
  /** As of `reverseQuery` and `searchQuery`: the hook finds what was read with it. */
  readonly scope?: string
}

/** Options of the hooks that read names. */
export type ReadOptions = Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
  /** Default: `names` of the `NamesProvider`. */
  readonly names?: Names
}

/** What is known from a read. */
type Read<Value, Data> = {
  readonly shown: Shown<Value>
  /** Of `select`; undefined unless the value is proven or changed. */
  readonly data: Data | undefined
  refetch(): void
}

const MAX_AGE_MS = 60_000 // D-39.
/** The pause in typing after which a text is read. */
const TYPING_PAUSE_MS = 300
/** How often a shown answer is read again within its greatest age. */
const POLLS_PER_AGE = 4
/** The longest pause after failures. */
const POLL_MS_MAX = 15_000
/** The longest timer of platforms. */
const TIMER_MS_MAX = 2 ** 31 - 1

const NamesContext = createContext<Names | null>(null)

/** Provides `names` of `createScan` or `createValidator` to the hooks. */
export function NamesProvider(props: {
  readonly names: Names
  readonly children?: ReactNode
}): ReactElement {
  return createElement(NamesContext.Provider, { value: props.names }, props.children)
}

/** `own`, or the names of the provider. */
export function useSource<Source>(own: Source | undefined): Source | Names {
  const provided = useContext(NamesContext)
  const source = own ?? provided
  if (source !== null) return source
  const message = 'There are no `names`: wrap the tree in <NamesProvider>, or pass `names`.'
  throw invalidArgument(message)
}

/** The text after a pause in typing. The first text and an empty one are returned at once. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return text === '' ? '' : settled
}

/** A read: the options of a query, as of `nameQuery`. */
type Asked<Value> = {
  readonly queryKey: readonly unknown[]
  readonly queryFn: (context: { readonly signal?: AbortSignal }) => Promise<Reading<Value>>
}

/**
 * A read on TanStack Query, repeated while it is shown and the page is visible, less often while it fails. It also runs
 * if the device reports to be offline, since the nodes may be on it. Whether an answer is recent is decided as in a watch.
 */
export function useRead<Value, Data>(
  { queryKey, queryFn }: Asked<Value>,
  options: {
    readonly isOn: boolean
    readonly maxAgeMs?: number
    readonly pollMs?: number
    readonly query?: QueryOptions<Value | null, Data> | undefined
  },
): Read<Value, Data> {
  const { maxAgeMs = MAX_AGE_MS, pollMs = maxAgeMs / POLLS_PER_AGE, query: asked = {} } = options
  const { enabled = true, staleTime = maxAgeMs, select } = asked
  const isOn = options.isOn && enabled
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => queryFn({ signal }),
    enabled: isOn,
    staleTime: Math.min(staleTime, maxAgeMs),
    refetchInterval: ({ state: { status, errorUpdateCount } }) =>
      status !== 'error'
        ? pollMs
        : Math.max(pollMs, Math.min(pollMs * 2 ** errorUpdateCount, POLL_MS_MAX)),
    refetchOnWindowFocus: 'always',
    refetchOnReconnect: 'always',
    networkMode: 'always',
    retry: false,
  })
  const state = useStateOf(query.data, query.error)
  const shown = useShownNow(isOn ? state : null, { maxAgeMs, pollMs })
  const isAnswer = shown.kind === 'proven' || shown.kind === 'changed'
  const value = isAnswer ? shown.value : null
  const data = isAnswer ? (select ? select(value) : (value as never)) : undefined
  return { shown, data, refetch: () => void query.refetch() }
}

/** What the cache has of a read, such as of one on a server; nothing is read. */
export function useCached<Value>(
  { queryKey }: Asked<Value>,
  limits: { readonly maxAgeMs?: number | undefined; readonly pollMs?: number | undefined },
): Shown<Value> {
  const reading = useContext(QueryClientContext)?.getQueryData<Reading<Value>>(queryKey)
  const { maxAgeMs = MAX_AGE_MS, pollMs = MAX_AGE_MS } = limits
  return useShownNow(useStateOf(reading, null), { maxAgeMs, pollMs })
}

/** The state of a watch that a query is in; null: no answer yet. */
function useStateOf<Value>(reading: Reading<Value> | undefined, thrown: Error | null) {
  return useMemo(() => {
    if (reading === undefined && thrown === null) return null
    const asked = { limits: { maxAgeMs: 0, pollMs: 0 }, now: deviceNow() }
    let state = nothingKnown<Value>()
    if (reading !== undefined) state = step(state, { kind: 'answered', reading }, asked).state
    if (thrown !== null)
      state = step(state, { kind: 'failed', error: asError(thrown) }, asked).state
    return state
  }, [reading, thrown])
}

/** What is known now. Renders again when that changes by time alone. */
function useShownNow<Value>(state: WatchState<Value> | null, limits: Limits): Shown<Value> {
  const [, render] = useReducer((count: number) => count + 1, 0)
  const now = deviceNow()
  const leftMs = state === null ? 0 : nextTickMs({ ...state, isAsking: true }, now, limits) - now.ms
  useEffect(() => {
    if (!(leftMs > 0 && leftMs < TIMER_MS_MAX)) return
    const timer = setTimeout(render, Math.ceil(leftMs))
    return () => clearTimeout(timer)
  })
  return state === null ? PENDING : view(state, now, limits)
}

const PENDING = { kind: 'pending' } as const

function deviceNow() {
  const ms = systemClock.nowMicros() / 1000
  return { ...deviceState(), ms, monotonicMs: systemClock.monotonicMs() }
}
