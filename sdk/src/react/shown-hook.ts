/** What a watch shows, in React. */
import { useEffect, useRef, useState } from 'react'
import type { KnownError } from '../known-errors.ts'
import type { WatchOptions } from '../names/lookup-types.ts'
import type { Shown } from '../names/shown.ts'
import { asError } from '../naming/party-resolver.ts'
import type { Party } from '../platform/party.ts'

/** A query of a hook that watches. */
export type ShownQuery<T, Data> = {
  /** Default true. With false nothing is read, and `shown` is `pending`. */
  readonly enabled?: boolean
  /** Makes `data` of the result. */
  readonly select?: (shown: Shown<T>) => Data
  /** As of `nameQuery`: what was read with it is shown until the first answer of the watch. */
  readonly scope?: string
}

/** What is known of a typed recipient. Both hooks for recipients return it. */
export type UseShownResult<T, Data = Shown<T>> = {
  /** `pending` also while nothing is typed, and until typing pauses. */
  readonly shown: Shown<T>
  /**
   * The party to send to. Set only if `shown` is `proven` and has a value; `shown.basis` says how well it is checked.
   */
  readonly party: Party | null
  /** What `select` makes of `shown`. */
  readonly data: Data
  /** Accepts the shown change of owner for good, and reads again. Another change that came meanwhile is not accepted. */
  acceptChange(): Promise<void>
  /** Reads again at once. */
  retry(): void
}

const PENDING = { kind: 'pending' } as const

/**
 * What a watch shows of a text.
 *
 * @param text - Empty: nothing is watched.
 * @param bounds - Other bounds start another watch.
 */
export function useShown<T>(
  source: { watch(text: string, options: WatchOptions): AsyncIterable<Shown<T>> },
  text: string,
  bounds: WatchOptions,
): { readonly shown: Shown<T>; retry(): void } {
  const key = JSON.stringify([text, bounds])
  const [current, setCurrent] = useState<{ key: string; source: object; shown: Shown<T> } | null>(
    null,
  )
  const [turn, setTurn] = useState(0)
  /** Asks again without another watch, which would not know how old the shown answer is; null: the watch has ended. */
  const askAgain = useRef<(() => void) | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key has the bounds; a turn follows a watch that has ended.
  useEffect(() => {
    if (text === '') return
    askAgain.current = null
    const closing = new AbortController()
    const { signal } = closing
    const show = (shown: Shown<T>) => setCurrent({ key, source, shown })
    const onStart = (again: () => void) => {
      if (!signal.aborted) askAgain.current = again
    }
    const follow = async () => {
      for await (const shown of source.watch(text, { ...bounds, signal, onStart })) show(shown)
    }
    follow().catch((error: unknown) => {
      if (signal.aborted) return
      askAgain.current = null
      // The code of an error of the SDK decides on its details.
      show({ kind: 'failed', error: asError(error) as KnownError })
    })
    return () => closing.abort()
  }, [source, key, turn])
  const isCurrent = current !== null && current.key === key && current.source === source
  return {
    shown: isCurrent ? current.shown : PENDING,
    retry() {
      if (askAgain.current === null) setTurn((count) => count + 1)
      else askAgain.current()
    },
  }
}

/** The result of a hook for recipients. */
export function resultOf<T extends { readonly party: Party }, Data>(
  shown: Shown<T>,
  more: {
    readonly query: ShownQuery<T, Data>
    readonly accept: (party: Party) => Promise<void>
    retry(): void
  },
): UseShownResult<T, Data> {
  const { query, accept, retry } = more
  const { select = (shown: Shown<T>): Data => shown as never } = query
  return {
    shown,
    party: shown.kind === 'proven' ? (shown.value?.party ?? null) : null,
    data: select(shown),
    async acceptChange() {
      if (shown.kind !== 'changed') return
      await accept(shown.value.party)
      retry()
    },
    retry,
  }
}
