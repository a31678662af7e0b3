/** What the hooks share: the names of the tree, the pause in typing, and reads on TanStack Query. */
import { useQuery } from '@tanstack/react-query'
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from 'react'
import { invalidArgument, isQuorumscanError, type QuorumscanError, transient } from '../errors.ts'
import type { LookupOptions, Names } from '../names/lookup-types.ts'
import { instantMs, systemClock } from '../platform/clock.ts'

/** Options of the query, as in TanStack Query. */
export type QueryOptions<Answer = unknown, Data = Answer> = {
  /** Default true. With false nothing is read, and the result is idle. */
  readonly enabled?: boolean
  /**
   * How old an answer may be for a component that mounts to use it without another read, in ms. Default and maximum:
   * `maxAgeMs`.
   */
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

/** Root of the keys in the cache. */
export const KEY = 'quorumscan'
/** D-39. */
export const MAX_AGE_MS = 60_000
/** The pause in typing after which a text is read. */
const TYPING_PAUSE_MS = 300
/** How often a shown answer is read again within its greatest age. */
const POLLS_PER_AGE = 4
/** The longest pause after failures. */
const POLL_MS_MAX = 15_000
/** Platforms end longer timers at once. */
const TIMER_MS_MAX = 3_600_000

const NamesContext = createContext<Names | null>(null)
/** A number for each source, so that two networks in one page do not share answers. */
const numbers = new WeakMap<object, number>()
/** No number of an earlier load of the page, whose cache may have been stored. */
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

/** Whether the time has passed by the clock of this device. The component renders again when it does. */
function useIsPast(ms: number): boolean {
  const [, setTurn] = useState(0)
  const leftMs = ms - systemClock.nowMicros() / 1000
  useEffect(() => {
    if (!(leftMs > 0 && leftMs < Number.POSITIVE_INFINITY)) return
    const timer = setTimeout(() => setTurn((turn) => turn + 1), Math.min(leftMs, TIMER_MS_MAX))
    return () => clearTimeout(timer)
  })
  return leftMs <= 0
}

/** As `useIsPast`, for an instant of the ledger. null: it never passes. */
export function useHasEnded(instant: string | null | undefined): boolean {
  return useIsPast(instant ? instantMs(instant) : Number.POSITIVE_INFINITY)
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
    readonly maxAgeMs?: number | undefined
    readonly pollMs?: number | undefined
    readonly query?: QueryOptions<Answer, Data> | undefined
  },
): Read<Answer, Data> {
  const { maxAgeMs = MAX_AGE_MS, pollMs = maxAgeMs / POLLS_PER_AGE } = options
  const { enabled = true, staleTime = maxAgeMs, select } = options.query ?? {}
  const isOn = options.isOn && enabled
  const number = numbers.get(source) ?? ++count
  numbers.set(source, number)
  const query = useQuery({
    queryKey: [KEY, number, ...key],
    queryFn: ({ signal }) => read(signal),
    select: (answer: Answer) => ({ answer, data: select ? select(answer) : (answer as never) }),
    enabled: isOn,
    staleTime: Math.min(staleTime, maxAgeMs),
    refetchInterval({ state }) {
      if (state.status !== 'error') return pollMs
      const failingMs = state.errorUpdatedAt - state.dataUpdatedAt
      const doubledMs = state.data === undefined ? pollMs * 2 ** state.errorUpdateCount : failingMs
      return Math.max(pollMs, Math.min(doubledMs, POLL_MS_MAX))
    },
    refetchOnWindowFocus: 'always',
    networkMode: 'always',
    retry: false,
  })
  const error = query.error === null ? null : asError(query.error)
  const isOld = useIsPast(query.dataUpdatedAt + maxAgeMs)
  const isShown = isOn && !isOld && error?.code !== 'CONSENSUS_DISPUTED'
  const shown = isShown ? query.data : undefined
  const open = error === null ? 'checking' : 'unverified'
  return {
    answer: shown?.answer,
    data: shown?.data,
    state: !isOn ? 'idle' : shown === undefined ? open : null,
    error: isOn ? error : null,
    refetch: () => void query.refetch(),
  }
}

/** What a read threw, as an error of the SDK. */
export function asError(error: unknown): QuorumscanError {
  return isQuorumscanError(error) ? error : transient('UNKNOWN_ERROR', 'It failed.', { cause: error })
}

/** The options without undefined ones. */
export function given<T extends object>(options: T) {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> }
}
