/**
 * What becomes of an item as votes come in and hopes fade (D-38): an answer, a second round, or one of the
 * outcomes without an answer. The counting is in `tally.ts`; here is what follows from it.
 */

import { isAnswer } from '../answers/is-answer.ts'
import type { CryptoPort } from '../crypto/crypto.ts'
import { maxFaulty } from '../genesis/genesis.ts'
import { type Link, noteError } from '../nodes/link.ts'
import { type ClaimedHeads, claimedHead } from '../votes/claimed-heads.ts'
import { decidedOutcome } from '../votes/decided.ts'
import type { Decisions } from '../votes/decisions.ts'
import type { Histories } from '../votes/histories.ts'
import type { Decided } from '../votes/outcome.ts'
import type { OwnHistory } from '../votes/own-history.ts'
import { type Group, judge, largestGroup, strikeGroup, type Verdict } from '../votes/tally.ts'
import { type Ended, type Ending, nodeVotes, undecidedOutcome } from '../votes/undecided.ts'
import type { Usability } from '../votes/usability.ts'
import type { ActiveItems } from './active-items.ts'
import type { Floor } from './floor.ts'
import { type Item, isPruned, isSelfPinned, type Round, STANDING } from './item.ts'
import type { ReaderClock } from './reader-options.ts'

const MALFORMED = 'malformed answer'
/** How long the own replica may hold up an answer; it is compared afterwards too. */
const LOCAL_HASH_WAIT_MS = 50

export type ItemDecider = {
  /** Ends the item, or begins its second round, if what is known suffices. */
  decide(item: Item): void
  /** Ends the item: the nodes are not there yet. `round` is undefined if it was never asked. */
  lag(item: Item, round: Round | undefined): void
}

export function createItemDecider(options: {
  readonly links: readonly Link[]
  readonly nodeCount: number
  readonly clock: ReaderClock
  readonly crypto: CryptoPort
  readonly decisions: Decisions
  readonly active: ActiveItems
  readonly heads: ClaimedHeads
  readonly histories: Pick<Histories, 'isFork'>
  readonly local: Pick<OwnHistory, 'isUndecided'> | undefined
  readonly floor: Floor
  readonly usability: Usability
  /** Begins the second round; false if there was one, or none could do better. */
  readonly repin: (item: Item, round: Round) => boolean
}): ItemDecider {
  const { links, nodeCount, clock, decisions, active, heads, histories, floor } = options
  const { usability, repin } = options

  const decide = (item: Item): void => {
    if (item.isDone) return
    const current = item.rounds.at(-1)
    for (const round of item.rounds) {
      const verdict = judgeRound(item, round)
      if (verdict.kind === 'open') continue
      if (verdict.kind === 'decided') {
        if (isHeldForLocal(round)) return
        if (decideOrNoteStale(item, round, verdict.group)) return
      }
      if (verdict.kind === 'disputed' && (round === current || verdict.reason === 'fork'))
        giveUp(item, round, verdict)
      else if (round !== current)
        continue // The second round may still decide.
      else if (verdict.kind === 'insufficient') {
        // What was pruned can be read at a newer offset: nobody is gone.
        if (!isPruned(round) || !repin(item, round)) giveUp(item, round, verdict)
      }
      // Lagging, or agreed on something too old: once more, lower or newer.
      else if (!repin(item, round)) lag(item, round)
      return
    }
    const isHopeless =
      current === undefined && usability.unusableCount(item) > nodeCount - item.threshold
    if (isHopeless) giveUp(item, undefined, { kind: 'insufficient' })
  }

  const judgeRound = (item: Item, round: Round): Verdict => {
    let unusable = 0
    let lagging = 0
    for (const link of links) {
      const standing = round.standings[link.index]
      if (standing === STANDING.voted) continue
      if (standing === STANDING.lagging) lagging++
      else if (standing === STANDING.failed || usability.why(item, link) !== null) unusable++
    }
    const verdict = judge(round.ballot, {
      nodeCount,
      threshold: item.threshold,
      unusableCount: unusable,
      laggingCount: lagging,
      isFork: round.pin !== null && histories.isFork(round.pin),
    })
    // Parsed only here, where enough nodes said the same: what one of them sends costs nothing.
    if (verdict.kind !== 'decided' || isAnswer(item.asked, verdict.group.vote)) return verdict
    strikeGroup(round.ballot, verdict.group)
    for (const voter of verdict.group.voters) {
      round.standings[voter] = STANDING.failed
      round.reasons.set(voter, MALFORMED)
      noteError(links[voter] as Link, MALFORMED) // Voters are links.
    }
    return judgeRound(item, round)
  }

  const isHeldForLocal = (round: Round): boolean =>
    round.pin !== null &&
    options.local?.isUndecided(round.pin) === true &&
    clock.monotonicMs() - round.startedAtMs < LOCAL_HASH_WAIT_MS

  const decideOrNoteStale = (item: Item, round: Round, group: Group): boolean => {
    const { recordTime, offset } = group.vote
    const nowMicros = clock.nowMicros()
    const age = { recordTime, nowMicros, maxAgeMs: item.maxAgeMs }
    if (!isSelfPinned(item) && decisions.isStale(age)) {
      item.staleAgeMs = Math.ceil((nowMicros - recordTime) / 1000)
      return false
    }
    for (const other of round.ballot.groups)
      if (other !== group) for (const voter of other.voters) countDissent(voter)
    item.decided = group.vote
    if (!isSelfPinned(item)) floor.raise(offset)
    const outcome = decidedOutcome({
      ...{ group, links, nodeCount, threshold: item.threshold, ballot: round.ballot },
      signatures: signaturesOf(round, group),
      isAbsent: decisions.isAbsence(group.vote, nowMicros),
      isTrusted: maxFaulty(nodeCount) === 0,
    })
    const ended = item.explain ? note(item, round, group) : null
    active.finish(item)
    item.deliver(ended === null ? outcome : { ...outcome, votes: nodeVotes(ended) })
    return true
  }

  const countDissent = (voter: number): void => {
    const link = links[voter]
    if (link !== undefined) link.counters.dissents++
  }

  const signaturesOf = (round: Round, group: Group): Decided['signatures'] =>
    round.signatures.size === 0
      ? []
      : group.voters
          .toSorted((a, b) => a - b)
          .flatMap((voter) => {
            const signature = round.signatures.get(voter)
            return signature === undefined ? [] : [[(links[voter] as Link).name, signature]]
          })

  /** What is known of the item now. */
  const note = (item: Item, round: Round | undefined, group: Group | undefined): Ended => ({
    ...{ item, round, group, links, nodeCount, nowMs: clock.monotonicMs() },
    // Who told its head answers, even where time ran out before anything else was asked.
    whys: links.map((link) =>
      round === undefined && heads.isFresh(link) ? null : usability.why(item, link),
    ),
    headless: links.map(heads.isHeadless),
  })

  const giveUp = (item: Item, round: Round | undefined, ending: Ending): void => {
    const ended = note(item, round, round && largestGroup(round.ballot))
    active.finish(item)
    undecidedOutcome(ended, ending, options.crypto).then(item.deliver, item.fail)
  }

  const lag = (item: Item, round: Round | undefined): void =>
    giveUp(item, round, {
      kind: 'lagging',
      wantedOffset: Math.max(round?.pin ?? 0, floor.value(), item.minOffset),
      headOffset: claimedHead(heads, item.threshold),
    })

  return { decide, lag }
}
