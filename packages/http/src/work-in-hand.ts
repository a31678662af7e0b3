/**
 * The work that a process has in hand, in units (D-33). Budgets bound what one client asks for; this bounds
 * what all of them together do, so that a process with more to do than it can does what it took on, in
 * time, and refuses the rest before reading it.
 */
import { ScanError } from '@quorumscan/errors'

/** Lookups that a process answers in about half a second: beyond that callers have begun to give up. */
const UNITS_MAX = 4096
/** Beside it peers have as much: what the public asks for keeps no proxy from its answers. */
const UNITS_MAX_WITH_PEERS = 2 * UNITS_MAX

export type WorkInHand = {
  /** @throws {ScanError} OVERLOADED if there is too much already. */
  admit(client: { readonly isPeer: boolean }): void
  begin(units: number): void
  end(units: number): void
}

export function createWorkInHand(): WorkInHand {
  let unitsInHand = 0
  return {
    admit({ isPeer }) {
      if (unitsInHand < (isPeer ? UNITS_MAX_WITH_PEERS : UNITS_MAX)) return
      throw new ScanError('OVERLOADED', 'more is asked for than can be done; wait a moment', {
        retryAfterSeconds: 1,
      })
    },
    begin(units) {
      unitsInHand += units
    },
    end(units) {
      unitsInHand -= units
    },
  }
}
