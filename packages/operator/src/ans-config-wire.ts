/** The rules of the name service as they cross the control plane. */
import { fromUtf8, utf8 } from '@quorumscan/base'
import type { AnsRulesConfig } from '@quorumscan/ledger'
import { formatAmount, parseAmount } from '@quorumscan/model'
import { CommandError } from '@quorumscan/runtime'
import { z } from 'zod'
import type { RulesInForce } from './confirm-rules.ts'

export type AnsConfigWire = ReturnType<typeof inForceToWire>

/** What is left out stays as it is. */
export const ansConfigInput = z.strictObject({
  entryFeeUsd: z.string().optional(),
  entryLifetimeMicros: z.int().optional(),
  renewalDurationMicros: z.int().optional(),
  descriptionPrefix: z.string().optional(),
})
export type AnsConfigInput = z.infer<typeof ansConfigInput>

/** JSON has no bigints. */
export function inForceToWire({ contractId, config }: RulesInForce) {
  return {
    contractId,
    config: {
      entryFeeUsd: formatAmount(config.entryFee),
      entryLifetimeMicros: config.entryLifetime,
      renewalDurationMicros: config.renewalDuration,
      descriptionPrefix: config.descriptionPrefix,
    },
  }
}

/** @throws {CommandError} If the fee is no amount, or the prefix no text of Unicode. */
export function changeOf(input: AnsConfigInput): Partial<AnsRulesConfig> {
  const { entryFeeUsd, entryLifetimeMicros, renewalDurationMicros, descriptionPrefix } = input
  const entryFee = entryFeeUsd === undefined ? undefined : parseAmount(entryFeeUsd)
  if (entryFeeUsd !== undefined && entryFee === undefined)
    throw new CommandError('the fee is no amount in USD')
  if (descriptionPrefix !== undefined && fromUtf8(utf8(descriptionPrefix)) !== descriptionPrefix)
    throw new CommandError('the prefix is no text')
  const change = {
    entryFee,
    entryLifetime: entryLifetimeMicros,
    renewalDuration: renewalDurationMicros,
    descriptionPrefix,
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
