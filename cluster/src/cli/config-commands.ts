/** `config`: the rules of the name service, read and changed. */
import { readFileSync } from 'node:fs'
import { type Clock, keyPairFromSeed } from '@quorumscan/base'
import { quorumOf } from '@quorumscan/consensus'
import type { Command } from 'commander'
import { messageOf, UsageError } from '../cluster-error.ts'
import { areRulesEqual, changeRules, confirmRules, readRules } from '../confirm-rules.ts'
import { changeOf, inForceToWire } from '../control/ans-config.ts'
import { call, connectControl } from '../control/client.ts'
import { dataDirectory } from '../data-directory.ts'
import { formatConfig, parseConfigChange } from './config.ts'
import { answer, slowly } from './options.ts'
import { readGenesis } from './verify.ts'

/** Until the confirmation that completes a quorum shows at a node. */
const IN_FORCE_MS = 2_000
const POLL_MS = 100

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
  command('set', 'change the rules, confirmed by a quorum of the super-validators', config)
    .argument('<change...>', 'entry-fee=2.5 entry-lifetime=90d renewal-duration=30d …')
    .option('--key <file>', 'confirm for one super-validator, with its operator key')
    .option('--scan <url>', 'then: its scan node')
    .option('--synchronizer <url>', 'its synchronizer')
    .option('--token-file <file>', 'the token of one who follows that')
    .option('--genesis <file>', 'the genesis document (default: that of the data directory)')
    .option('--json', 'as JSON')
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
        confirmForOne({ ...options, key: options.key ?? '' }, changeOf(change), clock),
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

type Common = { dataDir: string; json?: boolean }
type OneFlags = {
  key?: string
  scan?: string
  synchronizer?: string
  tokenFile?: string
  genesis?: string
}

async function confirmForOne(
  options: Common & OneFlags & { readonly key: string },
  change: ReturnType<typeof changeOf>,
  clock: Clock,
) {
  if (options.scan === undefined || options.synchronizer === undefined)
    throw new UsageError('with --key, --scan and --synchronizer say which are its own')
  const genesis = readGenesis(options.genesis ?? dataDirectory(options.dataDir).genesisFile)
  const keyPair = readSecret(options.key, keyPairFromSeed)
  const token = options.tokenFile === undefined ? null : readSecret(options.tokenFile, String)
  const rulesUrl = `${options.scan.replace(/\/+$/, '')}/v0`
  const before = await readRules(rulesUrl)
  const config = changeRules(genesis, before.config, change)
  const needed = quorumOf(genesis.nodes.length)
  if (areRulesEqual(before.config, config))
    return { name: null, isInForce: true, rules: inForceToWire(before), needed }
  const name = await confirmRules({
    ...{ genesis, keyPair, rulesUrl, config },
    synchronizer: { url: options.synchronizer, token },
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

function readSecret<T>(file: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw new UsageError(`${file}: ${messageOf(error)}`, { cause: error })
  }
}
