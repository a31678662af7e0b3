/**
 * What a decider and its driver say to each other.
 *
 * A decider is a pure `step(state, event)`: it changes only its state, which is a `World` and more, and has no clock,
 * no sockets and no randomness. Three exist: certified, voted, and that of Splice networks in the SDK. The driver
 * (`run.ts`) sets the times of the world, calls `step`, and carries out the effects that `step` has pushed.
 */
import type { Flight, Source } from '../source/source.ts'

/** A time that does not come. */
export const NEVER: number = Number.POSITIVE_INFINITY

/** A read as the driver hands it in; `id` names it until it is done. */
export type Begun<I> = { readonly id: number; readonly input: I }

export type Event<F, R, I> =
  /** Reads of one moment. */
  | { readonly kind: 'began'; readonly reads: readonly Begun<I>[] }
  /** Their callers left, or the time that they may wait has passed. A decider ends the latter. */
  | { readonly kind: 'left' | 'deadline'; readonly reads: readonly number[] }
  | { readonly kind: 'reply'; readonly flight: F; readonly reply: R }
  /** `isTimeout`: the request took too long, and was given up. */
  | {
      readonly kind: 'failed'
      readonly flight: F
      readonly reason: string
      readonly isTimeout: boolean
    }
  /** The request takes longer than expected. The decider may set `lateAtMs` again. */
  | { readonly kind: 'late'; readonly flight: F }
  /** It is, or is past, `World.wakeAtMs`. */
  | { readonly kind: 'woke' }

/** @typeParam N - Facts to be noted outside, such as a fork. */
export type Effect<F, O, N> =
  /** Of a flight that `send` has begun. */
  | { readonly kind: 'ask'; readonly flight: F }
  /** The answer is not waited for any more. */
  | { readonly kind: 'drop'; readonly flight: F }
  | { readonly kind: 'note'; readonly fact: N }
  | { readonly kind: 'done'; readonly read: number; readonly outcome: O }

/** What the driver and a decider share. Written in place: a step allocates only its effects. */
export type World<F, O, N> = {
  /** Monotonic, without the time in which this process stalled. */
  nowMs: number
  nowMicros: number
  /** When the decider wants to be woken; infinite: never. It says so again each time. */
  wakeAtMs: number
  /** All that can be asked. */
  readonly sources: Source<F>[]
  /** Of this step, in order. */
  effects: Effect<F, O, N>[]
}

export function createWorld<F, O, N>(sources: Source<F>[]): World<F, O, N> {
  return {
    nowMs: 0,
    nowMicros: 0,
    wakeAtMs: NEVER,
    sources,
    effects: [],
  }
}

/** Begins a request. */
export function send<F extends Flight<F>, O, N>({ effects }: World<F, O, N>, flight: F): void {
  flight.source.flights.add(flight)
  flight.source.counters.requests++
  effects.push({ kind: 'ask', flight })
}

/** Gives a request up. */
export function drop<F extends Flight<F>, O, N>({ effects }: World<F, O, N>, flight: F): void {
  if (flight.source.flights.delete(flight)) effects.push({ kind: 'drop', flight })
}

/** Lets the decider be woken no later. */
export function wakeBy(world: Pick<World<never, never, never>, 'wakeAtMs'>, atMs: number): void {
  world.wakeAtMs = Math.min(world.wakeAtMs, atMs)
}
