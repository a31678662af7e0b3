/** Pruning in a running cluster: the validator's participant forgets updates, a scan node moves its horizon. */
import type { Clock } from '@quorumscan/base'
import { ClusterError } from './cluster-error.ts'
import { call, connectControl } from './control/client.ts'
import type { DataDirectory } from './data-directory.ts'
import { createToken, FIRST_ADMIN_USER } from './token.ts'

const TOKEN_TTL_SECONDS = 300
/** Pruning a long history takes out some 100 000 updates a second. */
const REQUEST_TIMEOUT_MS = 60_000
export const VALIDATOR = 'validator'

/**
 * @param options.to - Of the validator the last offset that is forgotten, of a node the first that is kept.
 * @returns The same of what is in force now: what was pruned before stays so.
 * @throws {ClusterError} If the process does not answer, or refuses.
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
  const response = await fetch(`${validator.url}/v2/participant/prune`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ pruneUpTo: options.to }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new ClusterError('the validator does not answer', { cause })
  })
  const text = await response.text()
  if (!response.ok) throw new ClusterError(`the validator refused: ${causeOf(text)}`)
  return Number(JSON.parse(text).participantPrunedUpToInclusive)
}

function causeOf(text: string): string {
  try {
    return String(JSON.parse(text).cause)
  } catch {
    // Not JSON: the text says it.
    return text
  }
}
