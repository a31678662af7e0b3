/** The commands that control a local cluster. With them the program of `apps/cli` is that of the test rig. */
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import {
  type Clock,
  printableJson,
  printableLines,
  randomHex,
  systemRandom,
} from '@quorumscan/base'
import type { CommandContext, Common, Rig } from '@quorumscan/cli'
import {
  choice,
  integer,
  print,
  printResult,
  untilInterrupted,
  withProgress,
  wrap,
} from '@quorumscan/cli'
import {
  createToken,
  type DataDirectory,
  DEFAULT_TTL,
  dataDirectory,
  FIRST_ADMIN_USER,
  ORDERING_DRIVERS,
  parseTtl,
} from '@quorumscan/operator'
import { CommandError, NoReplyError, UsageError } from '@quorumscan/runtime'
import { Option } from 'commander'
import { call, callControl, connectControl, statusOf } from '../control/client.ts'
import { describeRemains } from '../control/control-file.ts'
import {
  DISK_FREE_MIB_MIN,
  LOCAL_RATE_LIMIT,
  LOG_KEEP_SECONDS,
} from '../control/control-options.ts'
import type { DownOutcome } from '../control/launch.ts'
import { NODE_COUNT_MAX } from '../rig/cluster-shape.ts'
import { follow, lastLines } from '../rig/log-files.ts'
import { registerName } from '../rig/registration.ts'
import { addChaosCommands } from './chaos-commands.ts'
import { addFaultCommands } from './fault-commands.ts'
import { formatExchange, formatPreset, formatStatus, presetOf } from './format.ts'
import { addLoadCommand } from './load-command.ts'
import { addNodeCommands } from './node-commands.ts'
import type { UpFlags } from './up.ts'

/** A hundred years. */
const LOG_KEEP_SECONDS_MAX = 3_155_760_000
/** Keeps `status` below 2 s if the control plane hangs. */
const STATUS_TIMEOUT_MS = 1200
const LOG_LINES_DEFAULT = 50
const LOG_LINES_MAX = 1_000_000
/** More than the bound of a log file. */
const LOG_BYTES_MAX = 64 * 2 ** 20

const ORDERING_HELP = 'redis (default): one synchronizer; cometbft: all members'

/** The numeric options of `up`: text, smallest and largest value, and the default. */
const UP_NUMBERS = [
  ['--nodes <n>', 'super-validators (default: 4)', 1, NODE_COUNT_MAX, undefined],
  ['--base-port <port>', 'first port; 0: any free ports (default: 4600)', 0, 65_000, undefined],
  ['--rate-limit <units>', 'units per second and client', 1, 10_000_000, LOCAL_RATE_LIMIT],
  ['--disk-free-min <MiB>', 'refuse entries below this free disk', 0, 1_048_576, DISK_FREE_MIB_MIN],
  [
    '--redis-memory <MiB>',
    'of all Redis servers together (default: half of the machine)',
    64,
    1_048_576,
    undefined,
  ],
  ['--log-keep <seconds>', 'log before newest snapshot', 0, LOG_KEEP_SECONDS_MAX, LOG_KEEP_SECONDS],
] as const

