/** Turning a judged item into what its caller gets, where the votes decided. The rest is in `undecided.ts`. */
import type { Item, Round } from './item.ts'
import type { Link } from './links.ts'
import type { Decided, Participation } from './outcome.ts'
import type { Group } from './tally.ts'

export function participation(input: {
  readonly item: Item
  /** Undefined before the item was asked. */
  readonly round: Round | undefined
  readonly group: Group | undefined
  readonly links: readonly Link[]
  /** n of the genesis. */
  readonly nodeCount: number
}): Participation {
  const { item, round, group, links } = input
  return {
    threshold: item.threshold,
    nodeCount: input.nodeCount,
    answered: round?.ballot.votedCount ?? 0,
    agreed: namesOf(group?.voters ?? [], links),
    dissented: namesOf(
      (round?.ballot.groups ?? []).flatMap((other) => (other === group ? [] : other.voters)),
      links,
    ),
  }
}

export function decidedOutcome(input: {
  readonly item: Item
  readonly round: Round
  readonly group: Group
  readonly links: readonly Link[]
  readonly nodeCount: number
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
    ...participation(input),
  }
}

/** In order of the genesis. */
export function namesOf(voters: readonly number[], links: readonly Link[]): string[] {
  return sorted(voters).map((voter) => nameOf(voter, links))
}

function nameOf(voter: number, links: readonly Link[]): string {
  return (links[voter] as Link).name // Voters are positions of `links`.
}

function sorted(voters: readonly number[]): number[] {
  return [...voters].sort((a, b) => a - b)
}
