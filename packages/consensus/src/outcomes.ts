/** Turning a judged item into what its caller gets. */
import { toHex } from './bytes.ts'
import type { CryptoPort } from './crypto.ts'
import { type Item, type Round, STANDING } from './item.ts'
import type { Link } from './links.ts'
import type { Decided, Disputed, NodeVote, Participation, VoteGroup } from './outcome.ts'
import { parseJson } from './reply.ts'
import { type Group, largestGroup } from './tally.ts'

const DIGEST_DIGITS = 16
const NAME_LENGTH_MAX = 60 // D-17.
const PARTY_LENGTH_MAX = 255 // D-30.
const GROUPS_MAX = 16 // A liar cannot make more groups than there are nodes; this bounds the body.

export function participation(input: {
  readonly item: Item
  /** Undefined before the item was asked. */
  readonly round: Round | undefined
  readonly group: Group | undefined
  readonly links: readonly Link[]
  readonly nodeCount: number
  readonly whyUnusable: (link: Link) => string | null
}): Participation {
  const { item, round, group, links } = input
  const base = {
    threshold: item.threshold,
    nodeCount: input.nodeCount,
    answered: round?.ballot.votedCount ?? 0,
    agreed: namesOf(group?.voters ?? [], links),
    dissented: namesOf(
      (round?.ballot.groups ?? []).flatMap((other) => (other === group ? [] : other.voters)),
      links,
    ),
  }
  if (!item.explain) return base
  return { ...base, votes: links.map((link) => nodeVote(link, round, group, input.whyUnusable)) }
}

export function decidedOutcome(input: {
  readonly participation: Participation
  readonly round: Round
  readonly group: Group
  readonly links: readonly Link[]
  readonly isAbsent: boolean
  readonly isTrusted: boolean
}): Decided {
  const { vote, voters } = input.group
  const prefix = input.isTrusted ? 'trusted' : 'verified'
  return {
    kind: input.isAbsent ? `${prefix}-absent` : prefix,
    answer: vote.answer,
    offset: vote.offset,
    recordTime: vote.recordTime,
    historyHash: vote.historyHash,
    signatures:
      input.round.signatures.size === 0
        ? []
        : sorted(voters).flatMap((voter) => {
            const signature = input.round.signatures.get(voter)
            return signature === undefined ? [] : [[nameOf(voter, input.links), signature]]
          }),
    ...input.participation,
  }
}

export async function disputedOutcome(input: {
  readonly participation: Participation
  readonly reason: Disputed['reason']
  readonly round: Round
  readonly links: readonly Link[]
  readonly crypto: CryptoPort
}): Promise<Disputed> {
  const largestFirst = [...input.round.ballot.groups].sort(
    (a, b) => b.voters.length - a.voters.length,
  )
  const groups = await Promise.all(
    largestFirst.slice(0, GROUPS_MAX).map((group) => voteGroup(group, input.links, input.crypto)),
  )
  return { kind: 'disputed', reason: input.reason, groups, ...input.participation }
}

async function voteGroup(
  group: Group,
  links: readonly Link[],
  crypto: CryptoPort,
): Promise<VoteGroup> {
  const { offset, recordTime, historyHash, answer } = group.vote
  const digest = toHex(await crypto.sha256(answer)).slice(0, DIGEST_DIGITS)
  const nodes = namesOf(group.voters, links)
  return { nodes, offset, recordTime, historyHash, answerDigest: digest, entry: entryOf(answer) }
}

/** Of a valid lookup answer; null for anything else. */
function entryOf(answer: Uint8Array): VoteGroup['entry'] {
  const entry = Object(Object(parseJson(answer)).entry)
  return typeof entry.name === 'string' && typeof entry.user === 'string'
    ? { name: entry.name.slice(0, NAME_LENGTH_MAX), user: entry.user.slice(0, PARTY_LENGTH_MAX) }
    : null
}

function nodeVote(
  link: Link,
  round: Round | undefined,
  group: Group | undefined,
  whyUnusable: (link: Link) => string | null,
): NodeVote {
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
      const why = whyUnusable(link)
      return why === null
        ? { ...base, kind: 'silent', reason: null }
        : { ...base, kind: 'failed', reason: why }
    }
  }
}

function namesOf(voters: readonly number[], links: readonly Link[]): string[] {
  return sorted(voters).map((voter) => nameOf(voter, links))
}

function nameOf(voter: number, links: readonly Link[]): string {
  return (links[voter] as Link).name // Voters are positions of `links`.
}

function sorted(voters: readonly number[]): number[] {
  return [...voters].sort((a, b) => a - b)
}
