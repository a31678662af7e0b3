/** Pruning in a running cluster: the validator's participant deletes updates, a scan node moves its horizon. */

import type { Clock } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { createToken, FIRST_ADMIN_USER } from '@quorumscan/operator'
import { ask, CommandError } from '@quorumscan/runtime'
import { VALIDATOR } from '../rig/cluster-shape.ts'
import { call, connectControl } from './client.ts'

/** Pruning deletes some 100 000 updates per second. */
const REQUEST_TIMEOUT_MS = 60_000

/**
 * @param options.to - Of the validator the last offset that is deleted, of a node the first that stays.
 * @returns The same, as it is now in force: an earlier pruning may have gone further.
 * @throws {CommandError} If the process does not answer, or refuses.
 */
export async function prune(
  directory: DataDirectory,
  options: { readonly node: string; readonly to: number; readonly clock: Clock },
): Promise<number> {
  const { node, to } = options
  if (node === VALIDATOR) return await pruneParticipant(directory, options)
  return (await call(connectControl(directory).nodes.prune.mutate({ node, to }))).horizon
}

/** A call to the ledger interface as the administrator. */
async function pruneParticipant(
  directory: DataDirectory,
  options: { readonly to: number; readonly clock: Clock },
): Promise<number> {
  const { validator } = await call(connectControl(directory).cluster.status.query())
  const token = await createToken(directory, { user: FIRST_ADMIN_USER, clock: options.clock })
  const { status, body, text } = await ask(`${validator.url}/v2/participant/prune`, {
    timeoutMs: REQUEST_TIMEOUT_MS,
    token,
    body: { pruneUpTo: options.to },
  })
  const { cause = text, participantPrunedUpToInclusive } = Object(body)
  if (status === null) throw new CommandError('the validator does not answer')
  if (status !== 200) throw new CommandError(`the validator refused: ${cause}`)
  return Number(participantPrunedUpToInclusive)
}
