/** Pruning in a running cluster: the validator's participant forgets updates, a scan node moves its horizon. */

import type { Clock } from '@quorumscan/base'
import type { DataDirectory } from '@quorumscan/operator'
import { createToken, FIRST_ADMIN_USER } from '@quorumscan/operator'
import { ask, CommandError } from '@quorumscan/runtime'
import { VALIDATOR } from '../rig/cluster-shape.ts'
import { call, connectControl } from './client.ts'

const TOKEN_TTL_SECONDS = 300
/** Pruning a long history takes out some 100 000 updates a second. */
const REQUEST_TIMEOUT_MS = 60_000

/**
 * @param options.to - Of the validator the last offset that is forgotten, of a node the first that is kept.
 * @returns The same of what is in force now: what was pruned before stays so.
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

/** An administrator's call to the ledger interface. */
async function pruneParticipant(
  directory: DataDirectory,
  options: { readonly to: number; readonly clock: Clock },
): Promise<number> {
  const { validator } = await call(connectControl(directory).cluster.status.query())
  const token = await createToken(directory, {
    user: FIRST_ADMIN_USER,
    ttlSeconds: TOKEN_TTL_SECONDS,
    clock: options.clock,
  })
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
