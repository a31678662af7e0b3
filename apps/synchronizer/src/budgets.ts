/**
 * Who may make the replicas work how much: budgets in units of `priceOfBytes`, by the second.
 *
 * Anybody may submit, and keys cost nothing, so a stranger pays from the budgets of its address, of its key and
 * of all strangers together. What these have is divided among the addresses that ask for it: many can make the
 * share of each small, but none can use up that of another, nor anything of a peer's. Peers, who show a token,
 * pay from budgets of their own. Each key pays too: a super-validator, whose part in a registration is
 * one confirmation, has less than a validator, which submits for its users.
 */
import type { Clock } from '@quorumscan/base'
import type { Rates } from '@quorumscan/config'
import { createBudget } from '@quorumscan/server'

/** Strangers from so many addresses are served at full rate at once. */
const STRANGERS_MAX = 4
const STRANGERS = 'strangers'
/** Who asked within it, or in the span before, has a share. */
const SPAN_MS = 1000
/** Of whom each span remembers so many: beyond them a share is less than an entry costs, anyway. */
const SHARES_MAX = 10_000

/** Whom an entry came from. */
export type Submitter = {
  /** Its address (IPv6: the /48, as a key costs nothing there either), or which peer it is. */
  readonly client: string
  readonly isPeer: boolean
}

export type Budgets = {
  /** Takes units from the submitter, before the entry is looked at. @throws {ScanError} RATE_LIMITED. */
  admit(submitter: Submitter, units: number): void
  /** Takes what the entry turned out to cost beyond that. @throws {ScanError} RATE_LIMITED. */
  charge(submitter: Submitter, units: number): void
  /** Takes the price of an entry from the key that signed it. @throws {ScanError} RATE_LIMITED. */
  admitKey(submitter: Submitter, publicKey: string, units: number): void
  /**
   * Takes from what the other member's engine with this id may have passed on; null: all engines that are not known
   * together. As `charge`. @throws {ScanError} RATE_LIMITED.
   */
  chargeSender(nodeId: string | null, units: number): void
}

export function createBudgets(options: {
  readonly rates: Rates
  readonly operatorKeys: ReadonlySet<string>
  readonly clock: Clock
}): Budgets {
  const { rates, operatorKeys, clock } = options
  const budgetOf = (unitsPerSecond: number) => createBudget({ unitsPerSecond, clock })
  const shares = createShares({ max: rates.stranger, all: STRANGERS_MAX * rates.stranger, clock })
  const strangers = createBudget({ unitsPerSecond: shares.unitsPerSecond, clock })
  const allStrangers = budgetOf(STRANGERS_MAX * rates.stranger)
  const peers = budgetOf(rates.peer)
  const keys = {
    stranger: budgetOf(rates.stranger),
    peer: budgetOf(rates.peer),
    superValidator: budgetOf(rates.superValidator),
  }
  /** What one peer and all strangers may submit to it. */
  const senders = budgetOf(rates.peer + STRANGERS_MAX * rates.stranger)
  const each = (how: 'admit' | 'charge') => (submitter: Submitter, units: number) => {
    if (submitter.isPeer) return peers[how](submitter.client, units)
    shares.note(submitter.client)
    strangers[how](submitter.client, units)
    allStrangers[how](STRANGERS, units)
  }
  return {
    admit: each('admit'),
    charge: each('charge'),
    admitKey({ isPeer }, publicKey, units) {
      const kind = operatorKeys.has(publicKey) ? 'superValidator' : isPeer ? 'peer' : 'stranger'
      keys[kind].admit(publicKey, units)
    },
    chargeSender: (nodeId, units) =>
      nodeId === null ? allStrangers.charge(STRANGERS, units) : senders.charge(nodeId, units),
  }
}

/** What each of those who ask for it may have, of what all of them have together; `max` at most. */
function createShares(options: {
  readonly max: number
  readonly all: number
  readonly clock: Clock
}) {
  const { max, all, clock } = options
  let spanBeganMs = clock.monotonicMs()
  let before = 0
  let holders = new Set<string>()
  const count = () => Math.max(1, before, holders.size)
  return {
    /** Asks, served or not. */
    note(holder: string): void {
      const nowMs = clock.monotonicMs()
      if (nowMs - spanBeganMs >= SPAN_MS) {
        before = nowMs - spanBeganMs < 2 * SPAN_MS ? holders.size : 0
        holders = new Set()
        spanBeganMs = nowMs
      }
      if (holders.size < SHARES_MAX) holders.add(holder)
    },
    unitsPerSecond: () => Math.min(max, all / count()),
  }
}
