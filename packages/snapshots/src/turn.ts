/**
 * Decides which member may rebuild a replica of another layout: one member at a time, in the order of their names.
 * Pure. No member grants a turn. Each member reports its phase and reads the phases of all others. A member that is about
 * to begin first reports that it claims its turn, and reads again. So of two such members at least one sees the other.
 */

/** The phase that a member reports before it rebuilds. */
export type Phase = 'waits' | 'claims'

/**
 * The phase of another member: `ready`, waits, claims its turn, or `rebuilds` (also while it starts or catches up).
 * `other`: it is not ready for another reason. `unreachable`: it does not answer.
 */
export type PeerPhase = Phase | 'ready' | 'rebuilds' | 'other' | 'unreachable'

export type TurnPeer = {
  readonly name: string
  readonly report: PeerPhase
  /** How long the peer has not answered, ms; 0 if it answered in the last round. */
  readonly unreachableMs: number
  /** How long in total the peer has blocked this member, ms. */
  readonly blockedMs: number
}

/** An unreachable member delays others no longer than this. A member that restarts answers again within it. */
export const UNREACHABLE_MS_MAX = 30_000
/** A member whose replica does not recover, or that lies, delays others no longer than this: the largest rebuild is shorter. */
export const BLOCKED_MS_MAX = 900_000

/** The next phase of this member, and the members that block it. */
export function nextPhase(
  own: { readonly name: string; readonly phase: Phase },
  others: readonly TurnPeer[],
): { readonly next: Phase | 'begins'; readonly blockers: readonly string[] } {
  const blockers = others.filter((other) => blocks(own, other))
  const isBefore = ({ name, report }: TurnPeer) => report === 'claims' && name < own.name
  const next = () => {
    if (own.phase === 'waits') return blockers.length === 0 ? 'claims' : 'waits'
    if (blockers.some(isBefore)) return 'waits'
    return blockers.length === 0 ? 'begins' : 'claims'
  }
  return { next: next(), blockers: blockers.map(({ name }) => name) }
}

function blocks(own: { readonly name: string; readonly phase: Phase }, other: TurnPeer): boolean {
  if (other.blockedMs > BLOCKED_MS_MAX) return false
  switch (other.report) {
    case 'ready':
    case 'other':
      return false
    case 'unreachable':
      return other.unreachableMs <= UNREACHABLE_MS_MAX
    case 'claims':
    case 'rebuilds':
      return true
    case 'waits':
      // A member that claims its turn goes before those that wait, whatever their names.
      return own.phase === 'waits' && other.name < own.name
  }
}

/** Updates the state of a peer after a round that ended `ms` after the previous one. */
export function recordReport(
  before: TurnPeer,
  round: { readonly report: PeerPhase; readonly ms: number; readonly wasBlocker: boolean },
): TurnPeer {
  const { report, ms, wasBlocker } = round
  return {
    name: before.name,
    report,
    unreachableMs: report === 'unreachable' ? before.unreachableMs + ms : 0,
    blockedMs: before.blockedMs + (wasBlocker ? ms : 0),
  }
}
