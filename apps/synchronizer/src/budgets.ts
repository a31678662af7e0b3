/**
 * Who may make the replicas work how much: budgets in units of `priceOfBytes`, by the second.
 *
 * Anybody may submit, and keys cost nothing, so a stranger pays from the budgets of its address, of its key and
 * of all strangers together, which many addresses can use up for each other but not for peers. Peers, who show
 * a token, pay from budgets of their own. Each key pays too: a super-validator, whose part in a registration is
 * one confirmation, has less than a validator, which submits for its users.
 */
import type { Clock } from '@quorumscan/base'
import { createBudget } from '@quorumscan/http'

/** Strangers from so many addresses are served at full rate at once. */
const STRANGERS_MAX = 4
const STRANGERS = 'strangers'

/** Whom an entry came from. */
export type Submitter = {
  /** Its address, or which peer it is. */
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
}

export type Rates = {
  /** Units a second for an address without a token, and for a key that submits from there. */
  readonly stranger: number
  /** Units a second for a peer, and for a key that submits through it. */
  readonly peer: number
  /** Units a second for the operator key of a super-validator. */
  readonly superValidator: number
}

export function createBudgets(options: {
  readonly rates: Rates
  readonly operatorKeys: ReadonlySet<string>
  readonly clock: Clock
}): Budgets {
  const { rates, operatorKeys, clock } = options
  const budgetOf = (unitsPerSecond: number) => createBudget({ unitsPerSecond, clock })
  const strangers = budgetOf(rates.stranger)
  const allStrangers = budgetOf(STRANGERS_MAX * rates.stranger)
  const peers = budgetOf(rates.peer)
  const keys = {
    stranger: budgetOf(rates.stranger),
    peer: budgetOf(rates.peer),
    superValidator: budgetOf(rates.superValidator),
  }
  const each = (how: 'admit' | 'charge') => (submitter: Submitter, units: number) => {
    if (submitter.isPeer) return peers[how](submitter.client, units)
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
  }
}
