/** Why no seed gave the genesis that is pinned: out of reach, of another network, or no scan node at all. */

import type { SeedAnswer } from '@quorumscan/reader'
import { type GenesisError, toHex, utf8 } from '@quorumscan/verifier'
import { sha256 } from '@quorumscan/verifier/certified'
import { isQuorumscanError, QuorumscanError } from '../errors.ts'
import { wrongGenesis } from '../genesis-pin.ts'
import { parseJson } from '../http/http-failures.ts'

/** That one seed lies, or is misconfigured, is said first; then that somebody may be back later. */
export function genesisError(error: GenesisError): QuorumscanError {
  const { errors } = Object(error.cause) as { readonly errors?: readonly Error[] }
  const own = errors?.find(isQuorumscanError) // A scan proxy was asked.
  if (own !== undefined) return own
  const answers = (errors ?? []).flatMap(({ cause }) => (isAnswer(cause) ? [cause] : []))
  const other = answers.find((answer) => answer.status === 200 && isGenesis(answer.text))
  if (other !== undefined)
    return wrongGenesis(
      `${other.seed} serves the genesis document ${toHex(sha256(utf8(other.text)))}, not the one that is pinned. Never take the hash from a seed: compare it with what the members of the network publish.`,
      error,
    )
  const isAway = answers.length === 0 || errors?.length !== answers.length
  const noNode = answers.find(({ status }) => status < 500 && status !== 429)
  const facts = { definite: true, cause: error }
  if (isAway || noNode === undefined)
    return new QuorumscanError(
      `No scan node can be reached: ${(errors ?? [error]).map(reasonOf).join('; ')}. Check the network, then the seeds.`,
      { ...facts, code: 'NETWORK_ERROR', retryable: true },
    )
  return new QuorumscanError(
    `${noNode.seed} is no scan node: it answers GET /v0/genesis with status ${noNode.status}${noNode.status === 200 ? ' and something else' : ''}. Check the seeds.`,
    { ...facts, code: 'INVALID_RESPONSE', status: noNode.status, retryable: false },
  )
}

function reasonOf({ message, cause }: Error): string {
  const { message: why } = Object(cause) as { readonly message?: unknown }
  return typeof why === 'string' ? `${message} (${why})` : message
}

function isAnswer(cause: unknown): cause is SeedAnswer {
  return typeof Object(cause).seed === 'string'
}

/** Valid or not: it means to be one. */
function isGenesis(text: string): boolean {
  return Array.isArray(Object(parseJson(text)).nodes)
}
