/** Lets a member vote that lost the record of what it has signed, by order of its operator. */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, waitFor } from '@quorumscan/base'
import { VOTE_ANYWAY_FILE, VOTE_STATE_FILE } from '@quorumscan/cometbft'
import { CommandError } from '@quorumscan/runtime'

/** Its synchronizer looks for the file every two seconds, and may hang for some seconds. */
const TAKEN_MS = 30_000
const LOOK_MS = 200
/** To write one file. */
const DONE_MS = 3000

/**
 * Resolves when the member votes again. It may then sign a height twice, which does no harm while no more than f do.
 *
 * @param home - Of its engine.
 * @throws {CommandError} If it has lost nothing, does not run, or is not needed: nothing has changed then.
 */
export async function letVote(home: string, clock: Clock): Promise<void> {
  const voteState = join(home, VOTE_STATE_FILE)
  const word = join(home, VOTE_ANYWAY_FILE)
  if (existsSync(voteState))
    throw new CommandError('it has what it signed, and votes whenever its engine runs')
  await writeFile(word, '').catch((cause: unknown) => {
    throw new CommandError(`${home} is no directory of an engine`, { cause })
  })
  const isTrue = (condition: () => boolean, timeoutMs: number): Promise<boolean> =>
    waitFor(() => condition() || undefined, {
      clock,
      timeoutMs,
      intervalMs: LOOK_MS,
      what: '',
    }).catch(() => false)
  if (!(await isTrue(() => !existsSync(word), TAKEN_MS))) {
    await rm(word, { force: true })
    throw new CommandError('its synchronizer does not run, or its engine does not answer')
  }
  if (!(await isTrue(() => existsSync(voteState), DONE_MS)))
    throw new CommandError(
      'it was not needed: the others order without it, or have not been stalled for 20 s; it votes by itself when it can',
    )
}
