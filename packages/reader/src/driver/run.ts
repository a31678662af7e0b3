/**
 * Drives a decider: sends its requests, reports replies and times to it.
 *
 * The decider learns of a request when it is late, when it ends, and when it has taken too long, and of a read when
 * it has waited as long as it may. One timer, at the earliest of these times, finds all that are due. It may fire too
 * early, which costs one check, and is not moved back with every reply.
 *
 * If the timer fires, or a reply arrives, much later than the time of the timer, this process stalled. The clock of the
 * context leaves that time out, so that no node is late because of it. Replies that arrived meanwhile are read first.
 */
import type { ReaderClock } from '../reader-options.ts'
import { endFlight, type Flight } from '../source/source.ts'
import {
  type Begun,
  type ByRead,
  type DeciderContext,
  drop,
  type Effect,
  type Event,
  NEVER,
} from './decider-protocol.ts'
import { setTimes } from './proven-time.ts'

/** How long the driver reads replies that arrived during a stall before timers count again. */
const TURN_MS = 1

/** Sends a request over HTTP and judges its reply. Rejects without a reply. */
export type Asker<F, R> = (flight: F, signal: AbortSignal) => Promise<R>

type Pending<O> = {
  readonly id: number
  readonly endsAtMs: number
  resolve(outcome: O | Promise<never>): void
  readonly signal: AbortSignal | undefined
  leave(): void
}

