/**
 * Which requests begin in which turn of the event loop.
 *
 * Node accepts one connection a turn, and goes through all sockets that have something. If every request began
 * as it is read, a turn would be as long as the crowd is large, and a newcomer, as well as who probes our health,
 * would wait for as many turns as connections came before it. So requests stand in line, a turn begins as many as
 * it has time for, and while connections come four moments in five are theirs. One probe of our health goes first in
 * each turn, so that nobody takes a busy process for a dead one; more of them wait as all others do, so that a
 * flood of probes holds up nobody.
 *
 * While many stand in line, a connection that was answered is not read before it is its turn again: what it sends
 * meanwhile waits with the system, and whoever comes anew waits for a short line only.
 */
import type { Clock } from '@quorumscan/base'

/** What a turn has for requests: enough of them that what they ask of others goes out together. */
const TURN_MS = 10
/** What newcomers have in between, in turns that begin nothing. Four thousand that come at once are in within a second. */
const NEWCOMERS_MS = 40
/** Fewer are no crowd: the process itself had no time. */
const TURNS_OF_A_CROWD = 10
/** From so many on, twice what a turn begins, whoever was answered is kept away, … */
const LINE_MAX = 256
/** … and read again where fewer than these wait: what is unread costs nothing, what was read is moved about in memory. */
const LINE_REFILLED = 64
/** To have one of thousands of connections at hand again takes a third of what an answer takes, … */
const ANSWERS_IN_A_ROW_MAX = 6
/** … so that each gets as many while it is as leave the others no longer a wait. Below what is refused for its wait. */
const ROUND_MS_MAX = 1500

/** How many answers a connection of a crowd gets next before it is kept away, after it was away for so long. */
export function nextAnswersInARow(answersInARow: number, awayMs: number): number {
  // The others had as many meanwhile: so long a round takes for each of them.
  const inTime = Math.floor((ROUND_MS_MAX * answersInARow) / awayMs)
  return Math.max(1, Math.min(ANSWERS_IN_A_ROW_MAX, inTime))
}

export type Entrant = {
  /** Its turn has come, after so long a wait for a crowd; 0 where there was none. */
  begin(waitedMs: number): void
  /** It was kept away for so long, and what it sent meanwhile is to be read. */
  comeBack(awayMs: number): void
}

export type Door = {
  /** Has it begin in this turn or a later one; first come, first served, but for one probe a turn. */
  enter(entrant: Entrant, options?: { readonly isProbe: boolean }): void
  /** Whether so many stand in line that it is not read before it is told to come back. */
  keepAway(entrant: Entrant): boolean
  /** A connection was accepted: others may wait behind it. */
  noteNewcomer(): void
}

/** When it came. */
type Arrival = { readonly turn: number; readonly atMs: number }

export function createDoor({ monotonicMs }: Pick<Clock, 'monotonicMs'>): Door {
  const line = new Map<Entrant, Arrival>()
  const away = new Map<Entrant, Arrival>()
  /** In the turn before this. What they send at once has waited for as long as they were away. */
  const cameBack = new Map<Entrant, Arrival>()
  /** Of the line. */
  const probes = new Set<Entrant>()
  let turn = 0
  let isWaitingForTurn = false
  let hasNewcomer = false
  /** Of this moment; null until it has begun. */
  let newcomersUntilMs: number | null = null

  const arriveNow = (): Arrival => ({ turn, atMs: monotonicMs() })

  const waitForTurn = (): void => {
    isWaitingForTurn = line.size + away.size > 0
    if (isWaitingForTurn) setImmediate(takeTurn)
  }

  const takeTurn = (): void => {
    const nowMs = monotonicMs()
    if (hasNewcomer) newcomersUntilMs ??= nowMs + NEWCOMERS_MS
    const isForNewcomers = hasNewcomer && nowMs < (newcomersUntilMs ?? 0)
    hasNewcomer = false
    cameBack.clear()
    if (!isForNewcomers) {
      beginSome(nowMs)
      letSomeBack()
    }
    waitForTurn()
  }

  const letSomeBack = (): void => {
    const nowMs = monotonicMs()
    for (const [entrant, arrival] of away) {
      if (line.size + cameBack.size >= LINE_REFILLED) return
      away.delete(entrant)
      cameBack.set(entrant, arrival)
      entrant.comeBack(nowMs - arrival.atMs)
    }
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
    const arrival = line.get(entrant) ?? arriveNow()
    line.delete(entrant)
    probes.delete(entrant)
    entrant.begin(turn - arrival.turn > TURNS_OF_A_CROWD ? nowMs - arrival.atMs : 0)
  }

  return {
    enter(entrant, { isProbe } = { isProbe: false }) {
      if (!line.has(entrant)) line.set(entrant, cameBack.get(entrant) ?? arriveNow())
      if (isProbe) probes.add(entrant)
      if (!isWaitingForTurn) waitForTurn()
    },
    keepAway(entrant) {
      if (line.size < LINE_MAX && away.size === 0) return false
      away.set(entrant, arriveNow())
      return true
    },
    noteNewcomer() {
      hasNewcomer = true
    },
  }
}
