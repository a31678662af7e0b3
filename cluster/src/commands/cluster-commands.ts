/** The commands that control a local cluster; with them the program of `apps/cli` is that of the test rig. */

import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import type { CommandContext, Rig } from '@quorumscan/cli'
import { answer, integer, print, slowly, untilInterrupted, wrap } from '@quorumscan/cli'
import {
  createToken,
  type DataDirectory,
  DEFAULT_TTL,
  dataDirectory,
  FIRST_ADMIN_USER,
  ORDERING_DRIVERS,
  parseTtl,
} from '@quorumscan/operator'
import { CommandError, SilentError, UsageError } from '@quorumscan/runtime'
import { Option } from 'commander'
import { NODE_COUNT_MAX } from '../cluster-shape.ts'
import { call, connectControl } from '../control/client.ts'
import {
  DISK_FREE_MIB_MIN,
  LOCAL_RATE_LIMIT,
  LOG_KEEP_SECONDS,
} from '../control/control-options.ts'
import type { DownOutcome } from '../control/down.ts'
import { describeRemains } from '../control/remains.ts'
import { registerName } from '../registration.ts'
import { addChaosCommands } from './chaos-commands.ts'
import { addFaultCommands } from './fault-commands.ts'
import { formatExchange, formatStatus } from './format.ts'
import { follow, lastLines, logFileOf } from './logs.ts'
import { addNodeCommands } from './node-commands.ts'
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

/** What the cluster adds to the program. */
export const RIG: Rig = {
  description:
    "Super-validators that resolve names by quorum: a cluster of them on this machine, or one operator's part of a network.",
  cluster: {
    async addresses(directory) {
      const { nodes, validator } = await call(connectControl(directory).cluster.status.query())
      return {
        nodes: nodes.map(({ name, url, state }) => ({ name, url, isUp: state === 'up' })),
        validatorUrl: validator.url,
      }
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
  groups: {
    'A cluster on this machine:': [
      ...['up', 'status', 'events', 'logs', 'down', 'token', 'demo', 'load', 'prune'],
    ],
    'Breaking it, and mending it:': [
      ...['kill', 'pause', 'resume', 'restart', 'wipe', 'lie', 'slow', 'drop', 'reset'],
      ...['partition', 'lag', 'split', 'clock', 'fill', 'faults', 'heal', 'chaos', 'report'],
    ],
  },
  examples: {
    up: ['up --nodes 7 --detach', 'up --genesis-overrides seconds.json --base-port 0'],
    down: ['down'],
    status: ['status', 'status --watch', 'status --json | jq .console.url'],
    kill: ['kill sv-1 sv-2', 'kill synchronizer redis'],
    pause: ['pause sv-3'],
    resume: ['resume sv-3'],
    restart: ['restart sv-2'],
    wipe: ['wipe sv-4'],
    faults: ['faults --json'],
    demo: ['demo'],
    events: ['events', 'events --json'],
    logs: ['logs sv-1', 'logs sv-1.redis -n 200', 'logs control -f'],
    token: ['token alice --ttl 15m', 'token --admin'],
  },
  addCommands,
}

function addCommands(context: CommandContext): void {
  const { command, clock, redisServer, exitWith } = context
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
      const code = await up({
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
        redisServer,
        clock,
      })
      exitWith(code)
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
