/** What the hooks share: the names of the tree, the pause in typing, and reads on TanStack Query. */
import { useQuery } from '@tanstack/react-query'
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
import { invalidArgument, type QuorumscanError } from '../errors.ts'
import type { LookupOptions, Names } from '../names/lookup-types.ts'
import { asError } from '../naming/party-resolver.ts'
import { systemClock } from '../platform/clock.ts'

/** Options of a query, as in TanStack Query. */
export type QueryOptions<Answer = unknown, Data = Answer> = {
  /** Default true. With false nothing is read, and the result is idle. */
  readonly enabled?: boolean
  /** For how long a component that mounts uses an answer without another read, in ms. Default and maximum: `maxAgeMs`. */
  readonly staleTime?: number
  /** Makes `data` of the result. */
  readonly select?: (answer: Answer) => Data
}

/** Options of the hooks that read names. */
export type ReadOptions = Pick<LookupOptions, 'threshold' | 'maxAgeMs'> & {
  /** Default: `names` of the `NamesProvider`. */
  readonly names?: Names
}

/** What is known from a read. */
type Read<Answer, Data> = {
  /** undefined: there is no recent answer. */
  readonly answer: Answer | undefined
  /** Of `select`. */
  readonly data: Data | undefined
  /** null: there is a recent answer. With `unverified` there is an error. */
  readonly state: 'idle' | 'checking' | 'unverified' | null
  /** Of the last read. */
  readonly error: QuorumscanError | null
  refetch(): void
}

/** The first part of all keys in the cache. */
export const KEY = 'quorumscan'
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
/** A number for each source, so that two networks in one page do not share answers. */
const numbers = new WeakMap<object, number>()
/** Differs from the numbers of earlier loads of the page, whose cache may have been stored. */
let count = systemClock.nowMicros()

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

/**
 * A read on TanStack Query, repeated while it is shown and the page is visible, less often while it fails. It also runs
 * if the device reports to be offline, since the nodes may be on it. A failure ends the last answer once that is too old,
 * and a dispute at once.
 *
 * @param key - Kind and subject of the read, and what else distinguishes it.
 */
export function useRead<Answer, Data>(
  source: object,
  key: readonly unknown[],
  read: (signal: AbortSignal) => Promise<Answer>,
  options: {
    readonly isOn: boolean
    readonly maxAgeMs?: number
    readonly pollMs?: number
    readonly query?: QueryOptions<Answer, Data> | undefined
  },
): Read<Answer, Data> {
  const { maxAgeMs = MAX_AGE_MS, pollMs = maxAgeMs / POLLS_PER_AGE, query: asked = {} } = options
  const { enabled = true, staleTime = maxAgeMs, select } = asked
  const isOn = options.isOn && enabled
  const number = numbers.get(source) ?? ++count
  numbers.set(source, number)
  const query = useQuery({
    queryKey: [KEY, number, ...key],
    queryFn: ({ signal }) => read(signal),
    select: (answer: Answer) => ({ answer, data: select ? select(answer) : (answer as never) }),
    enabled: isOn,
    staleTime: Math.min(staleTime, maxAgeMs),
    refetchInterval: ({ state: { status, errorUpdateCount } }) =>
      status !== 'error'
        ? pollMs
        : Math.max(pollMs, Math.min(pollMs * 2 ** errorUpdateCount, POLL_MS_MAX)),
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    retry: false,
  })
  const error = query.error === null ? null : asError(query.error)
  const isOld = useIsOld(query.dataUpdatedAt, maxAgeMs)
  const shown = !isOn || isOld || error?.code === 'CONSENSUS_DISPUTED' ? undefined : query.data
  const open = error === null ? 'checking' : 'unverified'
  return {
    answer: shown?.answer,
    data: shown?.data,
    state: !isOn ? 'idle' : shown === undefined ? open : null,
    error: isOn ? error : null,
    refetch: () => void query.refetch(),
  }
}

/**
 * Whether an answer is too old to be shown, whoever reads again meanwhile. Its age is the longer one of both clocks: the
 * wall clock may be set back, and the monotonic one may stop while the device sleeps, and counts from the first render.
 *
 * @param updatedAtMs - When it came, by the wall clock.
 */
function useIsOld(updatedAtMs: number, maxAgeMs: number): boolean {
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another time is another answer.
  const seenAtMs = useMemo(() => systemClock.monotonicMs(), [updatedAtMs])
  const wallAgeMs = systemClock.nowMicros() / 1000 - updatedAtMs
  const leftMs = maxAgeMs - Math.max(wallAgeMs, systemClock.monotonicMs() - seenAtMs)
  const [, render] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (!(leftMs > 0 && leftMs < TIMER_MS_MAX)) return
    const timer = setTimeout(render, Math.ceil(leftMs))
    return () => clearTimeout(timer)
  })
  return leftMs <= 0
}
