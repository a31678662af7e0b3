/**
 * Who may rebuild a replica that other software wrote: one super-validator after the other, in the order of their names.
 * Pure. Nobody grants a turn: each tells what it does, and looks at what all others tell. Who is about to begin says so
 * first and looks again then, so that of two who begin at the same time one at least sees the other.
 */

/** What a member tells others that has to rebuild, until it does. */
export type Phase = 'waits' | 'claims'

/**
 * What a member tells: that it `serves`, waits, claims its turn, or `rebuilds` (as whoever starts or catches up); that
 * something `else` is wrong with it; or nothing.
 */
export type Told = Phase | 'serves' | 'rebuilds' | 'else' | 'silent'

export type Other = {
  readonly name: string
  readonly told: Told
  /** How long it has been silent, ms; 0 if it was heard last. */
  readonly silentMs: number
  /** How long altogether this member has waited for it, ms. */
  readonly keptMs: number
}

/** Who is dead holds nobody up any longer; one that restarts is heard again within it. */
export const SILENT_MS_MAX = 30_000
/** Nor does one whose replica does not come back, or who lies: longer than the largest takes. */
export const KEPT_MS_MAX = 900_000

/** What is to be done next, and who keeps this member from beginning. */
export function stepTurn(
  own: { readonly name: string; readonly phase: Phase },
  others: readonly Other[],
): { readonly next: Phase | 'begins'; readonly keepers: readonly string[] } {
  const keepers = others.filter((other) => keeps(own, other))
  const isBefore = ({ name, told }: Other) => told === 'claims' && name < own.name
  const next = () => {
    if (own.phase === 'waits') return keepers.length === 0 ? 'claims' : 'waits'
    if (keepers.some(isBefore)) return 'waits'
    return keepers.length === 0 ? 'begins' : 'claims'
  }
  return { next: next(), keepers: keepers.map(({ name }) => name) }
}

function keeps(own: { readonly name: string; readonly phase: Phase }, other: Other): boolean {
  if (other.keptMs > KEPT_MS_MAX) return false
  switch (other.told) {
    case 'serves':
    case 'else':
      return false
    case 'silent':
      return other.silentMs <= SILENT_MS_MAX
    case 'claims':
    case 'rebuilds':
      return true
    case 'waits':
      // Who claims has its turn before those who come later, whatever their names.
      return own.phase === 'waits' && other.name < own.name
  }
}

/** What is known of a member, after it told this in a round that ended `ms` after the one before. */
export function noteTold(
  before: Other,
  round: { readonly told: Told; readonly ms: number; readonly wasKeeper: boolean },
): Other {
  const { told, ms, wasKeeper } = round
  return {
    name: before.name,
    told,
    silentMs: told === 'silent' ? before.silentMs + ms : 0,
    keptMs: before.keptMs + (wasKeeper ? ms : 0),
  }
}
