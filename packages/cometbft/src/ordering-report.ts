/** How the members order together, as one of them sees it, by the votes on the newest blocks. Pure. */
import { toHex } from '@quorumscan/base'
import type { OrderingReport } from '@quorumscan/runtime'
import type { CometbftOrdering } from '@quorumscan/verifier'
import type { CommitInfo } from 'cosmjs-types/tendermint/abci/types'
import { BlockIDFlag } from 'cosmjs-types/tendermint/types/validator'
import { nodeIdOf } from './engine-files.ts'

export type LastCommit = ReturnType<typeof readLastCommit>

/** The votes on the block before the one that carries them. */
export function readLastCommit({ round, votes }: CommitInfo) {
  const addressesOf = (isAbsent: boolean) =>
    votes
      .filter(({ blockIdFlag }) => (blockIdFlag === BlockIDFlag.BLOCK_ID_FLAG_ABSENT) === isAbsent)
      .map(({ validator }) => toHex(validator.address))
  return {
    /** The round in which the block was decided. */
    round,
    /** Addresses of the keys whose votes the proposer of the next block had, and of the others: lower-case hex. */
    present: addressesOf(false),
    absent: addressesOf(true),
  }
}

/** Reports members by their names in the genesis; engines of other processes are left out. */
export function reportOrdering(seen: {
  readonly ordering: CometbftOrdering
  readonly height: number
  readonly lastCommit: LastCommit | null
  /** Ids of engines. */
  readonly connected: readonly string[]
}): OrderingReport {
  const { ordering, height, lastCommit, connected } = seen
  const namesOf = (isMeant: (validator: CometbftOrdering['validators'][number]) => boolean) =>
    ordering.validators.filter(isMeant).map(({ name }) => name)
  return {
    height,
    round: lastCommit?.round ?? null,
    connected: namesOf(({ nodeId }) => connected.includes(nodeId)),
    // An engine's id and the address of a key are made of their keys in the same way.
    absent: namesOf(({ key }) => lastCommit?.absent.includes(nodeIdOf(key)) === true),
  }
}

/** Why no block comes. */
export function describeStall({ validators }: CometbftOrdering, report: OrderingReport): string {
  return `nothing is ordered: of ${validators.length} members, this engine is connected to ${report.connected.length}`
}
