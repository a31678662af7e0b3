/**
 * The protocol between a decider and its driver.
 *
 * A decider is a deterministic `step(state, event)`. It updates only its state, which extends `DeciderContext`, and has
 * no clock and no sockets, and no randomness but what its state is given. Two use this protocol: certified and voted. The driver (`run.ts`) sets the times
 * of the context, calls `step`, and performs the effects that `step` has pushed.
 */
import { endFlight, type Flight, type Source } from '../source/source.ts'
import { createTimes, type Times } from './proven-time.ts'

/** A time that never comes. */
export const NEVER: number = Number.POSITIVE_INFINITY

/**
 * What belongs to each read, by its id.
 *
 * Neither a `Map` nor a `Set` holds what comes and goes with each read. Both replace their table each time that it fills
 * up, and in V8 the former table refers to the next one. Once a former table is in the old generation, no collection of
 * the young generation frees any later table or its members: that took a third of the time of a reader under load.
 */
export type ByRead<T> = Record<number, T>

/** A new read. `id` names it until it is done. */
export type Begun<I> = { readonly id: number; readonly input: I }

export type Event<F, R, I> =
  /** Reads of one moment. */
  | { readonly kind: 'began'; readonly reads: readonly Begun<I>[] }
  /** `left`: their callers aborted. `deadline`: they have waited as long as they may, and the decider must end them. */
  | { readonly kind: 'left' | 'deadline'; readonly reads: readonly number[] }
  | { readonly kind: 'reply'; readonly flight: F; readonly reply: R }
  /** `isTimeout`: the request took too long and was aborted. */
  | {
      readonly kind: 'failed'
      readonly flight: F
      readonly reason: string
      readonly isTimeout: boolean
    }
  /** The request takes longer than expected. The decider may set `lateAtMs` again. */
  | { readonly kind: 'late'; readonly flight: F }
  /** `DeciderContext.wakeAtMs` has passed. */
  | { readonly kind: 'woke' }

/** @typeParam N - Facts to report outside the decider, such as a fork. */
export type Effect<F, O, N> =
  /** Sends the request of a flight that `send` has added. */
  | { readonly kind: 'ask'; readonly flight: F }
  /** Aborts a request. */
  | { readonly kind: 'drop'; readonly flight: F }
  | { readonly kind: 'note'; readonly fact: N }
  | { readonly kind: 'done'; readonly read: number; readonly outcome: O }

/** What the driver and a decider share. Written in place: a step allocates only its effects. */
export type DeciderContext<F, O, N> = Times & {
  /** When to send `woke`; infinite: never. The driver resets it each time. */
  wakeAtMs: number
  /** All nodes that can be asked. */
  readonly sources: Source<F>[]
  /** Effects of this step, in order. */
  effects: Effect<F, O, N>[]
}

export function createDeciderContext<F, O, N>(sources: Source<F>[]): DeciderContext<F, O, N> {
  return { ...createTimes(), wakeAtMs: NEVER, sources, effects: [] }
}

/** Begins a request. */
export function send<F extends Flight<F>, O, N>({ effects }: DeciderContext<F, O, N>, flight: F) {
  flight.source.flights.push(flight)
  flight.source.counters.requests++
  effects.push({ kind: 'ask', flight })
}

/** Aborts a request. */
export function drop<F extends Flight<F>, O, N>({ effects }: DeciderContext<F, O, N>, flight: F) {
  if (endFlight(flight)) effects.push({ kind: 'drop', flight })
}

/** Asks for `woke` no later than this. */
export function wakeBy(
  context: Pick<DeciderContext<never, never, never>, 'wakeAtMs'>,
  atMs: number,
): void {
  context.wakeAtMs = Math.min(context.wakeAtMs, atMs)
}
