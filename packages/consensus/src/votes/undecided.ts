/** What a read that was not decided ends in (D-38), and what every node had to do with it. */

import { parseJson } from '../answers/reply.ts'
import type { CryptoPort } from '../crypto/crypto.ts'
import { toHex } from '../encoding/bytes.ts'
import type { Link } from '../nodes/link.ts'
import { type Item, type Round, STANDING } from '../reader/item.ts'
import { namesOf, participation } from './decided.ts'
import type { Disputed, Insufficient, Lagging, NodeVote, Outcome, VoteGroup } from './outcome.ts'
import { createBallot, type Group, largestGroup } from './tally.ts'

const DIGEST_DIGITS = 16
const NAME_LENGTH_MAX = 60 // D-17.
const PARTY_LENGTH_MAX = 255 // D-30.
const GROUPS_MAX = 16 // A liar cannot make more groups than there are nodes; this bounds the body.
const RETRY_AFTER_MS = { 'not-reached': 250, stale: 1000, floor: 250 } as const

/** How a read ends without an answer, as far as it is judged. */
export type Ending =
  | Pick<Disputed, 'kind' | 'reason'>
  | Pick<Insufficient, 'kind'>
  | Pick<Lagging, 'kind' | 'wantedOffset' | 'headOffset'>

/** What was known when the item ended. */
export type Ended = {
  readonly item: Item
  /** Undefined if the item was never asked. */
  readonly round: Round | undefined
  /** The group that decided, or the largest. */
  readonly group: Group | undefined
  readonly links: readonly Link[]
  readonly nodeCount: number
  readonly nowMs: number
  /** By connection: why its vote could not be expected. */
  readonly whys: readonly (string | null)[]
  /** By connection: asked for its head, it answered something else. */
  readonly headless: readonly boolean[]
}

export async function undecidedOutcome(
  ended: Ended,
  ending: Ending,
  crypto: CryptoPort,
): Promise<Outcome> {
  const { item, round } = ended
  const part = {
    ...participation({
      ...ended,
      threshold: item.threshold,
      ballot: round?.ballot ?? createBallot(),
    }),
    ...(item.explain ? { votes: nodeVotes(ended) } : {}),
  }
  switch (ending.kind) {
    case 'disputed':
      return { ...ending, groups: await voteGroups(ended, crypto), ...part }
    case 'insufficient': {
      const reachable = reachableCount(ended)
      const needed = item.threshold
      const retryAfterMs = refusedMs(ended, needed - reachable)
      return { ...ending, reachable, needed, retryAfterMs, ...part }
    }
    case 'lagging': {
      const reason =
        item.staleAgeMs !== null ? 'stale' : round === undefined ? 'floor' : 'not-reached'
      const retryAfterMs = RETRY_AFTER_MS[reason]
      return { ...ending, reason, ageMs: item.staleAgeMs, retryAfterMs, ...part }
    }
  }
}

/** One per node, for `explain`. */
export function nodeVotes(ended: Ended): NodeVote[] {
  return ended.links.map((link) => nodeVote(link, ended))
}

function reachableCount({ round, links, whys, headless, nowMs }: Ended): number {
  const isUsable = ({ index, refusesUntilMs = 0 }: Link): boolean => {
    const standing = round?.standings[index]
    if (standing === STANDING.voted || standing === STANDING.lagging) return true
    if (standing === STANDING.failed) return false
    return whys[index] === null && headless[index] === false && refusesUntilMs <= nowMs
  }
  return links.filter(isUsable).length
}

/** How long until so many of the nodes that refuse no longer do; null if they are fewer. */
function refusedMs({ links, nowMs }: Ended, missingCount: number): number | null {
  const waits = links
    .map(({ refusesUntilMs = 0 }) => Math.ceil(refusesUntilMs - nowMs))
    .filter((ms) => ms > 0)
  return waits.sort((a, b) => a - b)[Math.max(missingCount, 1) - 1] ?? null
}

async function voteGroups({ item, round, links }: Ended, crypto: CryptoPort): Promise<VoteGroup[]> {
  const largestFirst = [...(round?.ballot.groups ?? [])].sort(
    (a, b) => b.voters.length - a.voters.length,
  )
  return Promise.all(
    largestFirst.slice(0, GROUPS_MAX).map(async (group) => ({
      ...(await voteGroup(group, links, crypto)),
      // A page has none, and one that did not win is not parsed.
      entry: item.asked.kind === 'lookup' ? entryOf(group.vote.answer) : null,
    })),
  )
}

async function voteGroup(
  group: Group,
  links: readonly Link[],
  crypto: CryptoPort,
): Promise<Omit<VoteGroup, 'entry'>> {
  const { offset, recordTime, historyHash, answer } = group.vote
  const digest = toHex(await crypto.sha256(answer)).slice(0, DIGEST_DIGITS)
  const nodes = namesOf(group.voters, links)
  return { nodes, offset, recordTime, historyHash, answerDigest: digest }
}

/** Of a valid lookup answer; null for anything else. */
function entryOf(answer: Uint8Array): VoteGroup['entry'] {
  const entry = Object(Object(parseJson(answer)).entry)
  return typeof entry.name === 'string' && typeof entry.user === 'string'
    ? { name: entry.name.slice(0, NAME_LENGTH_MAX), user: entry.user.slice(0, PARTY_LENGTH_MAX) }
    : null
}

function nodeVote(link: Link, { round, group, whys }: Ended): NodeVote {
  const base = { node: link.name, url: link.url, head: link.head }
  const reason = round?.reasons.get(link.index) ?? null
  switch (round?.standings[link.index]) {
    case STANDING.voted: {
      const deciding = group ?? (round && largestGroup(round.ballot))
      const kind = deciding?.voters.includes(link.index) ? 'agreed' : 'dissented'
      return { ...base, kind, reason: null }
    }
    case STANDING.lagging:
      return { ...base, kind: 'lagging', reason }
    case STANDING.failed:
      return { ...base, kind: 'failed', reason }
    default: {
      const why = whys[link.index] ?? null
      return why === null
        ? { ...base, kind: 'silent', reason: null }
        : { ...base, kind: 'failed', reason: why }
    }
  }
}