/** The additions of the cluster to the program. */
export const RIG: Rig = {
  description:
    "Super-validators that resolve names by quorum: a cluster of them on this machine, or one operator's part of a network.",
  cluster: {
    async addresses(directory) {
      const { nodes, validator } = await call(connectControl(directory).cluster.status.query())
      const known = nodes.map(({ name, url, state }) => ({ name, url, isUp: state === 'up' }))
      return { nodes: known, validatorUrl: validator.url }
    },
    async status(directory) {
      const client = connectControl(directory, { timeoutMs: STATUS_TIMEOUT_MS })
      const status = await call(client.cluster.status.query()).catch((cause: unknown) => {
        throw cause instanceof NoReplyError
          ? new NoReplyError(`${cause.message}\n${describeRemains(directory)}`, { cause })
          : cause
      })
      return { text: formatStatus(status), value: status }
    },
    rules: (directory) => call(connectControl(directory).names.config.query()),
    setRules: (directory, change) => call(connectControl(directory).names.setConfig.mutate(change)),
    jobs: (directory) => call(connectControl(directory).jobs.list.query()),
    async retryJob(directory, node, { job, contractId }) {
      await call(connectControl(directory).jobs.retry.mutate({ node, job, contractId }))
    },
    async repairLog(directory, options) {
      const { repairLogOf } = await import('./repair-log.ts')
      return await repairLogOf(directory, options)
    },
  },
  examples: [
    'up --nodes 7 --detach',
    'up --genesis-overrides seconds.json --base-port 0',
    'down',
    'status',
    'status --watch',
    'status --json | jq .console.url',
    'kill sv-1 sv-2',
    'kill synchronizer redis',
    'pause sv-3',
    'resume sv-3',
    'restart sv-2',
    'wipe sv-4',
    'faults --json',
    'demo',
    'events',
    'events --json',
    'logs sv-1',
    'logs sv-1.redis -n 200',
    'logs control -f',
    'env',
    'env --json',
    'token alice --ttl 15m',
    'token --admin',
    'lie sv-3 --kind deny --for 1m',
    'lie sv-3 --to 127.0.77.1',
    'flood sv-2 --rate 500 --for 30s',
    'slow sv-2 --latency 300ms --jitter 50ms',
    'drop sv-2 --rate 0.3',
    'reset sv-2 --for 10s',
    'partition sv-4 --from log',
    'lag sv-4 --for 20s',
    'split sv-1 sv-3 sv-4 --for 1m',
    'clock sv-2 --offset -30s',
    'fill sv-2 --for 30s',
    'heal --all',
    'load --rate 100 --duration 30s',
    'chaos --seed 42 --duration 60s',
    'chaos --nodes 7 --seed 42 --beyond-f --out ./run-42',
    'chaos --scenario ./run-42/scenario.json --nodes 7 --shrink',
    'report 1a2b3c4d',
  ],
  addCommands,
}

function addCommands(context: CommandContext): void {
  const { command, clock, redisServer, exitWith } = context
  context.section('A cluster on this machine:')
  const upCommand = command('up', 'start a cluster, or the one in the data directory')
  for (const [flags, text, min, max, byDefault] of UP_NUMBERS)
    upCommand.option(flags, text, integer(min, max), byDefault)
  upCommand
    .addOption(choice('--ordering <driver>', ORDERING_HELP, ORDERING_DRIVERS))
    .option('--genesis-overrides <file>', 'JSON with other rules for a new cluster')
    .option('--wipe', 'rebuild every replica from the log first')
    .option('--accept-lost-users', 'start without users where the validator lost them')
    .option('--detach', 'return when the cluster is ready, and leave it running')
    .addOption(new Option('--seed-names', 'register a few names').hideHelp())
    .action(async (flags: UpFlags) => {
      const { up } = await import('./up.ts')
      exitWith(await up(flags, { redisServer, clock }))
    })

  command('events', 'show recent events, oldest first').action(async (options: Common) => {
    const events = await callControl(options, ({ cluster }) => cluster.events.query())
    const lines = events.flatMap(({ at, sentence }) => wrap(`${at} ${sentence}`))
    printResult(options, events, lines.join('\n'))
  })

  command('down', 'stop the cluster').action(async (options: Common) => {
    const directory = dataDirectory(options.dataDir)
    const { stopCluster } = await import('../control/launch.ts')
    const outcome = await withProgress('stopping', clock, () => stopCluster(directory, clock))
    printResult(options, outcome, describeDown(outcome, directory))
  })

  command('token', 'print a development token for a user of the validator')
    .argument('[user]', 'a user id')
    .option('--admin', 'a token of the administrator')
    .option('--ttl <time>', 'how long it is valid, e.g. 15m', DEFAULT_TTL)
    .action(
      async (user: string | undefined, options: Common & { admin?: boolean; ttl: string }) => {
        if ((user === undefined) === (options.admin === undefined))
          throw new UsageError('name either a user or --admin')
        const token = await createToken(dataDirectory(options.dataDir), {
          user: user ?? FIRST_ADMIN_USER,
          ttlSeconds: parseTtl(options.ttl),
          clock,
        })
        printResult(options, { token }, token)
      },
    )

  command('env', 'print the network of the cluster, for programs')
    .addHelpText(
      'after',
      '\nWithout --json it prints variables of a shell, which the examples of the SDK\nread: eval "$(npx --no -- quorumscan env)". With --json it prints the\n`Network` of createScan, and the address of the validator.',
    )
    .action(async (options: Common) => {
      const client = connectControl(dataDirectory(options.dataDir))
      const preset = presetOf(await call(client.cluster.status.query()))
      printResult(options, preset, formatPreset(preset))
    })

  command('demo', 'register a name through the public interface, step by step').action(
    (options: Common) => demo(options, clock),
  )

  command('logs', 'show the latest lines of the log file of a process')
    .argument('<process>', 'sv-1 …, validator, synchronizer, control; sv-1.redis for its Redis')
    .option('-n, --lines <n>', 'how many lines', integer(0, LOG_LINES_MAX), LOG_LINES_DEFAULT)
    .option('-f, --follow', 'also show new lines, until interrupted')
    .action(async (name: string, options: Common & { lines: number; follow?: boolean }) => {
      const file = logFileOf(dataDirectory(options.dataDir), name)
      const { lines, end } = lastLines(file, { lines: options.lines, bytes: LOG_BYTES_MAX })
      printResult(options, { file, lines }, [file, ...lines].join('\n'))
      if (!options.follow) return
      const onPiece = (piece: string) =>
        process.stdout.write(
          options.json
            ? `${printableJson(JSON.stringify({ file, piece }))}\n`
            : printableLines(piece),
        )
      await using _ = follow(file, { from: end, clock, onPiece })
      await untilInterrupted()
    })
  addLoadCommand(context)

  context.section('Faults:')
  addNodeCommands(context)
  addFaultCommands(context)
  addChaosCommands(context)
}

