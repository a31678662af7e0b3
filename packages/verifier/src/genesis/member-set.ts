import { blockQuorumOf, type Genesis, type GenesisNode, maxFaulty, quorumOf } from './genesis.ts'

/** The members of a network at an offset, and how many of them are enough. */
export type MemberSet = {
  /** 1: the members of the genesis. They are the members at every offset, until members can change. */
  readonly number: number
  /** In the order of the genesis. */
  readonly members: readonly GenesisNode[]
  readonly n: number
  /** How many of them may be down, or lie. */
  readonly f: number
  /** Confirmations that an action of the operator party needs, and the threshold `strong`. */
  readonly quorum: number
  /** Votes that a block needs, where all members order together. */
  readonly blockQuorum: number
  /** The member whose operator key this is, in hex; undefined: it is no member's. */
  memberOfKey(operatorKey: string): GenesisNode | undefined
}

/** The members of a genesis. Nothing else reads its `nodes`, once the document has been checked. */
export function memberSetOf({ nodes: members }: Pick<Genesis, 'nodes'>): MemberSet {
  const n = members.length
  return {
    number: 1,
    members,
    n,
    f: maxFaulty(n),
    quorum: quorumOf(n),
    blockQuorum: blockQuorumOf(n),
    memberOfKey: (key) => members.find(({ operatorKey }) => operatorKey === key),
  }
}
