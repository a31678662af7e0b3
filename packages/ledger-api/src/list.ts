/** A stream as the list that HTTP answers (docs/upstream.md §L3.2). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ledgerRoutes, QueryOf } from '@quorumscan/api'
import { type Clock, concatBytes, linkedController, utf8 } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { Caller } from './callers.ts'
import type { LedgerReads } from './dependencies.ts'
import type { OpenStream, StreamReader } from './update-stream.ts'

/** More elements than this return 413. */
const LIST_ELEMENTS_MAX = 200
/** An open-ended list is answered this long after its last element, or after it has caught up with the ledger end. */
const LIST_IDLE_MS = 500
/** JSON between two turns of the event loop, in which other requests are served: some 3 ms of work. */
export const TURN_CHARACTERS = 64 * 1024
/** Longer than the time limit of a request, and short enough for a timer. */
const IDLE_MS_MAX = 60_000

type MaybePromise<T> = T | Promise<T>

/**
 * A JSON array of the elements, as bytes. An error of the stream is an error of the whole. Idle time counts only after
 * the stream has caught up: before that, it would be the time that this process needs to read what exists.
 *
 * @param open - Makes the stream, which ends or fails when the signal aborts.
 * @throws {LedgerError} JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED.
 */
export async function listOf(
  open: (
    signal: AbortSignal,
    reader: StreamReader,
  ) => MaybePromise<AsyncIterator<readonly string[]>>,
  options: {
    /** The limit of the query; ignored above the maximum. */
    readonly limit: number | bigint | undefined
    /** Null: until the stream ends, as it does by itself if it is bounded. */
    readonly idleMs: number | bigint | null
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly countRows?: (rows: number) => void
    /** Called when nothing is left to do but to wait; the returned function when the list ends. */
    readonly pause?: () => () => void
  },
): Promise<Uint8Array> {
  const { clock, signal } = options
  const limit = Math.max(Number(options.limit ?? Number.POSITIVE_INFINITY), 0)
  const wanted = Math.min(limit, LIST_ELEMENTS_MAX + 1)
  const idleMs = options.idleMs === null ? null : clampIdle(options.idleMs)
  const found: Uint8Array[] = []
  let characters = 0
  const ended = linkedController(signal)
  let isCaughtUp = false
  let startTimer = () => {}
  let resume = () => {}
  const begin = async () => {
    try {
      return await open(ended.signal, {
        elementsMax: wanted,
        onRows: options.countRows,
        onCaughtUp() {
          isCaughtUp = true
          if (options.pause !== undefined) resume = options.pause()
          startTimer()
        },
      })
    } catch (error) {
      ended.abort() // What was opened before it failed ends, too.
      throw error
    }
  }
  const stream = await begin()
  /** The next elements; null when the stream has been idle for too long. */
  const nextOrIdle = async (maxMs: number) => {
    const over = new AbortController()
    const idle = new Promise<null>((resolve) => {
      startTimer = () => {
        clock.delay(maxMs, over.signal).then(
          () => resolve(null),
          () => {},
        )
      }
    })
    // Before the stream starts a timer of its own: of two that end together, this one decides.
    if (isCaughtUp) startTimer()
    return await Promise.race([stream.next(), idle]).finally(() => over.abort())
  }
  try {
    while (found.length < wanted) {
      const next = await (idleMs === null ? stream.next() : nextOrIdle(idleMs))
      if (next === null || next.done === true) break
      for (const element of next.value) {
        if (found.length < wanted) found.push(utf8(found.length === 0 ? element : `,${element}`))
        characters += element.length
      }
      // What was read at once comes in batches without a wait between them.
      if (characters < TURN_CHARACTERS) continue
      await nextTurn()
      characters = 0
    }
  } finally {
    ended.abort()
    resume()
    // Nothing depends on its end.
    stream.return?.().catch(() => {})
  }
  if (found.length > LIST_ELEMENTS_MAX)
    throw new LedgerError(
      'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
      `The number of matching elements (${found.length}) is greater than the node limit (${LIST_ELEMENTS_MAX}).`,
    )
  return concatBytes([utf8('['), ...found, utf8(']')])
}

function clampIdle(idleMs: number | bigint): number {
  return Math.min(Math.max(Number(idleMs), 0), IDLE_MS_MAX)
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
    readonly countRows: (rows: number) => void
    readonly pause: () => () => void
  }): Promise<Uint8Array> => {
    const { body, query, caller, signal, countRows, pause } = request
    const elements = await open(body, caller)
    const idleMs = query.stream_idle_timeout_ms ?? (isOpenEnded(body) ? LIST_IDLE_MS : null)
    const bounds = { limit: query.limit, idleMs, clock, signal, countRows, pause }
    const watched = async (ended: AbortSignal, reader: StreamReader) =>
      elements(await guard.watch(caller, ended), reader)
    return await listOf(watched, bounds)
  }
}
