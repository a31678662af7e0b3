/** Taking the nodes' answers into the rounds of the items, checked where they are signed (D-35, D-42). */

import type { Reply } from '../answers/reply.ts'
import { checkAnswer } from '../answers/signed-answers.ts'
import type { CryptoPort } from '../crypto/crypto.ts'
import { type Link, noteError } from '../nodes/link.ts'
import { type Item, STANDING } from '../reader/item.ts'
import { type ItemsWork, isVoteWanted, type Receiver, roundAt } from '../reader/node-requests.ts'
import type { SignedAnswer } from '../reader/reader-options.ts'
import type { HistoryPoint } from '../statements/statements.ts'
import type { Decisions } from './decisions.ts'
import { castVote, type Vote } from './tally.ts'

type Ask = Pick<ItemsWork, 'items' | 'pin'>

export function createReceiver(options: {
  readonly genesisHash: string
  /** Of the node behind a connection, hex. */
  readonly crypto: CryptoPort
  readonly decisions: Decisions
  /** A valid answer at the offset that was asked for. */
  readonly onPoint: (link: Link, point: HistoryPoint) => void
  readonly onStatement: ((statement: SignedAnswer) => void) | undefined
  /** The item has one vote, or one hope, more or less. */
  readonly decide: (item: Item) => void
}): Receiver {
  const { decisions } = options

  const receive: Receiver = ({ work, link, reply }) => {
    if (reply.kind !== 'answer') {
      standAside(work, link, reply)
      return
    }
    if (work.atOffset !== null && reply.point.offset !== work.atOffset) {
      reject(work, link, 'answered another offset')
      return
    }
    const isSigned = work.isSigned(link)
    const votes = work.votesOf(reply, isSigned)
    if (votes === undefined) {
      reject(work, link, 'malformed answer')
      return
    }
    const take = isSigned ? takeSigned : takeVote
    if (!isSigned && work.atOffset !== null) options.onPoint(link, reply.point)
    for (const [index, item] of work.items.entries()) {
      const vote = votes.votes[index] as Vote // As many votes as items, by `votesOf`.
      take({ work, link, item, vote, signature: votes.signatures?.[index] ?? null })
    }
  }

  /** An answer with status 200 that is no vote. */
  const reject = (ask: Ask, link: Link, reason: string): void => {
    noteError(link, reason)
    standAside(ask, link, { kind: 'failed', reason })
  }

  /** The node does not vote on these. */
  const standAside = (
    ask: Ask,
    link: Link,
    reply: Exclude<Reply, { readonly kind: 'answer' }>,
  ): void => {
    for (const item of ask.items) {
      const round = roundAt(item, ask.pin)
      if (round === undefined || !isVoteWanted(item, ask.pin, link)) continue
      // A node that pruned the offset is of no use for it, and a lower one would not help either.
      const isLagging = reply.kind === 'lagging' && reply.reason === 'not-reached'
      round.standings[link.index] = isLagging ? STANDING.lagging : STANDING.failed
      round.reasons.set(link.index, reply.reason)
      options.decide(item)
    }
  }

  type Taking = {
    readonly work: ItemsWork
    readonly link: Link
    readonly item: Item
    readonly vote: Vote
    readonly signature: string | null
  }

  const takeVote = ({ work, link, item, vote, signature }: Taking): void => {
    if (!decisions.isVote(vote)) return
    if (item.isDone) {
      noteLateVote(item, link, vote)
      return
    }
    const round = roundAt(item, work.pin)
    if (round === undefined || round.standings[link.index] === STANDING.voted) return
    round.standings[link.index] = STANDING.voted
    round.reasons.delete(link.index)
    if (signature !== null) round.signatures.set(link.index, signature)
    link.counters.votes++
    const group = castVote(round.ballot, { voter: link.index, vote }, decisions.isSameVote)
    // One more equal vote below the threshold decides nothing where nobody dissented or failed.
    const isQuiet = round.ballot.groups.length === 1 && round.reasons.size === 0
    if (!isQuiet || group.voters.length >= item.threshold) options.decide(item)
  }

  const takeSigned = (taking: Taking): void => {
    const { work, link, item, vote, signature } = taking
    const { genesisHash, crypto } = options
    const answer = { genesisHash, item, vote, node: link.name, signature }
    checkAnswer({ ...answer, crypto, scanKey: link.scanKey }).then((statement) => {
      if (statement === null) {
        reject({ items: [item], pin: work.pin }, link, 'signature of another key')
        return
      }
      options.onStatement?.(statement)
      if (work.atOffset !== null) options.onPoint(link, vote)
      takeVote(taking)
    }, item.fail)
  }

  const noteLateVote = (item: Item, link: Link, vote: Vote): void => {
    if (item.decided === null || item.decided.offset !== vote.offset) return
    link.counters.votes++
    if (!decisions.isSameVote(item.decided, vote)) link.counters.dissents++
  }

  return receive
}
