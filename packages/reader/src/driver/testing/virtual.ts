/** Drives a decider in virtual time, step by step, as `run.ts` does with sockets and a clock. */
import { endFlight, type Flight } from '../../source/source.ts'
import { type DeciderContext, drop, type Effect, type Event } from '../decider-protocol.ts'
import { setTimes } from '../proven-time.ts'

export const START_MICROS = 1_700_000_000_000_000

export function createVirtual<F extends Flight<F>, R, I, O, N, X = never>(options: {
  readonly context: DeciderContext<F, O, N>
  readonly step: (event: Event<F, R, I> | X) => void
  /** Called with each effect, after the step. */
  readonly onEffect?: (effect: Effect<F, O, N>) => void
  readonly startMs?: number
  /** By how much the clock of the device is ahead. It may change while the test runs. */
  readonly aheadMs?: () => number
}) {
  const { context, step } = options
  /** Requests in flight, in order. */
  const open = new Set<F>()
  const waiting = new Map<number, number>()
  let nowMs = options.startMs ?? 0
  let readCount = 0

  const report = (event: Event<F, R, I> | X): void => {
    const aheadMs = options.aheadMs?.() ?? 0
    const deviceMicros = START_MICROS + (nowMs + aheadMs) * 1000
    setTimes(context, nowMs, { deviceMicros, monotonicMs: nowMs })
    step(event)
    const { effects } = context
    context.effects = []
    for (const effect of effects) {
      if (effect.kind === 'ask') open.add(effect.flight)
      else if (effect.kind === 'drop') open.delete(effect.flight)
      else if (effect.kind !== 'note') waiting.delete(effect.read)
      options.onEffect?.(effect)
    }
  }

  const completed = (event: Event<F, R, I> & { readonly flight: F }): void => {
    const { flight } = event
    const { source } = flight
    open.delete(flight)
    endFlight(flight)
    source.newestEndedSentAtMs = Math.max(source.newestEndedSentAtMs, flight.sentAtMs)
    report(event)
  }

  const times = (): number[] => [
    context.wakeAtMs,
    ...waiting.values(),
    ...[...open].flatMap(({ lateAtMs, endsAtMs }) => [lateAtMs, endsAtMs]),
  ]

  const ring = (): void => {
    const isWaking = context.wakeAtMs <= nowMs
    if (isWaking) context.wakeAtMs = Number.POSITIVE_INFINITY
    for (const flight of [...open]) {
      if (flight.lateAtMs <= nowMs) {
        flight.lateAtMs = Number.POSITIVE_INFINITY
        report({ kind: 'late', flight })
      }
      if (!open.has(flight) || flight.endsAtMs > nowMs) continue
      drop(context, flight)
      completed({ kind: 'failed', flight, reason: 'no answer', isTimeout: true })
    }
    const reads = [...waiting].flatMap(([id, atMs]) => (atMs <= nowMs ? [id] : []))
    if (reads.length > 0) report({ kind: 'deadline', reads })
    if (isWaking) report({ kind: 'woke' })
  }

  return {
    open,
    waiting,
    report,
    nowMs: () => nowMs,
    begin(input: I, waitMs: number): number {
      const id = ++readCount
      waiting.set(id, nowMs + waitMs)
      report({ kind: 'began', reads: [{ id, input }] })
      return id
    },
    leave(read: number): void {
      waiting.delete(read)
      report({ kind: 'left', reads: [read] })
    },
    answer: (flight: F, reply: R) => completed({ kind: 'reply', flight, reply }),
    fail: (flight: F, reason = '') =>
      completed({ kind: 'failed', flight, reason, isTimeout: false }),
    pass(ms: number): void {
      const untilMs = nowMs + ms
      for (;;) {
        const atMs = Math.min(...times())
        if (atMs > untilMs) break
        nowMs = Math.max(nowMs, atMs)
        ring()
      }
      nowMs = untilMs
    },
  }
}
