/** `/v0/dso` through the proxy: what the nodes share, and the first that agreed (D-10). */
import { isScanAnswer } from '@quorumscan/api'
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { Decided } from '@quorumscan/reader'
import type { Genesis } from '@quorumscan/verifier'

type SuperValidator = { readonly name: string; readonly party: string }

/**
 * Whether a node's answer names every node of the genesis as a super-validator, as the rules of this
 * network always do. Where f = 0 one node decides alone, and may say anything.
 */
export function isSharedDso(body: unknown, genesis: Genesis): boolean {
  if (!isScanAnswer('getDso', body)) return false
  const svs = superValidatorsOf(body)
  return genesis.nodes.every((node) => svs.some(({ name }) => name === node.name))
}

/** The agreed answer, known to be `isSharedDso`, with the members of the first agreeing node before it. */
export function sharedDsoAnswer(outcome: Pick<Decided, 'answer' | 'agreed'>): Uint8Array {
  const shared: object = JSON.parse(fromUtf8(outcome.answer))
  const sv = superValidatorsOf(shared).find(({ name }) => name === outcome.agreed[0])
  assert(sv !== undefined, 'a node of the genesis is a super-validator of the rules')
  const own = { sv_user: sv.name, sv_party_id: sv.party }
  // First, as a node has them, and whatever the nodes that agreed may have said there.
  return utf8(JSON.stringify({ ...own, ...shared, ...own }))
}

function superValidatorsOf(body: unknown): SuperValidator[] {
  const svs: unknown = Object(Object(body).dso_rules).contract?.payload?.svs
  return Array.isArray(svs) ? svs.filter(isSuperValidator) : []
}

function isSuperValidator(value: unknown): value is SuperValidator {
  const { name, party } = Object(value)
  return typeof name === 'string' && typeof party === 'string'
}
