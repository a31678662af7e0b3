/**
 * Drives a decider: sends what it asks for, hears what comes, and keeps its time.
 *
 * Each request is told to the decider when it is late, when it ends, and when it has taken too long; each read when
 * the time that it may wait has passed. One alarm, at the earliest of these times, finds all
 * that are due: it may ring too early, which costs a look, and is not moved back with every answer.
 *
 * Where the alarm or an answer comes much later than the alarm was set to, this process itself stalled. The clock of
 * the world leaves that time out, so that no node is late for it, and what came meanwhile is read before the rest.
 */
import type { ReaderClock } from '../reader-options.ts'
import type { Flight } from '../source/source.ts'
import { type Begun, drop, type Effect, type Event, NEVER, type World } from './decider.ts'

/** By then what came while the process stalled is read. */
const TURN_MS = 1

/** How a request becomes HTTP, and its answer what the decider hears. Rejects where there is none. */
export type Asker<F, R> = (flight: F, signal: AbortSignal) => Promise<R>

type Pending<O> = {
  readonly endsAtMs: number
  resolve(outcome: O | Promise<never>): void
  readonly signal: AbortSignal | undefined
  leave(): void
}

export function createDriver<F extends Flight<F>, R, I, O, N, X>(options: {
  readonly world: World<F, O, N>
  readonly step: (event: Event<F, R, I> | X) => void
  readonly asker: Asker<F, R>
  readonly clock: ReaderClock
  readonly note: (fact: N) => void
  /** Whether a timer that is so late says that this process stalled. */
  readonly isStalled: (missedMs: number) => boolean
  /** What the error of an asker is called. Default: `unreachable`. */
  readonly reasonOf?: (error: unknown, flight: F) => string
  /** Calls a function once what came at the same moment has come. Default: a microtask. */
  readonly defer?: (run: () => void) => void
}) {
  const { world, clock, defer = queueMicrotask, reasonOf = () => 'unreachable' } = options
  const aborts = new Map<F, AbortController>()
  const pending = new Map<number, Pending<O>>()
  let fresh: Begun<I>[] = []
  let readCount = 0
  let stalledMs = 0
  let isClosed = false
  let alarmAtMs = NEVER
  let alarm: AbortController | undefined

  const readClock = (): void => {
    let nowMs = clock.monotonicMs() - stalledMs
    const missedMs = nowMs - alarmAtMs
    if (options.isStalled(missedMs)) {
      stalledMs += missedMs
      nowMs = alarmAtMs
      alarmAtMs += TURN_MS
    }
    world.nowMs = nowMs
    world.nowMicros = clock.nowMicros()
  }

  const tell = (event: Event<F, R, I> | X): void => {
    if (isClosed) return
    readClock()
    options.step(event)
    const { effects } = world
    if (effects.length > 0) world.effects = [] // A callback may lead to another step.
    for (const effect of effects) perform(effect)
    setAlarm(world.wakeAtMs)
  }

  const perform = (effect: Effect<F, O, N>): void => {
    switch (effect.kind) {
      case 'ask':
        void ask(effect.flight)
        break
      case 'drop':
        aborts.get(effect.flight)?.abort(new Error('no answer'))
        aborts.delete(effect.flight)
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
    aborts.set(flight, abort)
    setAlarm(Math.min(flight.lateAtMs, flight.endsAtMs))
    let event: Event<F, R, I>
    try {
      event = { kind: 'reply', flight, reply: await options.asker(flight, abort.signal) }
    } catch (error) {
      event = { kind: 'failed', flight, reason: reasonOf(error, flight), isTimeout: false }
    }
    // Dropped meanwhile, otherwise.
    if (aborts.delete(flight)) heard(event)
  }

  /** A request ended. */
  const heard = (event: Event<F, R, I> & { readonly flight: F }): void => {
    const { source, sentAtMs } = event.flight
    source.flights.delete(event.flight)
    source.heardSentAtMs = Math.max(source.heardSentAtMs, sentAtMs)
    tell(event)
  }

  const setAlarm = (atMs: number): void => {
    if (atMs >= alarmAtMs || isClosed) return
    alarmAtMs = atMs
    alarm?.abort()
    alarm = new AbortController()
    // Timers count whole milliseconds, and may be early by a part of one. Aborted: another was set, or it is closed.
    const ms = Math.max(1, Math.ceil(atMs + stalledMs - clock.monotonicMs()))
    clock.delay(ms, alarm.signal).then(ring, () => {})
  }

  const ring = (): void => {
    readClock()
    const atMs = alarmAtMs
    alarmAtMs = NEVER
    // Early, or the process stalled.
    if (world.nowMs < atMs) setAlarm(atMs)
    else sweep(world.nowMs)
  }

  /** Tells what is due, and sets the next alarm. */
  const sweep = (nowMs: number): void => {
    let nextMs = NEVER
    const isDue = (atMs: number): boolean => {
      if (atMs > nowMs) nextMs = Math.min(nextMs, atMs)
      return atMs <= nowMs
    }
    const isWaking = world.wakeAtMs <= nowMs
    if (isWaking) world.wakeAtMs = NEVER
    for (const { flights } of world.sources)
      for (const flight of flights) {
        if (isDue(flight.lateAtMs)) {
          flight.lateAtMs = NEVER
          tell({ kind: 'late', flight })
          isDue(flight.lateAtMs)
        }
        if (!isDue(flight.endsAtMs) || !flights.has(flight)) continue
        drop(world, flight)
        heard({ kind: 'failed', flight, reason: 'no answer', isTimeout: true })
      }
    const reads: number[] = []
    for (const [id, { endsAtMs }] of pending) if (isDue(endsAtMs)) reads.push(id)
    if (reads.length > 0) tell({ kind: 'deadline', reads })
    if (isWaking) tell({ kind: 'woke' })
    setAlarm(Math.min(nextMs, world.wakeAtMs))
  }

  const begin = (): void => {
    const reads = fresh.filter(({ id }) => pending.has(id))
    fresh = []
    tell({ kind: 'began', reads })
  }

  const end = (id: number, outcome: O | Promise<never>): void => {
    const read = pending.get(id)
    pending.delete(id)
    read?.signal?.removeEventListener('abort', read.leave)
    read?.resolve(outcome)
  }

  return {
    /** Something happened that only this decider knows of. */
    tell: (event: X): void => tell(event),
    waitingCount: () => pending.size,
    /**
     * What a read ends in.
     *
     * @param endsAtMs - How long it may wait, by the reader's clock.
     * @throws The signal's reason, or that of `close`.
     */
    ask: (input: I, endsAtMs: number, signal: AbortSignal | undefined): Promise<O> =>
      new Promise((resolve) => {
        const id = ++readCount
        const leave = () => {
          end(id, Promise.reject(signal?.reason))
          tell({ kind: 'left', reads: [id] })
        }
        signal?.addEventListener('abort', leave)
        pending.set(id, { endsAtMs: endsAtMs - stalledMs, resolve, signal, leave })
        setAlarm(endsAtMs - stalledMs)
        if (fresh.push({ id, input }) === 1) defer(begin)
      }),
    close(reason: unknown): void {
      isClosed = true
      alarm?.abort()
      for (const abort of aborts.values()) abort.abort(reason)
      for (const id of pending.keys()) end(id, Promise.reject(reason))
    },
  }
}
