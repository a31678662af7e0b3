/** Drives a decider in virtual time, step by step, as `run.ts` does with sockets and a clock. */
import type { Flight } from '../../source/source.ts'
import { drop, type Effect, type Event, type World } from '../decider.ts'

export const START_MICROS = 1_700_000_000_000_000

export function createVirtual<F extends Flight<F>, R, I, O, N, X = never>(options: {
  readonly world: World<F, O, N>
  readonly step: (event: Event<F, R, I> | X) => void
  /** Told of each effect, after the step. */
  readonly onEffect?: (effect: Effect<F, O, N>) => void
  readonly startMs?: number
}) {
  const { world, step } = options
  /** Requests on their way, in order. */
  const open = new Set<F>()
  const waiting = new Map<number, number>()
  let nowMs = options.startMs ?? 0
  let readCount = 0

  const tell = (event: Event<F, R, I> | X): void => {
    world.nowMs = nowMs
    world.nowMicros = START_MICROS + nowMs * 1000
    step(event)
    const { effects } = world
    world.effects = []
    for (const effect of effects) {
      if (effect.kind === 'ask') open.add(effect.flight)
      else if (effect.kind === 'drop') open.delete(effect.flight)
      else if (effect.kind !== 'note') waiting.delete(effect.read)
      options.onEffect?.(effect)
    }
  }

  const heard = (event: Event<F, R, I> & { readonly flight: F }): void => {
    const { flight } = event
    const { source } = flight
    open.delete(flight)
    source.flights.delete(flight)
    source.heardSentAtMs = Math.max(source.heardSentAtMs, flight.sentAtMs)
    tell(event)
  }

  const times = (): number[] => [
    world.wakeAtMs,
    ...waiting.values(),
    ...[...open].flatMap(({ lateAtMs, endsAtMs }) => [lateAtMs, endsAtMs]),
  ]

  const ring = (): void => {
    const isWaking = world.wakeAtMs <= nowMs
    if (isWaking) world.wakeAtMs = Number.POSITIVE_INFINITY
    for (const flight of [...open]) {
      if (flight.lateAtMs <= nowMs) {
        flight.lateAtMs = Number.POSITIVE_INFINITY
        tell({ kind: 'late', flight })
      }
      if (!open.has(flight) || flight.endsAtMs > nowMs) continue
      drop(world, flight)
      heard({ kind: 'failed', flight, reason: 'no answer', isTimeout: true })
    }
    const reads = [...waiting].flatMap(([id, atMs]) => (atMs <= nowMs ? [id] : []))
    if (reads.length > 0) tell({ kind: 'deadline', reads })
    if (isWaking) tell({ kind: 'woke' })
  }

  return {
    ...{ open, waiting, tell },
    nowMs: () => nowMs,
    begin(input: I, waitMs: number): number {
      const id = ++readCount
      waiting.set(id, nowMs + waitMs)
      tell({ kind: 'began', reads: [{ id, input }] })
      return id
    },
    leave(read: number): void {
      waiting.delete(read)
      tell({ kind: 'left', reads: [read] })
    },
    answer: (flight: F, reply: R) => heard({ kind: 'reply', flight, reply }),
    fail: (flight: F, reason = '') => heard({ kind: 'failed', flight, reason, isTimeout: false }),
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
