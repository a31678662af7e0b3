/**
 * How far each member has proven that it follows the log: the newest state that it signed as f + 1 members did, itself
 * included. So at least one honest member signed the same state, and a member that signs wrong states, or repeats old
 * ones, makes no progress (D-87).
 */
import type { Clock } from '@quorumscan/base'
import type { SignedState } from '@quorumscan/verifier/certified'

/** The newest state of a member that f + 1 members signed. */
export type Progress = Pick<SignedState, 'offset' | 'recordTime'>

type Member = {
  newest: Progress | null
  /**
   * Monotonic time since which f + 1 others have signed a newer state, and this member has signed nothing that they
   * signed; null: it has signed the newest such state.
   */
  behindSinceMs: number | null
}

/** @param needed - f + 1. */
export function createMemberProgress(options: {
  readonly names: readonly string[]
  readonly needed: number
  readonly clock: Pick<Clock, 'monotonicMs'>
}) {
  const { names, needed, clock } = options
  const members = new Map<string, Member>(
    names.map((name) => [name, { newest: null, behindSinceMs: null }]),
  )
  /** The newest state that f + 1 members signed. */
  let newest: Progress = { offset: -1, recordTime: 0 }

  return {
    /** @param signers - All that signed this state, as far as is known. */
    note({ offset, recordTime }: Progress, signers: ReadonlySet<string>): void {
      if (signers.size < needed) return
      if (offset > newest.offset) newest = { offset, recordTime }
      const nowMs = clock.monotonicMs()
      for (const [name, member] of members) {
        const reached = member.newest?.offset ?? -1
        if (signers.has(name) && offset > reached) {
          member.newest = { offset, recordTime }
          member.behindSinceMs = offset < newest.offset ? nowMs : null
        } else if (offset > reached) member.behindSinceMs ??= nowMs
      }
    },
    /** The newest state that the member signed as f + 1 members did; null: there was none since the process started. */
    newestOf: (name: string): Progress | null => members.get(name)?.newest ?? null,
    /** How much older its newest state is than that of f + 1 members, by record time in µs; null: it has none. */
    lagMicros(name: string): number | null {
      const own = members.get(name)?.newest ?? null
      return own === null ? null : newest.recordTime - own.recordTime
    },
    /** For how long f + 1 others have signed newer states while this member signed nothing; 0: it signs as they do. */
    unsignedMs(name: string): number {
      const sinceMs = members.get(name)?.behindSinceMs ?? null
      return sinceMs === null ? 0 : clock.monotonicMs() - sinceMs
    },
  }
}
