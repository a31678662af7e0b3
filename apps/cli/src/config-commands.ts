/** `config` reads and changes the rules of the name service. `protocol` reads the protocol version, and votes for another. */
import { printable } from '@quorumscan/base'
import { formatAmount, formatDuration, parseDuration, readAmount } from '@quorumscan/model'
import {
  type AnsConfig,
  type AnsConfigInput,
  type Change,
  dataDirectory,
  type Proposals,
  type RulesInForce,
  readSettings,
} from '@quorumscan/operator'
import { UsageError } from '@quorumscan/runtime'
import type { Command } from 'commander'
import { confirmForOne, type MemberFlags, proposalsFor, rulesFor, voteForOne } from './confirm.ts'
import { integer, printResult, withProgress } from './options.ts'
import type { CommandContext } from './rig.ts'

/** More than there will be versions of the protocol. */
const VERSION_MAX = 1_000_000

export function addConfigCommands({ command, group, clock, cluster }: CommandContext): void {
  const about = 'the rules of the name service: what a name costs and how long it lives'
  const config = group('config', about)
  command('get', 'show the rules in force, on which enough nodes agree', config)
    .option('--scan <url>', 'the scan node to ask (default: enough nodes of the data directory)')
    .action(async (options: MemberFlags) => {
      const inForce = await rulesFor(options, cluster)
      printResult(options, inForce, formatConfig(inForce))
    })
  command('pending', 'show pending proposals, and which members confirmed them', config)
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .action(async (options: MemberFlags) => {
      const proposals = await proposalsFor(options, cluster)
      printResult(options, proposals, formatProposals(proposals))
    })
  ofOneMember(
    command('set', 'change the rules, confirmed by a quorum of the super-validators', config),
  )
    .argument('<change...>', 'entry-fee=2.5 entry-lifetime=90d renewal-duration=30d …')
    .addHelpText(
      'after',
      `
Without --key it confirms for a quorum of the super-validators, with their keys
in the data directory. With --key it confirms for one of them: each operator
runs the same command, and the change is in force when a quorum has confirmed
it. It replaces the rules that this super-validator confirmed before.`,
    )
    .action(async (changes: string[], options: MemberFlags) => {
      const change = parseConfigChange(changes)
      if (options.key === undefined) {
        const inForce = await cluster.setRules(dataDirectory(options.dataDir), change)
        printResult(options, inForce, formatConfig(inForce))
        return
      }
      const confirmed = await withProgress('waiting for the change', clock, () =>
        confirmForOne(options, change, clock),
      )
      const { name, isInForce, rules, needed } = confirmed
      const state = isInForce ? 'in force' : `in force when ${needed} have confirmed the same`
      const who = name === null ? '' : `${name} has confirmed these rules.\n`
      const text = `${who}They are ${state}:\n${formatConfig(rules)}`
      printResult(options, { confirmedBy: name, isInForce, ...rules }, text)
    })
}

/** Options of a command that confirms for one super-validator alone. */
function ofOneMember(command: Command): Command {
  return command
    .option('--key <file>', 'confirm for one super-validator, with its operator key')
    .option('--scan <url>', 'with --key: its scan node')
    .option('--synchronizer <url>', 'with --key: its synchronizer')
    .option('--token-file <file>', 'with --key: the token of a follower of its synchronizer')
    .option('--genesis <file>', 'the genesis document (default: that of the data directory)')
}

export function addProtocolCommands({ command, group, clock, cluster }: CommandContext): void {
  const about = 'the version of the protocol, which fixes the meaning of log entries'
  const protocol = group('protocol', about)
  command('get', 'show the version in force, and the next one', protocol)
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .action(async (options: MemberFlags) => {
      const proposals = await proposalsFor(options, cluster)
      printResult(options, proposals.protocol, formatProtocol(proposals.protocol))
    })
  ofOneMember(command('vote', 'vote for a version with the key of one super-validator', protocol))
    .argument('<version>', 'such as 4; the one in force: withdraw a vote', integer(1, VERSION_MAX))
    .option('--not-before <time>', 'when the version takes effect; the same for all members')
    .addHelpText(
      'after',
      `
When a quorum of super-validators has voted for the same version and time, it is
in force from the first entry at that time on; without a time, from the next
entry on. Software that does not know the version stops there and reports it, so
install new software first.`,
    )
    .action(async (version: number, options: MemberFlags & { notBefore?: string }) => {
      const vote = { version, notBefore: options.notBefore ?? null }
      const { name, proposals } = await withProgress('waiting for the vote', clock, () =>
        voteForOne(options, vote, clock),
      )
      const lines = [`${name} has voted for version ${version}.`, formatProposals(proposals)]
      printResult(options, { votedBy: name, ...proposals }, lines.join('\n'))
    })
}

const NAME_COLUMNS = 20

/** The rules by their name on the command line, and how a value is read. */
const RULES: Readonly<Record<string, (text: string) => AnsConfigInput>> = {
  'entry-fee': (text) => ({ entryFeeUsd: feeOf('entry-fee', text) }),
  'entry-lifetime': (text) => ({ entryLifetimeMicros: durationOf('entry-lifetime', text) }),
  'renewal-duration': (text) => ({ renewalDurationMicros: durationOf('renewal-duration', text) }),
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
    `confirmed by ${printable(confirmedBy.join(', '))} (${confirmedBy.length} of ${needed}), first at ${printable(since)}:`,
    ...describeChange(change).map((line) => `  ${line}`),
  ])
  if (lines.length === 0) lines.push('No proposal waits for confirmations.')
  return [...lines, formatProtocol(protocol)].join('\n')
}

export function formatProtocol({ version, newestKnown, next }: Proposals['protocol']): string {
  const coming =
    next === null ? '' : `\nVersion ${next.version} takes effect at ${printable(next.notBefore)}.`
  return `Version ${version} of the protocol is in force; ${describeKnown(version, newestKnown)}.${coming}`
}

function describeKnown(version: number, newestKnown: number): string {
  if (newestKnown === version) return 'the newest that this node knows'
  return newestKnown > version
    ? `this node knows ${newestKnown}, too`
    : 'this node knows no newer version: install newer software'
}

function describeChange(change: Change): readonly string[] {
  if (change === null) return []
  if (!('protocolVersion' in change)) return rowsOf(change)
  const { protocolVersion, notBefore } = change
  return [
    `version ${protocolVersion} of the protocol, from: ${notBefore ?? 'as soon as enough have voted'}`,
  ]
}

function feeOf(rule: string, text: string): string {
  const amount = readAmount(text)
  if (amount === undefined || amount <= 0n)
    throw new UsageError(
      `${rule}: "${printable(text)}" is not a fee: an amount in USD above 0 with at most 10 decimals, such as 2.5`,
    )
  return formatAmount(amount)
}

function durationOf(rule: string, text: string): number {
  const micros = parseDuration(text)
  if (micros !== undefined) return micros
  throw new UsageError(`${rule}: "${printable(text)}" is not a duration such as 20s, 12h or 90d`)
}
