/** Turning a judged item into what its caller gets, where the votes decided.  */
import type { Decided, Participation } from './outcome.ts'
import type { Ballot, Group } from './tally.ts'

/** A node whose position is its vote's. */
type Voter = { readonly index: number; readonly name: string }

export function participation(input: {
  readonly threshold: number
  readonly ballot: Ballot
  readonly group: Group | undefined
  readonly nodes: readonly Voter[]
  /** n of the genesis. */
  readonly nodeCount: number
}): Participation {
  const { ballot, group, nodes } = input
  return {
    threshold: input.threshold,
    nodeCount: input.nodeCount,
    answered: ballot.votedCount,
    agreed: namesOf(group?.voters ?? [], nodes),
    dissented: namesOf(
      ballot.groups.flatMap((other) => (other === group ? [] : other.voters)),
      nodes,
    ),
  }
}

export function decidedOutcome(
  input: Parameters<typeof participation>[0] & {
    readonly group: Group
    readonly isAbsent: boolean
    readonly isTrusted: boolean
  },
): Decided {
  const prefix = input.isTrusted ? 'trusted' : 'verified'
  return {
    kind: input.isAbsent ? `${prefix}-absent` : prefix,
    ...input.group.vote,
    ...participation(input),
  }
}

/** In order of the genesis. */
export function namesOf(voters: readonly number[], nodes: readonly Voter[]): string[] {
  return nodes.filter(({ index }) => voters.includes(index)).map(({ name }) => name)
}
