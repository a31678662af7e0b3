/**
 * Which member may rebuild a replica that other software wrote: one after the other, in the order of their names.
 * Pure. No member grants a turn: each reports its phase and reads the phases of all others. A member that is about to
 * begin first reports that it claims its turn and reads again, so that of two members at least one sees the other.
 */

/** The phase that a member reports before it rebuilds. */
export type Phase = 'waits' | 'claims'

/**
 * The report of a member: it `serves`, waits, claims its turn, or `rebuilds` (also while it starts or catches up), or has
 * something `else`; `silent` if it does not answer.
 */
export type Report = Phase | 'serves' | 'rebuilds' | 'else' | 'silent'

export type Other = {
  readonly name: string
  readonly report: Report
  /** How long it has been silent, ms; 0 if it answered in the last round. */
  readonly silentMs: number
  /** How long altogether this member has waited for it, ms. */
  readonly keptMs: number
}

/** A silent member delays others no longer than this. A member that restarts answers again within it. */
export const SILENT_MS_MAX = 30_000
/** A member whose replica does not recover, or that lies, delays others no longer than this: the largest rebuild is shorter. */
export const KEPT_MS_MAX = 900_000

/** The next phase of this member, and the members that keep it from beginning. */
export function stepTurn(
  own: { readonly name: string; readonly phase: Phase },
  others: readonly Other[],
): { readonly next: Phase | 'begins'; readonly keepers: readonly string[] } {
  const keepers = others.filter((other) => keeps(own, other))
  const isBefore = ({ name, report }: Other) => report === 'claims' && name < own.name
  const next = () => {
    if (own.phase === 'waits') return keepers.length === 0 ? 'claims' : 'waits'
    if (keepers.some(isBefore)) return 'waits'
    return keepers.length === 0 ? 'begins' : 'claims'
  }
  return { next: next(), keepers: keepers.map(({ name }) => name) }
}

function keeps(own: { readonly name: string; readonly phase: Phase }, other: Other): boolean {
  if (other.keptMs > KEPT_MS_MAX) return false
  switch (other.report) {
    case 'serves':
    case 'else':
      return false
    case 'silent':
      return other.silentMs <= SILENT_MS_MAX
    case 'claims':
    case 'rebuilds':
      return true
    case 'waits':
      // A member that claims its turn goes before those that wait, whatever their names.
      return own.phase === 'waits' && other.name < own.name
  }
}

/** Updates what is known of a member after a round that ended `ms` after the one before. */
export function noteReport(
  before: Other,
  round: { readonly report: Report; readonly ms: number; readonly wasKeeper: boolean },
): Other {
  const { report, ms, wasKeeper } = round
  return {
    name: before.name,
    report,
    silentMs: report === 'silent' ? before.silentMs + ms : 0,
    keptMs: before.keptMs + (wasKeeper ? ms : 0),
  }
}
