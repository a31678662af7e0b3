/** The option `trust`. Clients load this part if they have one. */
import { type TrustList, type TrustRule, trustRule } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'

/**
 * The rule of the option.
 *
 * @param nodes - The members of the network. Default: they are not known yet.
 * @throws {QuorumscanError} INVALID_ARGUMENT, with what is invalid.
 */
export function checkTrust(
  trust: TrustList,
  nodes?: readonly { readonly name: string }[],
): TrustRule {
  try {
    return trustRule(
      trust,
      nodes?.map(({ name }) => name),
    )
  } catch (cause) {
    throw invalidArgument(`\`trust\`: ${(cause as Error).message}.`, cause)
  }
}
