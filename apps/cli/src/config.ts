/** `quorumscan config`: the rules of the name service, read and changed. */
import {
  formatAmount,
  formatDuration,
  type Micros,
  parseAmount,
  parseDuration,
} from '@quorumscan/model'
import type { AnsConfigInput, AnsConfigWire } from '@quorumscan/operator'
import { didYouMean, UsageError } from '@quorumscan/runtime'
import { printable } from './text.ts'

/** What can be set: the name on the command line, and how its value is read. */
const SETTINGS: Readonly<Record<string, (text: string) => AnsConfigInput>> = {
  'entry-fee': (text) => ({ entryFeeUsd: parseFee(text) }),
  'entry-lifetime': (text) => ({ entryLifetimeMicros: durationOf(text) }),
  'renewal-duration': (text) => ({ renewalDurationMicros: durationOf(text) }),
  'description-prefix': (text) => ({ descriptionPrefix: text }),
}

/**
 * The change that arguments such as `entry-fee=2.5` ask for.
 *
 * @throws {UsageError} If one names no setting, has no such value, or is there twice.
 */
export function parseConfigChange(args: readonly string[]): AnsConfigInput {
  let change: AnsConfigInput = {}
  const seen = new Set<string>()
  for (const arg of args) {
    const end = arg.indexOf('=')
    const name = end < 0 ? arg : arg.slice(0, end)
    const parse = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (parse === undefined) {
      const names = Object.keys(SETTINGS)
      const hint = didYouMean(name, names) || `. The rules are ${names.join(', ')}`
      throw new UsageError(`there is no rule "${printable(name)}"${hint}`)
    }
    if (end < 0)
      throw new UsageError(`"${name}" has no value: write RULE=VALUE, as in entry-fee=2.5`)
    if (seen.has(name)) throw new UsageError(`${name} is set twice: set each rule once`)
    seen.add(name)
    change = { ...change, ...parse(arg.slice(end + 1)) }
  }
  return change
}

export function formatConfig({ contractId, config }: AnsConfigWire): string {
  const rows = [
    ['entry-fee', `${config.entryFeeUsd} USD`],
    ['entry-lifetime', formatDuration(config.entryLifetimeMicros)],
    ['renewal-duration', formatDuration(config.renewalDurationMicros)],
    ['description-prefix', JSON.stringify(printable(config.descriptionPrefix))],
    ['contract', contractId],
  ]
  return rows.map(([name = '', value]) => `${name.padEnd(20)}${value}`).join('\n')
}

function parseFee(text: string): string {
  const amount = parseAmount(text)
  if (amount === undefined || amount <= 0n)
    throw new UsageError(
      `"${printable(text)}" is not a fee: an amount in USD above 0 with at most 10 decimals, such as 2.5`,
    )
  return formatAmount(amount)
}

function durationOf(text: string): Micros {
  const micros = parseDuration(text)
  if (micros !== undefined) return micros
  throw new UsageError(`"${printable(text)}" is not a duration such as 20s, 12h or 90d`)
}