export function createDriver<F extends Flight<F>, R, I, O, N, X>(options: {
  readonly context: DeciderContext<F, O, N>
  readonly step: (event: Event<F, R, I> | X) => void
  readonly asker: Asker<F, R>
  readonly clock: ReaderClock
  readonly note: (fact: N) => void
  /** A timer that is later than this shows that this process stalled. */
  readonly stallMs: number
  /** The reason for an error of the asker. Default: `unreachable`. */
  readonly reasonOf?: (error: unknown, flight: F) => string
  /** As `defer` of `ReaderOptions`. */
  readonly defer?: (run: () => void) => void
}) {
  const { context, clock, defer = queueMicrotask, reasonOf = () => 'unreachable' } = options
  const pending: ByRead<Pending<O>> = {}
  let pendingCount = 0
  let fresh: Begun<I>[] = []
  let readCount = 0
  let stalledMs = 0
  let isClosed = false
  let timerAtMs = NEVER
  let timer: AbortController | undefined

  const readClock = (): void => {
    const monotonicMs = clock.monotonicMs()
    let nowMs = monotonicMs - stalledMs
    const missedMs = nowMs - timerAtMs
    if (missedMs > options.stallMs) {
      stalledMs += missedMs
      nowMs = timerAtMs
      timerAtMs += TURN_MS
    }
    setTimes(context, nowMs, { deviceMicros: clock.nowMicros(), monotonicMs })
  }

  const report = (event: Event<F, R, I> | X): void => {
    if (isClosed) return
    readClock()
    options.step(event)
    const { effects } = context
    if (effects.length > 0) context.effects = [] // A callback may lead to another step.
    for (const effect of effects) perform(effect)
    setTimer(context.wakeAtMs)
  }

  const perform = (effect: Effect<F, O, N>): void => {
    switch (effect.kind) {
      case 'ask':
        void ask(effect.flight)
        break
      case 'drop':
        effect.flight.abort?.abort(new Error('no answer'))
        break
      case 'note':
        options.note(effect.fact)
        break
      default:
        end(effect.read, effect.outcome)
    }
  }

  const ask = async (flight: F): Promise<void> => {
    const abort = new AbortController()
    flight.abort = abort
    setTimer(Math.min(flight.lateAtMs, flight.endsAtMs))
    let event: Event<F, R, I>
    try {
      event = { kind: 'reply', flight, reply: await options.asker(flight, abort.signal) }
    } catch (error) {
      event = { kind: 'failed', flight, reason: reasonOf(error, flight), isTimeout: false }
    }
    // Otherwise the decider dropped the request meanwhile.
    if (!abort.signal.aborted) completed(event)
  }

  /** A request ended. */
  const completed = (event: Event<F, R, I> & { readonly flight: F }): void => {
    const { source, sentAtMs } = event.flight
    endFlight(event.flight)
    source.newestEndedSentAtMs = Math.max(source.newestEndedSentAtMs, sentAtMs)
    report(event)
  }

  const setTimer = (atMs: number): void => {
    if (atMs >= timerAtMs || isClosed) return
    timerAtMs = atMs
    timer?.abort()
    timer = new AbortController()
    // Timers count whole milliseconds, and may be early by a part of one. Aborted: another timer was set, or the driver closed.
    const ms = Math.max(1, Math.ceil(atMs + stalledMs - clock.monotonicMs()))
    clock.delay(ms, timer.signal).then(onTimer, () => {})
  }

  const onTimer = (): void => {
    readClock()
    const atMs = timerAtMs
    timerAtMs = NEVER
    // Early, or the process stalled.
    if (context.nowMs < atMs) setTimer(atMs)
    else reportDue(context.nowMs)
  }

  /** Reports all that is due, and sets the next timer. */
  const reportDue = (nowMs: number): void => {
    let nextMs = NEVER
    const isDue = (atMs: number): boolean => {
      if (atMs > nowMs) nextMs = Math.min(nextMs, atMs)
      return atMs <= nowMs
    }
    const isWaking = context.wakeAtMs <= nowMs
    if (isWaking) context.wakeAtMs = NEVER
    for (const { flights } of context.sources)
      for (const flight of [...flights]) {
        if (isDue(flight.lateAtMs)) {
          flight.lateAtMs = NEVER
          report({ kind: 'late', flight })
          isDue(flight.lateAtMs)
        }
        if (!isDue(flight.endsAtMs) || !flights.includes(flight)) continue
        drop(context, flight)
        completed({ kind: 'failed', flight, reason: 'no answer', isTimeout: true })
      }
    const reads: number[] = []
    for (const { id, endsAtMs } of Object.values(pending)) if (isDue(endsAtMs)) reads.push(id)
    if (reads.length > 0) report({ kind: 'deadline', reads })
    if (isWaking) report({ kind: 'woke' })
    setTimer(Math.min(nextMs, context.wakeAtMs))
  }

  const begin = (): void => {
    const reads = fresh.filter(({ id }) => id in pending)
    fresh = []
    report({ kind: 'began', reads })
  }

  const end = (id: number, outcome: O | Promise<never>): void => {
    const read = pending[id]
    if (read === undefined) return
    delete pending[id]
    pendingCount--
    read.signal?.removeEventListener('abort', read.leave)
    read.resolve(outcome)
  }

  return {
    /** An event that only this decider knows. */
    report: (event: X): void => report(event),
    waitingCount: () => pendingCount,
    /**
     * Starts a read and resolves with its outcome.
     *
     * @param endsAtMs - Until when the read may wait, by the reader's clock.
     * @throws The signal's reason, or that of `close`.
     */
    ask: (input: I, endsAtMs: number, signal: AbortSignal | undefined): Promise<O> =>
      new Promise((resolve) => {
        const id = ++readCount
        const leave = () => {
          end(id, Promise.reject(signal?.reason))
          report({ kind: 'left', reads: [id] })
        }
        signal?.addEventListener('abort', leave)
        pending[id] = { id, endsAtMs: endsAtMs - stalledMs, resolve, signal, leave }
        pendingCount++
        setTimer(endsAtMs - stalledMs)
        if (fresh.push({ id, input }) === 1) defer(begin)
      }),
    close(reason: unknown): void {
      isClosed = true
      timer?.abort()
      for (const { flights } of context.sources)
        for (const { abort } of flights) abort?.abort(reason)
      for (const { id } of Object.values(pending)) end(id, Promise.reject(reason))
    },
  }
}
