import { DESCRIPTION_UNITS_MAX } from '@quorumscan/verifier'
import { party, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { type AnsRulesConfig, ansRulesConfig } from './shared.ts'

/** A century, µs: keeps every time that follows from a config within the range of Time. */
const CONFIG_DURATION_MICROS_MAX = 100 * 365 * 86_400_000_000

export function isValidConfig(config: AnsRulesConfig): boolean {
  return (
    config.renewalDuration > 0 &&
    config.renewalDuration <= CONFIG_DURATION_MICROS_MAX &&
    config.entryLifetime > 0 &&
    config.entryLifetime <= CONFIG_DURATION_MICROS_MAX &&
    config.entryFee > 0n &&
    config.descriptionPrefix.length <= DESCRIPTION_UNITS_MAX
  )
}

/** Singleton: price and lifetime of names. */
export const ansRules = defineTemplate({
  packageName: 'quorumscan-name-service',
  module: 'Ans',
  entity: 'AnsRules',
  type: record('AnsRules', { dso: party, config: ansRulesConfig }),
  signatories: ({ dso }) => [dso],
  ensure: ({ config }) => isValidConfig(config),
  keys: () => ['singleton:AnsRules'],
})
