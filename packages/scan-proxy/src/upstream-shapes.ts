/** Answers that upstream's proxy has in another shape than nodes (D-10, D-16), and what an answer must hold. Pure. */

import { isScanAnswer, type ResponseOf, type scanRoutes } from '@quorumscan/api'
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { Decided } from '@quorumscan/reader'
import type { Genesis } from '@quorumscan/verifier'
import { memberOf, memberSetOf, membersOf } from '@quorumscan/verifier'

type Answer = Pick<Decided, 'answer'>
type Rules = ResponseOf<typeof scanRoutes.getAmuletRules>
type Rounds = ResponseOf<typeof scanRoutes.getOpenAndIssuingMiningRounds>
type SuperValidator = { readonly name: string; readonly party: string }

/** Whether a node's answer has the rules themselves: the request named no cached rules. */
export function isCompleteRules(body: unknown): boolean {
  return (
    isScanAnswer('getAmuletRules', body) && (body as Rules).amulet_rules_update.contract !== null
  )
}

/** The same as `isCompleteRules`, for every round. */
export function isCompleteRounds(body: unknown): boolean {
  if (!isScanAnswer('getOpenAndIssuingMiningRounds', body)) return false
  const { open_mining_rounds: open, issuing_mining_rounds: issuing } = body as Rounds
  const rounds = [...Object.values(open), ...Object.values(issuing)]
  return rounds.every(({ contract }) => contract !== null)
}

/** The rules in upstream's shape. The answer must satisfy `isCompleteRules`. */
export function rulesAnswer({ answer }: Answer): Uint8Array {
  const { amulet_rules_update: rules }: Rules = JSON.parse(fromUtf8(answer))
  return utf8(JSON.stringify({ amulet_rules: rules }))
}

/** The rounds in upstream's shape. The answer must satisfy `isCompleteRounds`. */
export function roundsAnswer({ answer }: Answer): Uint8Array {
  const { open_mining_rounds: open, issuing_mining_rounds: issuing }: Rounds = JSON.parse(
    fromUtf8(answer),
  )
  const rounds = {
    open_mining_rounds: Object.values(open),
    issuing_mining_rounds: Object.values(issuing),
  }
  return utf8(JSON.stringify(rounds))
}

/**
 * Whether a node's answer names every node of the genesis as a super-validator, as the rules of this
 * network always do. Where f = 0 one node decides alone, with any answer.
 */
export function isSharedDso(body: unknown, genesis: Genesis): boolean {
  if (!isScanAnswer('getDso', body)) return false
  const svs = superValidatorsOf(body)
  return memberSetOf(genesis).members.every((node) => svs.some(({ name }) => name === node.name))
}

/** The agreed answer (see `isSharedDso`), preceded by `sv_user` and `sv_party_id` of the first agreeing node. */
export function sharedDsoAnswer(outcome: Pick<Decided, 'answer' | 'agreed'>): Uint8Array {
  const shared: object = JSON.parse(fromUtf8(outcome.answer))
  const sv = superValidatorsOf(shared).find(({ name }) => name === outcome.agreed[0])
  assert(sv !== undefined, 'a node of the genesis is a super-validator of the rules')
  const own = { sv_user: sv.name, sv_party_id: sv.party }
  // First, as in a node's answer, and in place of any such fields in the agreed answer.
  return utf8(JSON.stringify({ ...own, ...shared, ...own }))
}

function superValidatorsOf(body: unknown): SuperValidator[] {
  const svs: unknown = memberOf(body, 'dso_rules', 'contract', 'payload', 'svs')
  return Array.isArray(svs) ? svs.filter(isSuperValidator) : []
}

function isSuperValidator(value: unknown): value is SuperValidator {
  const { name, party } = membersOf(value)
  return typeof name === 'string' && typeof party === 'string'
}
