/** The state of an engine, derived from what it and its peers report. Pure. */

import { ScanError } from '@quorumscan/errors'
import type { MemberSet } from '@quorumscan/verifier'

export type EngineReading =
  /** It did not answer. */
  | { readonly kind: 'unreachable' }
  | {
      readonly kind: 'up'
      /** It fetches blocks that others decided. */
      readonly isCatchingUp: boolean
      /** The height that each connected member works on. */
      readonly peerHeights: readonly number[]
    }

/**
 * `halted`: its peers order, and it does not: it has a block that it cannot apply, or could not write.
 * `stalled`: no member orders, as too few are connected.
 */
export type EngineState = 'unavailable' | 'catching-up' | 'live' | 'stalled' | 'halted'

export type EngineHistory = {
  readonly state: EngineState
  /** The height of the newest block that was published, and since when it has been the newest. */
  readonly height: number
  readonly sinceMs: number
}

/** A block comes within some seconds, even if a few proposers in a row are down. */
export const STUCK_MS = 20_000
export const ENGINE_START: EngineHistory = { state: 'unavailable', height: 0, sinceMs: 0 }

export function stepEngine(
  history: EngineHistory,
  event: {
    readonly reading: EngineReading
    readonly height: number
    /** Monotonic. */
    readonly nowMs: number
    readonly set: Pick<MemberSet, 'f'>
  },
): EngineHistory {
  const { reading, height, nowMs } = event
  const sinceMs =
    height === history.height && history.state !== 'unavailable' ? history.sinceMs : nowMs
  const next = (state: EngineState): EngineHistory => ({ state, height, sinceMs })
  if (reading.kind === 'unreachable') return next('unavailable')
  if (reading.isCatchingUp) return next('catching-up')
  if (nowMs - sinceMs < STUCK_MS) return next('live')
  // At least one of so many is honest. A member that works on the height after the next one has decided the next one.
  const believed = reading.peerHeights.toSorted((a, b) => b - a)[event.set.f]
  return next((believed ?? 0) > height + 1 ? 'halted' : 'stalled')
}

/** From one restart of a stalled engine to the next. */
export const RESTART_MS = 30_000

/**
 * Whether the engine must be restarted. An engine that cannot write, as on a full disk, ends its consensus and continues to
 * answer: only a restart lets it take part again. It is not restarted while too few members are connected to decide a
 * block, as it waits for them.
 */
export function isRestartDue(
  { state, sinceMs }: EngineHistory,
  event: {
    readonly reading: EngineReading
    /** Monotonic. */
    readonly nowMs: number
    /** Time of the last restart for this reason. */
    readonly restartedMs: number
    readonly set: Pick<MemberSet, 'quorum'>
  },
): boolean {
  if (event.nowMs - Math.max(sinceMs, event.restartedMs) < RESTART_MS) return false
  if (state === 'halted') return true
  const others = event.reading.kind === 'up' ? event.reading.peerHeights.length : 0
  return state === 'stalled' && others >= event.set.quorum - 1
}

/** Why an engine has no peers. The last reason is the likeliest for a new one. */
export const NO_PEERS =
  'no other engine is connected. The other engines are down, cannot be reached, or refuse this one because they lack its member file (QS_MEMBERS)'

/** Why no entries are accepted, or null. While no member orders they are accepted, and wait in the engine. */
export function refusalOf(state: EngineState, hasNoPeers: boolean): ScanError | null {
  const later = { retryAfterSeconds: 1 }
  switch (state) {
    case 'unavailable':
      return new ScanError('DEPENDENCY_UNAVAILABLE', 'the engine is not available', later)
    case 'catching-up':
      return new ScanError(
        'NOT_READY',
        hasNoPeers ? NO_PEERS : 'the engine fetches what the others ordered',
        { details: { state }, ...later },
      )
    case 'halted':
      return new ScanError(
        'ORDERING_HALTED',
        "this engine cannot apply the blocks that the other members order; see the engine's log",
      )
    default:
      return null
  }
}