/** The log file of a process. @throws {UsageError} If no process of that name has one. */
function logFileOf(directory: DataDirectory, name: string): string {
  const folder = dirname(directory.logFile('control'))
  const files = existsSync(folder) ? readdirSync(folder) : []
  const known = files.filter((file) => file.endsWith('.log')).map((file) => basename(file, '.log'))
  if (known.includes(name)) return directory.logFile(name)
  throw new UsageError(
    known.length === 0
      ? `${directory.path} has no logs: start a cluster with \`quorumscan up\``
      : `${name} has no log file; the log files are ${known.sort().join(', ')}`,
  )
}

async function demo(options: Common, clock: Clock): Promise<void> {
  const write = (text: string) => (options.json ? undefined : print(text))
  const { validator, cluster } = await statusOf(options)
  // No earlier run of the demo has used it.
  const user = `demo-${randomHex(systemRandom, 4)}`
  const name = `${user}.unverified.ns`
  write(`Registering ${name} as user ${user}\nat ${validator.url}`)
  let count = 0
  const found = await registerName({
    validatorUrl: validator.url,
    token: await createToken(dataDirectory(options.dataDir), { user, clock }),
    name,
    description: 'Registered by the demo.',
    clock,
    onStep: (title, exchange) => {
      count += 1
      write(`\n${count}. ${title}\n${formatExchange(exchange)}`)
      if (options.json) printResult(options, { step: title, ...exchange }, '')
    },
  })
  const outcome = found.headers.get('x-quorum-outcome')
  const isExpected = outcome === (cluster.f === 0 ? 'trusted' : 'verified')
  if (!isExpected) throw new CommandError(`the lookup was answered, but its outcome is ${outcome}`)
  write(`\n${name} is registered, and its lookup is ${outcome}.`)
}

function describeDown(outcome: DownOutcome, directory: DataDirectory): string {
  if (outcome.kind === 'cleaned-up')
    return `the control plane had crashed or hung; ended its ${outcome.processCount} remaining processes`
  return outcome.kind === 'stopped' ? 'stopped' : `no cluster runs in ${directory.path}`
}
