import type { Micros } from '@quorumscan/model'
import { int, type LfValue, list, optional, party, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { svInfo } from './shared.ts'

/**
 * Singleton: who the super-validators are, and which version of the protocol is in force. The
 * super-validators sign it, so that its choices carry their authority. Nothing that one of them can do
 * replaces it: every confirmation names it.
 */
export const dsoRules = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'DsoRules',
  type: record('DsoRules', {
    dso: party,
    protocolVersion: int,
    /** What enough super-validators voted for. */
    nextVersion: optional(record('NextVersion', { version: int, notBefore: time })),
    svs: list(svInfo),
  }),
  signatories: (rules) => [rules.dso, ...rules.svs.map((sv) => sv.party)],
  keys: () => ['singleton:DsoRules'],
})
export type DsoRulesPayload = LfValue<typeof dsoRules.type>

/** The version that governs entries with this record time, while these rules stand. */
export function protocolVersionAt(rules: DsoRulesPayload, recordTime: Micros): number {
  const { protocolVersion, nextVersion } = rules
  return nextVersion !== null && recordTime >= nextVersion.notBefore
    ? nextVersion.version
    : protocolVersion
}
