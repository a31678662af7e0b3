/** The commands that control a local cluster; with them the program of `apps/cli` is that of the test rig. */

import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import type { CommandContext, Common, Rig } from '@quorumscan/cli'
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
import { call, callControl, connectControl } from '../control/client.ts'
import { describeRemains } from '../control/control-file.ts'
import {
  DISK_FREE_MIB_MIN,
  LOCAL_RATE_LIMIT,
  LOG_KEEP_SECONDS,
} from '../control/control-options.ts'
import type { DownOutcome } from '../control/launch.ts'
import { NODE_COUNT_MAX } from '../rig/cluster-shape.ts'
import { registerName } from '../rig/registration.ts'
import { addChaosCommands } from './chaos-commands.ts'
import { addFaultCommands } from './fault-commands.ts'
import { formatExchange, formatStatus } from './format.ts'
import { follow, lastLines, logFileOf } from './logs.ts'
import { addNodeCommands } from './node-commands.ts'
import type { UpFlags } from './up.ts'
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
    lie: ['lie sv-3 --kind deny --for 1m'],
    slow: ['slow sv-2 --latency 300ms --jitter 50ms'],
    drop: ['drop sv-2 --rate 0.3'],
    reset: ['reset sv-2 --for 10s'],
    partition: ['partition sv-4 --from log'],
    lag: ['lag sv-4 --for 20s'],
    split: ['split sv-1 sv-3 sv-4 --for 1m'],
    clock: ['clock sv-2 --offset -30s'],
    fill: ['fill sv-2 --for 30s'],
    heal: ['heal --all'],
    prune: ['prune --to 1200', 'prune sv-1 --to 1200'],
    load: ['load --rate 100 --duration 30s'],
    chaos: [
      'chaos --seed 42 --duration 60s',
      'chaos --nodes 7 --seed 42 --beyond-f --out ./run-42',
      'chaos --scenario ./run-42/scenario.json --nodes 7 --shrink',
    ],
    report: ['report 1a2b3c4d'],
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
    .addOption(new Option('--seed-names', 'register a few names').hideHelp())
    .action(async (flags: UpFlags) => {
      const { up } = await import('./up.ts')
      exitWith(await up(flags, { redisServer, clock }))
    })

  command('status', 'what runs, and what can still be lost')
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

  addNodeCommands(context)
  addFaultCommands(context)
  addChaosCommands(context)
  addWatchCommands(context)

  command('events', 'show recent events, oldest first').action(async (options: Common) => {
    const events = await callControl(options, ({ cluster }) => cluster.events.query())
    const lines = events.flatMap(({ at, sentence }) => wrap(`${at} ${sentence}`))
    answer(options, events, lines.join('\n'))
  })

  command('down', 'stop everything').action(async (options: Common) => {
    const directory = dataDirectory(options.dataDir)
    const { stopCluster } = await import('../control/launch.ts')
    const outcome = await slowly('stopping', clock, () => stopCluster(directory, clock))
    answer(options, outcome, describeDown(outcome, directory))
  })

  command('token', 'print a development token for a user of the validator')
    .argument('[user]', 'a user id')
    .option('--admin', 'for the administrator instead')
    .option('--ttl <time>', 'how long it is valid, e.g. 15m', DEFAULT_TTL)
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

  command('demo', 'register a name through the public interface, step by step').action(
    (options: Common) => demo(options, clock),
  )

  command('logs', 'what a process wrote recently')
    .argument('<process>', 'sv-1 …, validator, synchronizer or control; sv-1.redis for its Redis')
    .option('-n, --lines <n>', 'how many lines', integer(0, LOG_LINES_MAX), LOG_LINES_SHOWN)
    .option('-f, --follow', 'and what it writes from then on, until interrupted')
    .action(async (name: string, options: Common & { lines: number; follow?: boolean }) => {
      const file = logFileOf(dataDirectory(options.dataDir), name)
      const { lines, end } = lastLines(file, options.lines)
      answer(options, { file, lines }, [file, ...lines].join('\n'))
      if (!options.follow) return
      const onPiece = (piece: string) =>
        process.stdout.write(options.json ? `${JSON.stringify({ file, piece })}\n` : piece)
      await using _ = follow(file, { from: end, clock, onPiece })
      await untilInterrupted()
    })
}

async function demo(options: Common, clock: Clock): Promise<void> {
  const say = (text: string) => (options.json ? undefined : print(text))
  const { validator, cluster } = await callControl(options, (client) =>
    client.cluster.status.query(),
  )
  // No earlier run of the demo has used it.
  const label = `demo-${randomHex(systemRandom, 4)}`
  const name = `${label}.unverified.ns`
  const asked = { user: label, ttlSeconds: DEMO_TTL_SECONDS, clock }
  const token = await createToken(dataDirectory(options.dataDir), asked)
  say(`Registering ${name} as user ${label}\nat ${validator.url}`)
  let count = 0
  const found = await registerName({
    validatorUrl: validator.url,
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
  const isExpected = outcome === (cluster.f === 0 ? 'trusted' : 'verified')
  if (!isExpected) throw new CommandError(`the lookup was answered, but its outcome is ${outcome}`)
  say(`\n${name} is registered, and its lookup is ${outcome}.`)
}

function describeDown(outcome: DownOutcome, directory: DataDirectory): string {
  if (outcome.kind === 'cleaned-up')
    return `the control plane had died, or hung; ended ${outcome.processCount} processes that it left`
  return outcome.kind === 'stopped' ? 'stopped' : `no cluster runs in ${directory.path}`
}
