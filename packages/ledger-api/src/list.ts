/** A stream as the list that HTTP answers (docs/upstream.md §L3.2). */
import { anySignal, type Clock, utf8, within } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'

/** More elements than this are 413. */
const LIST_ELEMENTS_MAX = 200
/** Without a new element for so long, an open-ended list is answered. */
export const LIST_IDLE_MS = 500
/** Longer than any request may take, and short enough for a timer. */
const IDLE_MS_MAX = 60_000

export type ListOptions = {
  /** As the query has it; ignored where it is above the maximum. */
  readonly limit: number | bigint | undefined
  /** Null: until the stream ends. */
  readonly idleMs: number | bigint | null
  readonly clock: Clock
}

/**
 * A JSON array of the elements, as bytes. An error of the stream is an error of the whole.
 *
 * @param open - Makes the stream, which ends or fails when the signal aborts.
 * @throws {LedgerError} JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED.
 */
export async function listOf(
  open: (signal: AbortSignal) => AsyncIterator<readonly string[]>,
  options: ListOptions & { readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const { clock, signal } = options
  const wanted =
    options.limit === undefined || options.limit > LIST_ELEMENTS_MAX
      ? LIST_ELEMENTS_MAX + 1
      : Number(options.limit)
  const idleMs = options.idleMs === null ? null : clamp(options.idleMs)
  const found: string[] = []
  const ended = new AbortController()
  const stream = open(anySignal([signal, ended.signal]))
  try {
    while (found.length < wanted) {
      const next = await withinIdle(stream.next(), idleMs, clock)
      if (next === 'idle' || next.done === true) break
      for (const element of next.value) if (found.length < wanted) found.push(element)
    }
  } finally {
    ended.abort()
    // It waits for nothing any more, and nobody waits for it.
    stream.return?.().catch(() => {})
  }
  if (found.length > LIST_ELEMENTS_MAX)
    throw new LedgerError(
      'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
      `The number of matching elements (${found.length}) is greater than the node limit (${LIST_ELEMENTS_MAX}).`,
    )
  return utf8(`[${found.join(',')}]`)
}

function clamp(idleMs: number | bigint): number {
  return Math.min(Math.max(Number(idleMs), 0), IDLE_MS_MAX)
}

async function withinIdle<T>(
  next: Promise<T>,
  idleMs: number | null,
  clock: Clock,
): Promise<T | 'idle'> {
  if (idleMs === null) return await next
  return await within(
    { clock, timeoutMs: idleMs },
    () => next,
    (): 'idle' => 'idle',
  )
}
