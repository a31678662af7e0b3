/** The command line: what can be typed, and which call each command is. */

import { writeFileSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import { PAGE_SIZE_MAX } from '@quorumscan/api'
import { type Clock, createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import {
  createToken,
  type DataDirectory,
  DEFAULT_TTL,
  dataDirectory,
  FIRST_ADMIN_USER,
  ORDERING_DRIVERS,
  parseTtl,
} from '@quorumscan/operator'
import type { CertifiedReceipt } from '@quorumscan/reader/certified'
import { CommandError, messageOf, SilentError, UsageError } from '@quorumscan/runtime'
import { Command, Option } from 'commander'
import { VERSION } from '../built-files.ts'
import { NODE_COUNT_MAX } from '../cluster-shape.ts'
import { call, connectControl } from '../control/client.ts'
import {
  DISK_FREE_MIB_MIN,
  LOCAL_RATE_LIMIT,
  LOG_KEEP_SECONDS,
} from '../control/control-options.ts'
import type { DownOutcome } from '../control/down.ts'
import { describeRemains } from '../control/remains.ts'
import { defaultDataDirectory } from '../default-directory.ts'
import { registerName } from '../registration.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addCeremonyCommands } from './ceremony-commands.ts'
import { addChaosCommands } from './chaos-commands.ts'
import { addCometbftCommands } from './cometbft.ts'
import { addConfigCommands, addProtocolCommands } from './config-commands.ts'
import { addExamples } from './examples.ts'
import { EXIT } from './exit-codes.ts'
import { addFaultCommands } from './fault-commands.ts'
import { formatExchange, formatStatus } from './format.ts'
import { groupCommands, HELP } from './help.ts'
import { addLogCommands } from './log-commands.ts'
import { follow, lastLines, logFileOf } from './logs.ts'
import { addMirrorCommand } from './mirror.ts'
import { type NetworkFlags, networkOf, ofAnyNetwork } from './network.ts'
import { addNodeCommands } from './node-commands.ts'
import { answer, integer, print, repeat, slowly, tell, wrap } from './options.ts'
import { exitOfLookup, formatResolved, isAnswered, resolve, resolvedJson } from './resolve.ts'
import { addRunCommand } from './run-command.ts'
import { untilInterrupted } from './until-interrupted.ts'
import { type Asked, parseVotes, verify } from './verify.ts'
import { askVotes, formatVoted } from './votes.ts'
import { addWatchCommands } from './watch-commands.ts'

const RATE_LIMIT_MAX = 10_000_000
const DISK_FREE_MIB_MAX = 1_048_576
/** A hundred years. */
const LOG_KEEP_SECONDS_MAX = 3_155_760_000
const DEMO_TTL_SECONDS = 600
/** It answers from memory. With the start of this command that is under 2 s. */
const STATUS_TIMEOUT_MS = 1200
/** The control plane asks its processes twice a second. */
const WATCH_INTERVAL_MS = 1000
const LOG_LINES_SHOWN = 50
const LOG_LINES_MAX = 1_000_000

type Common = { dataDir: string; json?: boolean }
type ResolveFlags = {
  quorum: string
  receipt?: string
  votes?: boolean
  validator?: string
  json?: boolean
}

type Environment = { readonly cwd: string; readonly redisServer: string }

/** Runs one command and returns its exit code. */
export async function runCommandLine(
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  const { program, exitCode } = createProgram(environment)
  await program.parseAsync([...args], { from: 'user' })
  return exitCode()
}

/** All that can be typed; `exitCode` is that of the command that was carried out. */
export function createProgram(environment: Environment): {
  readonly program: Command
  readonly exitCode: () => number
} {
  const clock = createSystemClock()
  const defaultDir = defaultDataDirectory(environment.cwd)
  let exitCode: number = EXIT.done
  const program = new Command('quorumscan')
    .description(
      "Super-validators that resolve names by quorum: a cluster of them on this machine, or one operator's part of a network.",
    )
    .version(VERSION, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError: (text) => tell(text.trimEnd()) })
    .helpCommand(false)
    .configureHelp(HELP)
    .hook('preAction', (_, called) => {
      const { dataDir = defaultDir } = called.opts<Partial<Common>>()
      repeat('--data-dir', absolute(dataDir) === absolute(defaultDir) ? null : dataDir)
    })

  const command = (name: string, description: string, parent: Command = program) =>
    parent
      .command(name)
      .description(description)
      .option('--data-dir <dir>', 'where the cluster lives', defaultDir)

  command('up', 'start a cluster (or the one that the data directory holds)')
    .option(
      '--nodes <n>',
      `super-validators, 1 to ${NODE_COUNT_MAX} (default: 4)`,
      integer(1, NODE_COUNT_MAX),
    )
    .addOption(
      new Option(
        '--ordering <driver>',
        'who orders: redis, one synchronizer (default), or cometbft, all super-validators together',
      ).choices(ORDERING_DRIVERS),
    )
    .option(
      '--base-port <port>',
      'first port; 0: any that are free (default: 4600)',
      integer(0, 65_000),
    )
    .option(
      '--rate-limit <units>',
      'units of work per second and client',
      integer(1, RATE_LIMIT_MAX),
      LOCAL_RATE_LIMIT,
    )
    .option(
      '--disk-free-min <MiB>',
      'with less room on the disk nothing is registered; lookups go on',
      integer(0, DISK_FREE_MIB_MAX),
      DISK_FREE_MIB_MIN,
    )
    .option(
      '--log-keep <seconds>',
      'of the log that stays before a snapshot of the state that enough nodes have',
      integer(0, LOG_KEEP_SECONDS_MAX),
      LOG_KEEP_SECONDS,
    )
    .option('--genesis-overrides <file>', 'JSON with other rules for a new cluster, e.g. seconds')
    .option('--wipe', 'rebuild every replica from the log first')
    .option('--accept-lost-users', 'begin anew where the validator lost its users')
    .option('--detach', 'return when all is ready, and leave it running')
    .option('--json', 'print the status as JSON')
    .addOption(new Option('--seed-names', 'register a few names').hideHelp())
    .action(async (options) => {
      const { up } = await import('./up.ts')
      exitCode = await up({
        directory: dataDirectory(options.dataDir),
        nodeCount: options.nodes ?? null,
        basePort: options.basePort ?? null,
        rateLimit: options.rateLimit,
        diskFreeMibMin: options.diskFreeMin,
        logKeepSeconds: options.logKeep,
        ordering: options.ordering ?? null,
        isLossAccepted: options.acceptLostUsers ?? false,
        genesisOverridesFile: options.genesisOverrides ?? null,
        wipe: options.wipe ?? false,
        detach: options.detach ?? false,
        json: options.json ?? false,
        seedNames: options.seedNames ?? false,
        redisServer: environment.redisServer,
        clock,
      })
    })

  command('status', 'what runs, and what can still be lost')
    .option('--json', 'as JSON')
    .option('--watch', 'again and again, until interrupted; with --json a line each')
    .action(async (options: Common & { watch?: boolean }) => {
      const directory = dataDirectory(options.dataDir)
      const client = connectControl(directory, { timeoutMs: STATUS_TIMEOUT_MS })
      for (;;) {
        const status = await call(client.cluster.status.query()).catch((cause: unknown) => {
          throw cause instanceof SilentError
            ? new SilentError(`${cause.message}\n${describeRemains(directory)}`, { cause })
            : cause
        })
        // Home, and clear what is below: the table stays in its place.
        const clear =
          options.watch && !options.json && process.stdout.isTTY ? '\u001b[H\u001b[J' : ''
        answer(options, status, `${clear}${formatStatus(status)}`)
        if (!options.watch) return
        await clock.delay(WATCH_INTERVAL_MS)
      }
    })

  addNodeCommands(command, clock)
  addFaultCommands(command, clock)
  const context = {
    clock,
    exitWith: (code: number) => {
      exitCode = code
    },
  }
  addChaosCommands(command, context)
  addWatchCommands(command, context)

  command('events', 'what happened of late, oldest first')
    .option('--json', 'as JSON')
    .action(async (options: Common) => {
      const events = await call(
        connectControl(dataDirectory(options.dataDir)).cluster.events.query(),
      )
      answer(
        options,
        events,
        events.flatMap(({ at, sentence }) => wrap(`${at} ${sentence}`)).join('\n'),
      )
    })

  command('down', 'stop everything')
    .option('--json', 'print the outcome as JSON')
    .action(async (options: Common) => {
      const directory = dataDirectory(options.dataDir)
      const { stopCluster } = await import('../control/down.ts')
      const outcome = await slowly('stopping', clock, () => stopCluster(directory, clock))
      answer(options, outcome, describeDown(outcome, directory))
    })

  command('token', 'print a development token for a user of the validator')
    .argument('[user]', 'a user id')
    .option('--admin', 'for the administrator instead')
    .option('--ttl <time>', 'how long it is valid, e.g. 15m', DEFAULT_TTL)
    .option('--json', 'as JSON')
    .action(
      async (user: string | undefined, options: Common & { admin?: boolean; ttl: string }) => {
        if ((user === undefined) === (options.admin === undefined))
          throw new UsageError('name a user, or say --admin')
        const token = await createToken(dataDirectory(options.dataDir), {
          user: user ?? FIRST_ADMIN_USER,
          ttlSeconds: parseTtl(options.ttl),
          clock,
        })
        answer(options, { token }, token)
      },
    )

  command('demo', 'register a name through the public interface, step by step')
    .option('--json', 'a line of JSON for each step')
    .action((options: Common) => demo(dataDirectory(options.dataDir), options, clock))

  ofAnyNetwork(command('resolve', 'look a name or a party up at the nodes themselves, by a proof'))
    .argument('<name>', 'a whole name such as alice.unverified.ns, or a party')
    .option('--quorum <threshold>', 'signers needed: weak, strong, all or a number', 'weak')
    .option('--receipt <file>', 'keep what proves the answer, for `verify`')
    .option('--votes', 'ask the scan proxy instead, and show what the nodes vote')
    .option('--validator <url>', 'with --genesis and --votes: whose scan proxy')
    .option('--json', 'as JSON, which `verify -` takes as it is')
    .action(async (subject: string, options: NetworkFlags & ResolveFlags) => {
      const { quorum, receipt, votes = false, validator } = options
      if (votes && receipt !== undefined) throw new UsageError('votes are no receipt')
      const { genesis, nodes, validatorUrl } = await networkOf(options)
      if (validator !== undefined && (!votes || validatorUrl !== null))
        throw new UsageError('--validator goes with --genesis and --votes')
      if (votes) {
        const asked = validatorUrl ?? validator
        if (asked === undefined)
          throw new UsageError('votes are what a validator heard: say which by --validator')
        parseVotes(quorum, genesis)
        const voted = await askVotes({ validatorUrl: asked, subject, quorum })
        answer(options, voted, formatVoted(subject, voted))
        exitCode = exitOfLookup(voted.kind, Number.parseInt(voted.heard, 10))
        return
      }
      const resolved = await resolve({ genesis, nodes, subject, quorum, clock })
      const { outcome } = resolved
      if (receipt !== undefined && isAnswered(outcome)) keep(receipt, outcome.receipt)
      answer(options, resolvedJson(resolved), formatResolved(subject, resolved))
      exitCode = exitOfLookup(outcome.kind, outcome.answered)
    })

  command('verify', 'check offline what a certified answer or evidence proves')
    .argument('<file>', 'as a node, `resolve` or the proxy gave it; - for the standard input')
    .option('--name <name>', 'what it must answer: the entry of this name, or that there is none')
    .option('--party <party>', 'or the entry of this party')
    .option('--prefix <prefix>', 'or a list of names, from the first on')
    .option('--page-size <n>', 'of that list (default: the largest)', integer(1, PAGE_SIZE_MAX))
    .option('--request <json>', 'or any other operation with its parameters')
    .option('--genesis <file>', 'the genesis document (default: that of the data directory)')
    .option('--threshold <threshold>', 'signers needed: weak, strong, all or a number', 'weak')
    .option('--json', 'print what is proven, or why nothing is, as JSON')
    .addHelpText(
      'after',
      '\nExit status: 0 it proves that, 1 it does not, 2 nothing was judged.\nWhat `resolve` kept or printed says itself what was asked.',
    )
    .action(
      async (file: string, options: Common & Asked & { genesis?: string; threshold: string }) => {
        const { isValid, text, json } = await verify({
          file,
          genesisFile: options.genesis ?? dataDirectory(options.dataDir).genesisFile,
          asked: options,
          threshold: options.threshold,
        })
        answer(options, json, text)
        exitCode = isValid ? EXIT.done : EXIT.failed
      },
    )

  addMirrorCommand(program, clock)
  addCometbftCommands(program, command, clock)
  addCeremonyCommands(program, clock)
  addBackupCommands(program, environment.redisServer, clock)
  addRunCommand(program, environment.redisServer, clock)

  addLogCommands(program, command, { ...context, redisServer: environment.redisServer })
  addConfigCommands(program, command, clock)
  addProtocolCommands(program, command, clock)

  command('logs', 'what a process wrote of late')
    .argument('<process>', 'sv-1 …, validator, synchronizer or control; sv-1.redis for its Redis')
    .option('-n, --lines <n>', 'how many lines', integer(0, LOG_LINES_MAX), LOG_LINES_SHOWN)
    .option('-f, --follow', 'and what it writes from then on, until interrupted')
    .option('--json', 'as JSON; with --follow an object for each piece')
    .action(async (name: string, options: Common & { lines: number; follow?: boolean }) => {
      const file = logFileOf(dataDirectory(options.dataDir), name)
      const { lines, end } = lastLines(file, options.lines)
      answer(options, { file, lines }, [file, ...lines].join('\n'))
      if (!options.follow) return
      const over = new AbortController()
      void untilInterrupted().then(() => over.abort())
      for await (const piece of follow(file, { from: end, clock, signal: over.signal }))
        process.stdout.write(options.json ? `${JSON.stringify({ file, piece })}\n` : piece)
    })

  program
    .command('help', { hidden: true })
    .description('the same as --help behind a command')
    .argument('[command...]', 'such as kill, or log verify')
    .action((path: string[]) => {
      const named = path.reduce<Command | undefined>(
        (group, name) => group?.commands.find((one) => one.name() === name),
        program,
      )
      if (named === undefined) throw new UsageError(`there is no command ${path.join(' ')}`)
      named.help()
    })

  addExamples(program)
  groupCommands(program)
  program.addHelpText('after', '\n`quorumscan help <command>` says more of one.')
  return { program, exitCode: () => exitCode }
}

/** A label that no earlier run of the demo has used. */
function freshLabel(): string {
  return `demo-${randomHex(systemRandom, 4)}`
}

async function demo(directory: DataDirectory, options: Common, clock: Clock): Promise<void> {
  const say = (text: string) => (options.json ? undefined : print(text))
  const status = await call(connectControl(directory).cluster.status.query())
  const label = freshLabel()
  const name = `${label}.unverified.ns`
  const token = await createToken(directory, { user: label, ttlSeconds: DEMO_TTL_SECONDS, clock })
  say(`Registering ${name} as user ${label}\nat ${status.validator.url}`)
  let count = 0
  const found = await registerName({
    validatorUrl: status.validator.url,
    token,
    name,
    description: 'Registered by the demo.',
    clock,
    onStep: (title, exchange) => {
      count += 1
      say(`\n${count}. ${title}\n${formatExchange(exchange)}`)
      if (options.json) answer(options, { step: title, ...exchange }, '')
    },
  })
  const outcome = found.headers.get('x-quorum-outcome')
  const isExpected = outcome === (status.cluster.f === 0 ? 'trusted' : 'verified')
  if (!isExpected) throw new CommandError(`the lookup was answered, but its outcome is ${outcome}`)
  say(`\n${name} is registered, and its lookup is ${outcome}.`)
}

function describeDown(outcome: DownOutcome, directory: DataDirectory): string {
  if (outcome.kind === 'stopped') return 'stopped'
  return outcome.kind === 'nothing-ran'
    ? `no cluster runs in ${directory.path}`
    : `the control plane had died, or hung; ended ${outcome.processCount} processes that it left`
}

/** Beside the request, which `verify` needs; the document itself as it came. */
function keep(file: string, receipt: CertifiedReceipt): void {
  try {
    writeFileSync(file, `${JSON.stringify(receipt)}\n`)
  } catch (error) {
    throw new CommandError(`the receipt is not kept: ${messageOf(error)}`)
  }
}
