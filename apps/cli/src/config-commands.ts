/** `config`: the rules of the name service, read and changed; `protocol`: the version of the protocol, and votes for another. */
import { dataDirectory } from '@quorumscan/operator'
import type { Command } from 'commander'
import { formatConfig, formatProposals, formatProtocol, parseConfigChange } from './config.ts'
import { confirmForOne, type MemberFlags, proposalsFor, rulesFor, voteForOne } from './confirm.ts'
import { answer, integer, slowly } from './options.ts'
import type { CommandContext } from './rig.ts'

/** Of the protocol; there will never be so many. */
const VERSION_MAX = 1_000_000

export function addConfigCommands({ command, group, clock, cluster }: CommandContext): void {
  const about = 'the rules of the name service: what a name costs and how long it lives'
  const config = group('config', about)
  command('get', 'what holds now, as enough nodes agree', config)
    .option('--scan <url>', 'as this scan node shows it (default: nodes of the data directory)')
    .action(async (options: MemberFlags) => {
      const inForce = await rulesFor(options, cluster)
      answer(options, inForce, formatConfig(inForce))
    })
  command('pending', 'what some have proposed, and who has confirmed it', config)
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .action(async (options: MemberFlags) => {
      const proposals = await proposalsFor(options, cluster)
      answer(options, proposals, formatProposals(proposals))
    })
  ofOneMember(
    command('set', 'change the rules, confirmed by a quorum of the super-validators', config),
  )
    .argument('<change...>', 'entry-fee=2.5 entry-lifetime=90d renewal-duration=30d …')
    .addHelpText(
      'after',
      `
Without --key it confirms for all super-validators whose keys are in the data
directory. With it, for one alone: each operator types the same change, and it
is in force when enough have. Rules that one confirmed before are given up.`,
    )
    .action(async (changes: string[], options: MemberFlags) => {
      const change = parseConfigChange(changes)
      if (options.key === undefined) {
        const inForce = await cluster.setRules(dataDirectory(options.dataDir), change)
        answer(options, inForce, formatConfig(inForce))
        return
      }
      const confirmed = await slowly('waiting for the change', clock, () =>
        confirmForOne(options, change, clock),
      )
      const { name, isInForce, rules, needed } = confirmed
      const state = isInForce ? 'in force' : `in force when ${needed} have confirmed the same`
      const lines = [
        ...(name === null ? [] : [`${name} has confirmed these rules.`]),
        `They are ${state}:`,
        formatConfig(rules),
      ]
      answer(options, { confirmedBy: name, isInForce, ...rules }, lines.join('\n'))
    })
}

/** Options of a command that confirms for one super-validator alone. */
function ofOneMember(command: Command): Command {
  return command
    .option('--key <file>', 'confirm for one super-validator, with its operator key')
    .option('--scan <url>', 'then: its scan node')
    .option('--synchronizer <url>', 'its synchronizer')
    .option('--token-file <file>', 'the token of one who follows that')
    .option('--genesis <file>', 'the genesis document (default: that of the data directory)')
}

export function addProtocolCommands({ command, group, clock, cluster }: CommandContext): void {
  const about = 'the version of the protocol, which says what entries of the log mean'
  const protocol = group('protocol', about)
  command('get', 'which version holds, and which comes next', protocol)
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .action(async (options: MemberFlags) => {
      const proposals = await proposalsFor(options, cluster)
      answer(options, proposals.protocol, formatProtocol(proposals.protocol))
    })
  ofOneMember(command('vote', 'vote for a version, for one super-validator', protocol))
    .argument(
      '<version>',
      'such as 4; the one that holds takes a vote back',
      integer(1, VERSION_MAX),
    )
    .option('--not-before <time>', 'from when it holds; all type the same')
    .addHelpText(
      'after',
      `
When enough super-validators have voted for the same version and time, it holds
from the first entry at that time on; without a time, from the next entry on.
Software that does not know it stops there and says so, so install first.`,
    )
    .action(async (version: number, options: MemberFlags & { notBefore?: string }) => {
      const vote = { version, notBefore: options.notBefore ?? null }
      const { name, proposals } = await slowly('waiting for the vote', clock, () =>
        voteForOne(options, vote, clock),
      )
      const lines = [`${name} has voted for version ${version}.`, formatProposals(proposals)]
      answer(options, { votedBy: name, ...proposals }, lines.join('\n'))
    })
}
