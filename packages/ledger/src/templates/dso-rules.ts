import { int, type LfValue, list, party, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { svInfo } from './shared.ts'

/**
 * Singleton: who the super-validators are, and which version of the interpretation is in force. The
 * super-validators sign it, so that its choices carry their authority. Nothing that one of them can do
 * replaces it: every confirmation names it.
 */
export const dsoRules = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'DsoRules',
  type: record('DsoRules', { dso: party, interpretationVersion: int, svs: list(svInfo) }),
  signatories: (rules) => [rules.dso, ...rules.svs.map((sv) => sv.party)],
  keys: () => ['singleton:DsoRules'],
})
export type DsoRulesPayload = LfValue<typeof dsoRules.type>
