/** A stream as the list that HTTP answers (docs/upstream.md §L3.2). */
import type { ledgerRoutes, QueryOf } from '@quorumscan/api'
import { anySignal, type Clock, utf8, withTimeout } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Caller } from './callers.ts'
import type { LedgerReads } from './dependencies.ts'
import type { OpenStream } from './update-stream.ts'

/** More elements than this return 413. */
const LIST_ELEMENTS_MAX = 200
/** An open-ended list is answered after this time without a new element. */
const LIST_IDLE_MS = 500
/** Longer than the time limit of a request, and short enough for a timer. */
const IDLE_MS_MAX = 60_000

/**
 * A JSON array of the elements, as bytes. An error of the stream is an error of the whole.
 *
 * @param open - Makes the stream, which ends or fails when the signal aborts.
 * @throws {LedgerError} JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED.
 */
export async function listOf(
  open: (signal: AbortSignal) => AsyncIterator<readonly string[]>,
  options: {
    /** The limit of the query; ignored above the maximum. */
    readonly limit: number | bigint | undefined
    /** Null: until the stream ends. */
    readonly idleMs: number | bigint | null
    readonly clock: Clock
    readonly signal: AbortSignal
  },
): Promise<Uint8Array> {
  const { clock, signal } = options
  const wanted = Math.min(Number(options.limit ?? Infinity), LIST_ELEMENTS_MAX + 1)
  const idle = { clock, timeoutMs: Math.min(Math.max(Number(options.idleMs), 0), IDLE_MS_MAX) }
  const found: string[] = []
  const ended = new AbortController()
  const stream = open(anySignal([signal, ended.signal]))
  try {
    while (found.length < wanted) {
      const read = () => stream.next()
      const next = await (options.idleMs === null ? read() : withTimeout(idle, read, () => null))
      if (next === null || next.done === true) break
      for (const element of next.value) if (found.length < wanted) found.push(element)
    }
  } finally {
    ended.abort()
    // Nothing depends on its end.
    stream.return?.().catch(() => {})
  }
  if (found.length > LIST_ELEMENTS_MAX)
    throw new LedgerError(
      'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
      `The number of matching elements (${found.length}) is greater than the node limit (${LIST_ELEMENTS_MAX}).`,
    )
  return utf8(`[${found.join(',')}]`)
}

/** The handler of an operation that returns a stream as a list. */
export function listHandler<Body>(
  { guard, clock }: Pick<LedgerReads, 'guard' | 'clock'>,
  open: (body: Body, caller: Caller) => Promise<OpenStream>,
  isOpenEnded: (body: Body) => boolean,
) {
  return async (request: {
    readonly body: Body
    readonly query: QueryOf<typeof ledgerRoutes.getUpdates>
    readonly caller: Caller
    readonly signal: AbortSignal
  }): Promise<Uint8Array> => {
    const { body, query, caller, signal } = request
    const elements = await open(body, caller)
    const idleMs = query.stream_idle_timeout_ms ?? (isOpenEnded(body) ? LIST_IDLE_MS : null)
    const bounds = { limit: query.limit, idleMs, clock, signal }
    return await listOf((ended) => elements(guard.watch(caller, ended)), bounds)
  }
}
