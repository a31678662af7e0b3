/** `config`: the rules of the name service, read and changed; `protocol`: the version of the protocol, and votes for another. */
import { readFileSync } from 'node:fs'
import { type Clock, keyPairFromSeed } from '@quorumscan/base'
import { quorumOf } from '@quorumscan/consensus'
import type { Command } from 'commander'
import { ClusterError, messageOf, UsageError } from '../cluster-error.ts'
import {
  areRulesEqual,
  type Confirmer,
  changeRules,
  confirmRules,
  readRules,
} from '../confirm-rules.ts'
import { changeOf, inForceToWire } from '../control/ans-config.ts'
import { call, connectControl } from '../control/client.ts'
import { dataDirectory } from '../data-directory.ts'
import { type Proposals, readProposals, voteForVersion } from '../proposals.ts'
import { formatConfig, parseConfigChange } from './config.ts'
import { answer, integer, slowly } from './options.ts'
import { formatProposals, formatProtocol, proposalsJson } from './proposals.ts'
import { readGenesis } from './verify.ts'

/** Until the confirmation that completes a quorum shows at a node. */
const IN_FORCE_MS = 2_000
const POLL_MS = 100
/** Of the protocol; there will never be so many. */
const VERSION_MAX = 1_000_000

/** @param command - Makes one below `parent`, with the option `--data-dir`. */
export function addConfigCommands(
  program: Command,
  command: (name: string, description: string, parent: Command) => Command,
  clock: Clock,
): void {
  const config = program
    .command('config')
    .description('the rules of the name service: what a name costs and how long it lives')
    .helpCommand(false)
  command('get', 'what holds now, as enough nodes agree', config)
    .option('--json', 'as JSON')
    .action(async (options: Common) => {
      const client = connectControl(dataDirectory(options.dataDir))
      const inForce = await call(client.names.config.query())
      answer(options, inForce, formatConfig(inForce))
    })
  const pending = command('pending', 'what some have proposed, and who has confirmed it', config)
  pending
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .option('--json', 'as JSON')
    .action(async (options: Common & OneFlags) => {
      const proposals = await readProposals(await scanUrlOf(options))
      answer(options, proposalsJson(proposals), formatProposals(proposals))
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
    .action(async (changes: string[], options: Common & OneFlags) => {
      const change = parseConfigChange(changes)
      if (options.key === undefined) {
        const client = connectControl(dataDirectory(options.dataDir))
        const inForce = await call(client.names.setConfig.mutate(change))
        answer(options, inForce, formatConfig(inForce))
        return
      }
      const confirmed = await slowly('waiting for the change', clock, () =>
        confirmForOne(options, changeOf(change), clock),
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
    .option('--json', 'as JSON')
}

/** @param command - As of `addConfigCommands`. */
export function addProtocolCommands(
  program: Command,
  command: (name: string, description: string, parent: Command) => Command,
  clock: Clock,
): void {
  const protocol = program
    .command('protocol')
    .description('the version of the protocol, which says what entries of the log mean')
    .helpCommand(false)
  command('get', 'which version holds, and which comes next', protocol)
    .option('--scan <url>', 'the scan node to ask (default: one of the data directory)')
    .option('--json', 'as JSON')
    .action(async (options: Common & OneFlags) => {
      const proposals = await readProposals(await scanUrlOf(options))
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
    .action(async (version: number, options: Common & OneFlags & { notBefore?: string }) => {
      const voter = memberOf(options)
      const nowMicros = clock.nowMicros()
      const vote = { version, notBefore: options.notBefore ?? null }
      const name = await voteForVersion({ ...voter, nowMicros }, vote)
      const proposals = await slowly('waiting for the vote', clock, () =>
        untilSeen(voter.rulesUrl, { name, version }, clock),
      )
      const lines = [`${name} has voted for version ${version}.`, formatProposals(proposals)]
      answer(options, { votedBy: name, ...proposalsJson(proposals) }, lines.join('\n'))
    })
}

/** What the node shows once it knows of the vote; what it shows in the end where it does not say. */
async function untilSeen(
  url: string,
  vote: { readonly name: string; readonly version: number },
  clock: Clock,
): Promise<Proposals> {
  const endMs = clock.monotonicMs() + IN_FORCE_MS
  for (;;) {
    const proposals = await readProposals(url)
    const { protocol, pending } = proposals
    const isSeen =
      (protocol.next?.version ?? protocol.version) === vote.version ||
      pending.some(
        ({ change, confirmedBy }) =>
          change.tag === 'SetProtocolVersion' &&
          change.value.version === vote.version &&
          confirmedBy.includes(vote.name),
      )
    if (isSeen || clock.monotonicMs() >= endMs) return proposals
    await clock.delay(POLL_MS)
  }
}

/** Where the node is asked that was named, or one of the data directory. */
async function scanUrlOf(options: Common & OneFlags): Promise<string> {
  if (options.scan !== undefined) return apiOf(options.scan)
  const status = await call(connectControl(dataDirectory(options.dataDir)).cluster.status.query())
  const node = status.nodes.find(({ state }) => state === 'up')
  if (node === undefined) throw new ClusterError('no scan node is up')
  return apiOf(node.url)
}

function apiOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/v0`
}

type Common = { dataDir: string; json?: boolean }
type OneFlags = {
  key?: string
  scan?: string
  synchronizer?: string
  tokenFile?: string
  genesis?: string
}

async function confirmForOne(
  options: Common & OneFlags,
  change: ReturnType<typeof changeOf>,
  clock: Clock,
) {
  const member = memberOf(options)
  const { genesis, rulesUrl } = member
  const before = await readRules(rulesUrl)
  const config = changeRules(genesis, before.config, change)
  const needed = quorumOf(genesis.nodes.length)
  if (areRulesEqual(before.config, config))
    return { name: null, isInForce: true, rules: inForceToWire(before), needed }
  const name = await confirmRules({
    ...{ ...member, config },
    current: before.contractId,
    nowMicros: clock.nowMicros(),
  })
  const endMs = clock.monotonicMs() + IN_FORCE_MS
  let { contractId } = before
  while (contractId === before.contractId && clock.monotonicMs() < endMs) {
    await clock.delay(POLL_MS)
    const current = await readRules(rulesUrl)
    contractId = current.contractId
    if (areRulesEqual(current.config, config))
      return { name, isInForce: true, rules: inForceToWire(current), needed }
  }
  return { name, isInForce: false, rules: inForceToWire({ contractId, config }), needed }
}

/** Whose key it is, and where it confirms. */
function memberOf(options: Common & OneFlags): Confirmer {
  const { key, scan, synchronizer } = options
  if (key === undefined || scan === undefined || synchronizer === undefined)
    throw new UsageError('--key is of one member, --scan and --synchronizer are its own')
  const token = options.tokenFile === undefined ? null : readSecret(options.tokenFile, String)
  return {
    genesis: readGenesis(options.genesis ?? dataDirectory(options.dataDir).genesisFile),
    keyPair: readSecret(key, keyPairFromSeed),
    rulesUrl: apiOf(scan),
    synchronizer: { url: synchronizer, token },
  }
}

function readSecret<T>(file: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`, { cause: error })
  }
}
