/** What the votes on the newest blocks say about the members. Pure. */
import { toHex } from '@quorumscan/base'
import type { CommitInfo } from 'cosmjs-types/tendermint/abci/types'
import { BlockIDFlag } from 'cosmjs-types/tendermint/types/validator'

export type LastCommit = {
  /** In which the block was decided. */
  readonly round: number
  /** Whose votes were there when the next block was proposed, and whose were not: addresses of keys, lower-case hex. */
  readonly present: readonly string[]
  readonly absent: readonly string[]
}

/** Of the block before the one that carries these votes. */
export function readLastCommit({ round, votes }: CommitInfo): LastCommit {
  const addressesOf = (isAbsent: boolean) =>
    votes
      .filter(({ blockIdFlag }) => (blockIdFlag === BlockIDFlag.BLOCK_ID_FLAG_ABSENT) === isAbsent)
      .map(({ validator }) => toHex(validator.address))
  return { round, present: addressesOf(false), absent: addressesOf(true) }
}
