/**
 * Whether the engine of this member votes. If the record of what it has signed is lost, it follows until it cannot sign a
 * height twice (`voting.ts`), or until its operator forces the vote.
 */
import { existsSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyPair } from '@quorumscan/base'
import { type Logger, writeFileAtomic } from '@quorumscan/runtime'
import type { MemberSet } from '@quorumscan/verifier'
import { FORCE_VOTE_FILE, nodeIdOf, VOTE_STATE_FILE, voteStateAt } from './engine-files.ts'
import type { Member } from './member.ts'
import { BLOCKS_LOOKED_AT, stepVoting, type Voting } from './voting.ts'

export function createVotingGuard(options: {
  /** The home of the engine. */
  readonly home: string
  /** Null: the member has no vote. */
  readonly votingKey: KeyPair | null
  readonly set: Pick<MemberSet, 'quorum'>
  readonly logger: Logger
}) {
  const { home, votingKey, set, logger } = options
  const stateFile = join(home, VOTE_STATE_FILE)
  const forceVoteFile = join(home, FORCE_VOTE_FILE)
  const address = votingKey === null ? '' : nodeIdOf(votingKey.publicKey)
  let voting: Voting | null = null
  if (votingKey !== null)
    voting = existsSync(stateFile) ? { kind: 'votes' } : { kind: 'follows', untilHeight: null }

  return {
    /** What the engine votes with when it starts; null: it follows. */
    engineKey: (): KeyPair | null => (voting?.kind === 'votes' ? votingKey : null),
    /** Returns whether the engine votes from now on, and must be restarted for it. */
    async check(seen: {
      readonly peerHeights: readonly number[]
      readonly isStalled: boolean
      readonly member: Pick<Member, 'head' | 'voteHeightOf'>
    }): Promise<boolean> {
      const { peerHeights: memberHeights, isStalled, member } = seen
      if (voting?.kind !== 'follows') return false
      const { height } = member.head()
      const isWanted = existsSync(forceVoteFile)
      if (isWanted) await unlink(forceVoteFile)
      const isForced = isWanted && isStalled
      if (isWanted) logger.warn({ height, isForced }, 'received a request to force the vote')
      const event = { isForced, height, memberHeights, set }
      const next = stepVoting(voting, { ...event, ownVoteHeight: member.voteHeightOf(address) })
      if (next.kind === 'key-in-use')
        logger.error({ height: next.height }, describeKeyInUse(next.height))
      // It votes only once it is written from which height on: an engine without that file signs from the first.
      if (next.kind === 'votes') writeFileAtomic(stateFile, voteStateAt(height))
      voting = next
      if (next.kind !== 'votes') return false
      logger.info({ height, isForced }, 'restarting the engine, which votes again')
      return true
    },
    /** A sentence for an operator; null while it votes, or has no vote. */
    describe(isStalled: boolean): string | null {
      if (voting?.kind === 'follows') return describeFollowing(voting.untilHeight, isStalled)
      return voting?.kind === 'key-in-use' ? describeKeyInUse(voting.height) : null
    },
  }
}

export type VotingGuard = ReturnType<typeof createVotingGuard>

function describeFollowing(untilHeight: number | null, isStalled: boolean): string {
  if (isStalled)
    return 'the record of signed votes is lost, and the other members cannot order without this vote. Run `quorumscan cometbft vote NODE` to force it'
  const until =
    untilHeight === null
      ? 'when enough other members have reported their height'
      : `at block ${untilHeight + BLOCKS_LOOKED_AT}`
  return `the record of signed votes is lost: the engine follows, and votes again ${until}`
}

function describeKeyInUse(height: number): string {
  return (
    `another machine votes with the same key (block ${height}), so this engine does not vote. ` +
    'Stop one of the two permanently, then restart this one'
  )
}
