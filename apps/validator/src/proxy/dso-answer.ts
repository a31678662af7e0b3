/** `/v0/dso` through the proxy: what the nodes share, and the first that agreed (D-10). */
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { Decided } from '@quorumscan/consensus'

type SharedDso = {
  readonly dso_rules: {
    readonly contract: {
      readonly payload: {
        readonly svs: readonly { readonly name: string; readonly party: string }[]
      }
    }
  }
}

/** The agreed answer with `sv_user` and `sv_party_id` of the first agreeing node before it. */
export function sharedDsoAnswer(outcome: Decided): Uint8Array {
  // At least one honest node gave it, so it has the shape of the operation.
  const shared = JSON.parse(fromUtf8(outcome.answer)) as SharedDso
  const sv = shared.dso_rules.contract.payload.svs.find(({ name }) => name === outcome.agreed[0])
  assert(sv !== undefined, 'a node of the genesis is a super-validator of the rules')
  return utf8(JSON.stringify({ sv_user: sv.name, sv_party_id: sv.party, ...shared }))
}
