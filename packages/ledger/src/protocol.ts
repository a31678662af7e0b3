/** The protocol version of a replica. */
import { assert } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Ledger } from './ports.ts'
import { payloadOf } from './registry.ts'
import { dsoRules, protocolVersionAt } from './templates/dso-rules.ts'

export type Protocol = {
  /** The version in force at the head. */
  readonly version: number
  /** The next version, which was voted for and is not in force yet. */
  readonly next: { readonly version: number; readonly notBefore: Micros } | null
}

export async function readProtocol(
  ledger: Pick<Ledger, 'head' | 'contractsByKey'>,
): Promise<Protocol> {
  const [rules] = await ledger.contractsByKey('singleton:DsoRules')
  assert(rules !== undefined, 'the genesis creates DsoRules')
  const payload = payloadOf(dsoRules, rules)
  const version = protocolVersionAt(payload, ledger.head().recordTime)
  const { nextVersion } = payload
  return { version, next: nextVersion?.version === version ? null : nextVersion }
}
