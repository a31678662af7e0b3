/** Makes a member vote that lost its vote state, by order of its operator. */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, waitFor } from '@quorumscan/base'
import { FORCE_VOTE_FILE, VOTE_STATE_FILE } from '@quorumscan/cometbft'
import { CommandError } from '@quorumscan/runtime'

/** The synchronizer looks for the file every two seconds, and may hang for some seconds. */
const REQUEST_READ_MS = 30_000
const POLL_MS = 200
/** The engine writes one file. */
const RECORD_WRITTEN_MS = 3000

/**
 * Resolves when the member votes again. It may then sign a height twice, which up to f members may do without harm.
 *
 * @param home - The directory of its engine.
 * @throws {CommandError} If it has its record, does not run, or is not needed: nothing was changed then.
 */
export async function forceVote(home: string, clock: Clock): Promise<void> {
  const voteState = join(home, VOTE_STATE_FILE)
  const forceVoteFile = join(home, FORCE_VOTE_FILE)
  if (existsSync(voteState))
    throw new CommandError(
      'nothing was changed: the member has its record of signed votes, and votes when its engine runs',
    )
  await writeFile(forceVoteFile, '').catch((cause: unknown) => {
    throw new CommandError(`nothing was changed: ${home} is not the directory of an engine`, {
      cause,
    })
  })
  const isTrue = (condition: () => boolean, timeoutMs: number) => {
    const bound = { clock, timeoutMs, intervalMs: POLL_MS, what: '' }
    return waitFor(() => condition() || undefined, bound).catch(() => false)
  }
  if (!(await isTrue(() => !existsSync(forceVoteFile), REQUEST_READ_MS))) {
    await rm(forceVoteFile, { force: true })
    throw new CommandError(
      'the member was not allowed to vote: its synchronizer does not run, or its engine does not answer. Start it, and try again',
    )
  }
  if (!(await isTrue(() => existsSync(voteState), RECORD_WRITTEN_MS)))
    throw new CommandError(
      'the vote is not needed: the other members order without it, or have stalled for less than 20 s. The member votes by itself when it can no longer sign a block twice',
    )
}
