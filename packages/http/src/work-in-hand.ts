/**
 * The work that a process has in hand (D-33). Budgets bound what one client asks for; this bounds what all
 * of them together do, so that a process with more to do than it can does what it took on, in time, and
 * refuses the rest before reading it.
 *
 * What waits for others is counted in units. What is answered from memory never waits, and is never in hand
 * beside anything else: what queues behind it sits in sockets. So a turn of the event loop, in which Node
 * goes through all sockets that have something, is bounded as well.
 */
import { ScanError } from '@quorumscan/errors'

/** Lookups that a process answers in about half a second: beyond that callers have begun to give up. */
const UNITS_MAX = 4096
/** As much of one turn: of processor time, as a machine that gives us none is no crowd of callers. */
const TURN_CPU_MS_MAX = 500
/** Peers have more by so much: what the public asks for keeps no proxy from its answers. */
const PEER_FACTOR = 2

export type WorkInHand = {
  /** @throws {ScanError} OVERLOADED if there is too much already. */
  admit(client: { readonly isPeer: boolean }): void
  begin(units: number): void
  end(units: number): void
}

export function createWorkInHand(): WorkInHand {
  let unitsInHand = 0
  let turnBegan: NodeJS.CpuUsage | null = null

  const turnCpuMs = (): number => {
    if (turnBegan === null) {
      turnBegan = process.cpuUsage()
      setImmediate(() => {
        turnBegan = null
      })
    }
    const { user, system } = process.cpuUsage(turnBegan)
    return (user + system) / 1000
  }

  return {
    admit({ isPeer }) {
      const factor = isPeer ? PEER_FACTOR : 1
      if (unitsInHand < factor * UNITS_MAX && turnCpuMs() < factor * TURN_CPU_MS_MAX) return
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
