/**
 * Which requests begin in which turn of the event loop.
 *
 * Node accepts one connection a turn, and goes through all sockets that have something. If every request began
 * as it is read, a turn would be as long as the crowd is large, and a newcomer, as well as who probes our health,
 * would wait for as many turns as connections came before it. So requests stand in line, a turn begins as many as
 * it has time for, and while connections come four moments in five are theirs. One probe of our health goes first in
 * each turn, so that nobody takes a busy process for a dead one; more of them wait as all others do, so that a
 * flood of probes holds up nobody.
 */
import type { Clock } from '@quorumscan/base'

/** What a turn has for requests: enough of them that what they ask of others goes out together. */
const TURN_MS = 10
/** What newcomers have in between, in turns that begin nothing. Four thousand that come at once are in within a second. */
const NEWCOMERS_MS = 40
/** Fewer are no crowd: the process itself had no time. */
const TURNS_OF_A_CROWD = 10

export type Entrant = {
  /** Its turn has come, after so long a wait for a crowd; 0 where there was none. */
  begin(waitedMs: number): void
}

export type Door = {
  /** Has it begin in this turn or a later one; first come, first served, but for one probe a turn. */
  enter(entrant: Entrant, options?: { readonly isProbe: boolean }): void
  /** A connection was accepted: others may wait behind it. */
  noteNewcomer(): void
}

export function createDoor({ monotonicMs }: Pick<Clock, 'monotonicMs'>): Door {
  /** With when each came. */
  const line = new Map<Entrant, { readonly turn: number; readonly atMs: number }>()
  /** Of the line. */
  const probes = new Set<Entrant>()
  let turn = 0
  let isWaitingForTurn = false
  let hasNewcomer = false
  /** Of this moment; null until it has begun. */
  let newcomersUntilMs: number | null = null

  const waitForTurn = (): void => {
    isWaitingForTurn = line.size > 0
    if (isWaitingForTurn) setImmediate(takeTurn)
  }

  const takeTurn = (): void => {
    const nowMs = monotonicMs()
    if (hasNewcomer) newcomersUntilMs ??= nowMs + NEWCOMERS_MS
    const isForNewcomers = hasNewcomer && nowMs < (newcomersUntilMs ?? 0)
    hasNewcomer = false
    if (!isForNewcomers) beginSome(nowMs)
    waitForTurn()
  }

  const beginSome = (nowMs: number): void => {
    newcomersUntilMs = null
    turn++
    const [probe] = probes
    if (probe !== undefined) begin(probe, nowMs)
    for (const entrant of line.keys()) {
      begin(entrant, nowMs)
      if (monotonicMs() - nowMs >= TURN_MS) return
    }
  }

  const begin = (entrant: Entrant, nowMs: number): void => {
    const came = line.get(entrant) ?? { turn, atMs: nowMs }
    line.delete(entrant)
    probes.delete(entrant)
    entrant.begin(turn - came.turn > TURNS_OF_A_CROWD ? nowMs - came.atMs : 0)
  }

  return {
    enter(entrant, { isProbe } = { isProbe: false }) {
      if (!line.has(entrant)) line.set(entrant, { turn, atMs: monotonicMs() })
      if (isProbe) probes.add(entrant)
      if (!isWaitingForTurn) waitForTurn()
    },
    noteNewcomer() {
      hasNewcomer = true
    },
  }
}
