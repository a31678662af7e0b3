/** The command line: all commands, and the function that each calls. A test rig adds its commands (`Rig`). */
import { writeFileSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { PAGE_SIZE_MAX } from '@quorumscan/api'
import { createSystemClock } from '@quorumscan/base'
import { dataDirectory } from '@quorumscan/operator'
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import { CommandError, messageOf, UsageError } from '@quorumscan/runtime'
import { Command, CommanderError, type Help } from 'commander'
import { addCapacityCommand } from './capacity.ts'
import { addCeremonyCommands } from './ceremony-commands.ts'
import { addCheckCommand } from './check.ts'
import { addCometbftCommands } from './cometbft.ts'
import { addConfigCommands, addProtocolCommands } from './config-commands.ts'
import type { Environment } from './environment.ts'
import { addExamples, EXAMPLES } from './examples.ts'
import { EXIT } from './exit-codes.ts'
import { addJobCommands } from './job-commands.ts'
import { addLogCommands } from './log-commands.ts'
import { addMirrorCommand } from './mirror.ts'
import { type NetworkFlags, networkOf, urlOf, withNetworkOptions } from './network.ts'
import { addBackupCommands, addRunCommand } from './node-commands.ts'
import { integer, printError, printResult, setHintOption } from './options.ts'
import { addReplicaCommands } from './replica-commands.ts'
import { exitOfLookup, formatResolved, isAnswered, resolve, resolvedJson } from './resolve.ts'
import { addRewardsCommands } from './rewards-commands.ts'
import { type CommandContext, type Common, NO_CLUSTER, type Rig } from './rig.ts'
import { addStatusCommand } from './status.ts'
import { addSupportCommand } from './support.ts'
import { parseVotes, type RequestOptions, verify } from './verify.ts'
import { versionsText } from './versions.ts'
import { askVotes, formatVoted } from './votes.ts'

const DESCRIPTION =
  "Runs one operator's part of a network of super-validators, and reads names and proofs."

/** Descriptions in a narrower column are not wrapped, and would be too wide for a terminal. */
const WIDTH_MIN = 20

/** The format of the list of commands: a command with its arguments. Its own help has the options. */
const HELP: Partial<Help> = {
  minWidthToWrap: WIDTH_MIN,
  subcommandTerm(command) {
    const subcommands = command.commands.map((one) => one.name()).join('|')
    const args = command
      .usage()
      .replace(/\[(?:options|command)\]/g, '')
      .trim()
    return [command.name(), subcommands, args].filter((words) => words !== '').join(' ')
  },
}

type ResolveFlags = {
  quorum: string
  receipt?: string
  votes?: boolean
  validator?: string
  json?: boolean
}

type VerifyFlags = Common & RequestOptions & { genesis?: string; threshold: string }

/** Runs one command and returns its exit code. */
export async function runCommandLine(
  args: readonly string[],
  environment: Environment,
  rig: Rig | null = null,
): Promise<number> {
  const { program, exitCode } = createProgram(environment, rig)
  await program.parseAsync([...args], { from: 'user' })
  return exitCode()
}

/** All commands; `exitCode` returns that of the command that ran. */
export function createProgram(environment: Environment, rig: Rig | null = null) {
  const clock = createSystemClock()
  const defaultDir = environment.defaultDataDirectory
  let exitCode: number = EXIT.done
  const program = new Command('quorumscan')
    .description(rig?.description ?? DESCRIPTION)
    .option('-V, --version', 'print the versions of the software')
    .on('option:version', () => {
      process.stdout.write(versionsText(environment))
      throw new CommanderError(0, 'commander.version', environment.version)
    })
    .exitOverride()
    .configureOutput({ outputError: (text) => printError(text.trimEnd()) })
    .helpCommand(false)
    .configureHelp(HELP)
    .hook('preAction', (_, called) => {
      assertGiven(called)
      const { dataDir = defaultDir } = called.opts<Partial<Common>>()
      setHintOption('--data-dir', absolute(dataDir) === absolute(defaultDir) ? null : dataDir)
    })

  const plain: CommandContext['plain'] = (name, description, parent = program, options = {}) =>
    parent
      .command(name, options)
      .description(description)
      .option('--json', 'print the result as JSON')
  const command: CommandContext['command'] = (...args) =>
    plain(...args).option('--data-dir <dir>', 'the data directory of the cluster', defaultDir)
  const context: CommandContext = {
    ...environment,
    clock,
    cluster: rig?.cluster ?? NO_CLUSTER,
    command,
    plain,
    group: (name, description) => program.command(name).description(description).helpCommand(false),
    section: (heading) => program.commandsGroup(heading),
    exitWith(code) {
      exitCode = code
    },
  }
  rig?.addCommands(context)

  context.section('Names and proofs (any network):')
  withNetworkOptions(command('resolve', 'look up a name or a party at the nodes, with a proof'))
    .argument('<name>', 'a whole name such as alice.unverified.ns, or a party')
    .option('--quorum <threshold>', 'the threshold: weak, strong, all or a number', 'weak')
    .option('--receipt <file>', 'store the proof of the answer, for `verify`')
    .option('--votes', 'ask the scan proxy instead, and show the votes of the nodes')
    .option('--validator <url>', 'with --genesis and --votes: the validator with the proxy')
    .action(async (subject: string, options: NetworkFlags & ResolveFlags) => {
      const { quorum, receipt, votes = false, validator } = options
      if (votes && receipt !== undefined)
        throw new UsageError('--receipt stores a proof, and --votes shows none: use one of them')
      const { genesis, nodes, validatorUrl } = await networkOf(options, context.cluster)
      if (validator !== undefined && (!votes || validatorUrl !== null))
        throw new UsageError('--validator needs --genesis and --votes')
      if (votes) {
        const asked =
          validatorUrl ?? (validator === undefined ? undefined : urlOf('--validator', validator))
        if (asked === undefined)
          throw new UsageError('--votes asks a validator: name it with `--validator`')
        parseVotes(quorum, genesis)
        const voted = await askVotes({ validatorUrl: asked, subject, quorum })
        printResult(options, voted, formatVoted(subject, voted))
        exitCode = exitOfLookup(voted.kind, Number.parseInt(voted.heard, 10))
        return
      }
      const resolved = await resolve({ genesis, nodes, subject, quorum, clock })
      const { outcome } = resolved
      if (receipt !== undefined && isAnswered(outcome)) storeReceipt(receipt, outcome.receipt)
      printResult(options, resolvedJson(resolved), formatResolved(subject, resolved))
      exitCode = exitOfLookup(outcome.kind, outcome.answered)
    })

  const pageSize = integer(1, PAGE_SIZE_MAX)
  command('verify', 'check offline what a certified answer or evidence proves')
    .argument('<file>', 'from a node, `resolve` or the proxy; - for the standard input')
    .option('--name <name>', 'what it must prove: the entry of this name, or that none exists')
    .option('--party <party>', 'what it must prove: the entry of this party')
    .option('--prefix <prefix>', 'what it must prove: a list of names, from the first one on')
    .option('--page-size <n>', 'with --prefix: its page size (default: the largest)', pageSize)
    .option('--request <json>', 'what it must prove: the answer to this operation')
    .option('--genesis <file>', 'the genesis document (default: that of the data directory)')
    .option('--threshold <threshold>', 'the threshold: weak, strong, all or a number', 'weak')
    .addHelpText(
      'after',
      '\nExit status: 0 it proves that, 1 it does not, 2 nothing was checked.\nA file that `resolve` stored or printed includes its request.',
    )
    .action(async (file: string, options: VerifyFlags) => {
      const { dataDir, threshold, ...asked } = options
      const { genesis: genesisFile = dataDirectory(dataDir).genesisFile } = options
      const { isValid, text, json } = await verify({ file, genesisFile, asked, threshold })
      printResult(options, json, text)
      exitCode = isValid ? EXIT.done : EXIT.failed
    })

  addMirrorCommand(context)

  context.section("One operator's part of a network:")
  addCeremonyCommands(context)
  addRunCommand(context)
  addStatusCommand(context)
  addCheckCommand(context)
  addConfigCommands(context)
  addProtocolCommands(context)
  addRewardsCommands(context)
  addBackupCommands(context)
  addReplicaCommands(context)
  addCapacityCommand(context)
  addSupportCommand(context, versionsText(environment))
  addLogCommands(context)
  addJobCommands(context)
  addCometbftCommands(context)

  program
    .command('help', { hidden: true })
    .description('the same as --help after a command')
    .argument('[command...]', 'such as kill, or log verify')
    .action((path: string[]) => {
      const named = path.reduce<Command | undefined>(
        (group, name) => group?.commands.find((one) => one.name() === name),
        program,
      )
      if (named === undefined) throw new UsageError(`unknown command ${path.join(' ')}`)
      named.help()
    })

  addExamples(program, [...(rig?.examples ?? []), ...EXAMPLES])
  program.addHelpText('after', '\nRun `quorumscan help <command>` for the details of a command.')
  return { program, exitCode: () => exitCode }
}

/** Most empty values are those of variables of a shell that are not set. @throws {UsageError} */
function assertGiven(called: Command): void {
  for (const option of called.options) {
    const values = [called.getOptionValue(option.attributeName())].flat()
    if (values.includes(''))
      throw new UsageError(`${option.long} is empty: give it a value, or leave it out`)
  }
  if (called.args.includes(''))
    throw new UsageError('an argument is empty: give it a value, or leave it out')
}

/** Stores a receipt with its request, which `verify` needs. The document is stored byte for byte. */
function storeReceipt(file: string, receipt: CertifiedReceipt): void {
  try {
    writeFileSync(file, `${JSON.stringify(receipt)}\n`)
  } catch (error) {
    throw new CommandError(`the receipt was not stored: ${messageOf(error)}`)
  }
}
