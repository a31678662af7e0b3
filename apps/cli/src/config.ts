/** The rules of the name service, what was proposed and not decided, and the version of the protocol, as text. Pure. */
import { formatAmount, formatDuration, parseAmount, parseDuration } from '@quorumscan/model'
import {
  type AnsConfig,
  type AnsConfigInput,
  type Change,
  type Proposals,
  type RulesInForce,
  readSettings,
} from '@quorumscan/operator'
import { UsageError } from '@quorumscan/runtime'
import { printable } from './text.ts'

const NAME_COLUMNS = 20

/** The rules by their name on the command line, and how a value is read. */
const RULES: Readonly<Record<string, (text: string) => AnsConfigInput>> = {
  'entry-fee': (text) => ({ entryFeeUsd: feeOf(text) }),
  'entry-lifetime': (text) => ({ entryLifetimeMicros: durationOf(text) }),
  'renewal-duration': (text) => ({ renewalDurationMicros: durationOf(text) }),
  'description-prefix': (text) => ({ descriptionPrefix: text }),
}

/**
 * The change that arguments such as `entry-fee=2.5` ask for.
 *
 * @throws {UsageError} If an argument names no rule, has no such value, or occurs twice.
 */
export function parseConfigChange(args: readonly string[]): AnsConfigInput {
  const values = readSettings(args, Object.keys(RULES), 'entry-fee=2.5')
  return Object.assign({}, ...Array.from(values, ([name, text]) => RULES[name]?.(text)))
}

export function formatConfig({ contractId, config }: RulesInForce): string {
  return [...rowsOf(config), column('contract', contractId)].join('\n')
}

function rowsOf(config: AnsConfig): string[] {
  return [
    column('entry-fee', `${config.entryFeeUsd} USD`),
    column('entry-lifetime', formatDuration(config.entryLifetimeMicros)),
    column('renewal-duration', formatDuration(config.renewalDurationMicros)),
    column('description-prefix', JSON.stringify(printable(config.descriptionPrefix))),
  ]
}

function column(name: string, value: string): string {
  return `${name.padEnd(NAME_COLUMNS)}${value}`
}

export function formatProposals({ needed, pending, protocol }: Proposals): string {
  const lines = pending.flatMap(({ change, confirmedBy, since }) => [
    `${printable(confirmedBy.join(', '))} confirmed since ${printable(since)}, ${confirmedBy.length} of ${needed}:`,
    ...describeChange(change).map((line) => `  ${line}`),
  ])
  return [
    ...(lines.length === 0 ? ['Nothing waits for confirmations.'] : lines),
    formatProtocol(protocol),
  ].join('\n')
}

export function formatProtocol({ version, newestKnown, next }: Proposals['protocol']): string {
  const coming =
    next === null ? '' : `\nVersion ${next.version} holds from ${printable(next.notBefore)} on.`
  return `Version ${version} of the protocol holds; ${describeKnown(version, newestKnown)}.${coming}`
}

function describeKnown(version: number, newestKnown: number): string {
  if (newestKnown === version) return 'the newest that this node knows'
  return newestKnown > version
    ? `this node knows ${newestKnown}, too`
    : `this node knows none beyond ${newestKnown}: it needs newer software`
}

function describeChange(change: Change): readonly string[] {
  if (change === null) return []
  if (!('protocolVersion' in change)) return rowsOf(change)
  const { protocolVersion, notBefore } = change
  return [
    `version ${protocolVersion} of the protocol, from: ${notBefore ?? 'as soon as enough have voted'}`,
  ]
}

function feeOf(text: string): string {
  const amount = parseAmount(text)
  if (amount === undefined || amount <= 0n)
    throw new UsageError(
      `"${printable(text)}" is not a fee: an amount in USD above 0 with at most 10 decimals, such as 2.5`,
    )
  return formatAmount(amount)
}

function durationOf(text: string): number {
  const micros = parseDuration(text)
  if (micros !== undefined) return micros
  throw new UsageError(`"${printable(text)}" is not a duration such as 20s, 12h or 90d`)
}
