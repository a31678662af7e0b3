/** `quorumscan config`: the rules of the name service, read and changed. */
import { formatAmount, type Micros, parseAmount } from '@quorumscan/model'
import { ClusterError } from '../cluster-error.ts'
import type { AnsConfigInput, AnsConfigWire } from '../control/ans-config-wire.ts'
import { formatDuration, parseDuration } from '../durations.ts'
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
 * @throws {ClusterError} If one names no setting, has no such value, or is there twice.
 */
export function parseConfigChange(args: readonly string[]): AnsConfigInput {
  let change: AnsConfigInput = {}
  const seen = new Set<string>()
  for (const arg of args) {
    const end = arg.indexOf('=')
    const name = end < 0 ? arg : arg.slice(0, end)
    const parse = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (parse === undefined || end < 0 || seen.has(name))
      throw new ClusterError(
        `"${printable(arg)}" sets nothing: name each of ${Object.keys(SETTINGS).join(', ')} at most once, as in entry-fee=2.5`,
      )
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
    throw new ClusterError(`"${printable(text)}" is no fee such as 2.5, in USD`)
  return formatAmount(amount)
}

function durationOf(text: string): Micros {
  const micros = parseDuration(text)
  if (micros !== undefined) return micros
  throw new ClusterError(`"${printable(text)}" is no duration such as 20s, 12h or 90d`)
}
