import type { Micros } from '@quorumscan/model'
import { int, type LfValue, list, optional, party, record, time } from '../lf.ts'
import { BLOCK_RULES_DELAY_MICROS } from '../limits.ts'
import { defineTemplate } from '../template.ts'
import { svInfo } from './shared.ts'

/**
 * Singleton: the super-validators, and which version of the protocol is in force. The super-validators sign it, so that
 * its choices have their authority. No single super-validator can archive it: that would invalidate all pending
 * confirmations, which refer to its contract id.
 */
export const dsoRules = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'DsoRules',
  type: record('DsoRules', {
    dso: party,
    protocolVersion: int,
    /** The next version, if enough super-validators voted for one. */
    nextVersion: optional(record('NextVersion', { version: int, notBefore: time })),
    svs: list(svInfo),
  }),
  signatories: (rules) => [rules.dso, ...rules.svs.map((sv) => sv.party)],
  keys: () => ['singleton:DsoRules'],
})
export type DsoRulesPayload = LfValue<typeof dsoRules.type>

type Versions = Pick<DsoRulesPayload, 'protocolVersion' | 'nextVersion'>

/** The version that governs entries with this record time, while these rules are in force. */
export function protocolVersionAt(rules: Versions, recordTime: Micros): number {
  const { protocolVersion, nextVersion } = rules
  return nextVersion !== null && recordTime >= nextVersion.notBefore
    ? nextVersion.version
    : protocolVersion
}

/**
 * The version by which the ordering members check the block after an entry with this record time: the one that
 * governed entries `BLOCK_RULES_DELAY_MICROS` before. All rules in force since then give the same version, so members
 * whose replicas lag by less never differ.
 */
export function blockVersionAt(rules: Versions, recordTime: Micros): number {
  return protocolVersionAt(rules, recordTime - BLOCK_RULES_DELAY_MICROS)
}

/** Why no member can vote for this version under these rules, or null. */
export function versionRefusal(rules: Versions, version: number, now: Micros): string | null {
  const { nextVersion } = rules
  if (version < protocolVersionAt(rules, now))
    return 'a version of the protocol that held before does not come back'
  if (nextVersion === null || now < nextVersion.notBefore) return null
  return now < nextVersion.notBefore + BLOCK_RULES_DELAY_MICROS
    ? 'the version in force is too new for another: blocks are not judged by it yet'
    : null
}

/** A vote for the version in force cancels the next one. No version begins before it was voted for. */
export function versionsAfter<R extends Versions>(
  rules: R,
  vote: { readonly version: number; readonly notBefore: Micros | null },
  now: Micros,
): R {
  const protocolVersion = protocolVersionAt(rules, now)
  const { version, notBefore } = vote
  const nextVersion =
    version === protocolVersion ? null : { version, notBefore: Math.max(notBefore ?? now, now) }
  return { ...rules, protocolVersion, nextVersion }
}
