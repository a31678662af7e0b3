/** Turning a judged item into what its caller gets, where the votes decided. The rest is in `undecided.ts`. */
import type { Link } from '../nodes/link.ts'
import type { Decided, Participation } from './outcome.ts'
import type { Ballot, Group } from './tally.ts'

export function participation(input: {
  readonly threshold: number
  readonly ballot: Ballot
  readonly group: Group | undefined
  readonly links: readonly Link[]
  /** n of the genesis. */
  readonly nodeCount: number
}): Participation {
  const { ballot, group, links } = input
  return {
    threshold: input.threshold,
    nodeCount: input.nodeCount,
    answered: ballot.votedCount,
    agreed: namesOf(group?.voters ?? [], links),
    dissented: namesOf(
      ballot.groups.flatMap((other) => (other === group ? [] : other.voters)),
      links,
    ),
  }
}

export function decidedOutcome(
  input: Parameters<typeof participation>[0] & {
    readonly group: Group
    readonly signatures: Decided['signatures']
    readonly isAbsent: boolean
    readonly isTrusted: boolean
  },
): Decided {
  const prefix = input.isTrusted ? 'trusted' : 'verified'
  return {
    kind: input.isAbsent ? `${prefix}-absent` : prefix,
    ...input.group.vote,
    signatures: input.signatures,
    ...participation(input),
  }
}

/** In order of the genesis. */
export function namesOf(voters: readonly number[], links: readonly Link[]): string[] {
  return links.filter(({ index }) => voters.includes(index)).map(({ name }) => name)
}
