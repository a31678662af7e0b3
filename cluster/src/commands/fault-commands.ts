/** The commands that inject and heal faults. Each is one call to the control plane. */
import type { CommandContext, Common } from '@quorumscan/cli'
import { choice, printResult, withProgress, wrap } from '@quorumscan/cli'
import { UsageError } from '@quorumscan/runtime'
import { InvalidArgumentError, Option } from 'commander'
import { callControl } from '../control/client.ts'
import {
  CLOCK_RUNS,
  EDGES,
  FAULT_DURATION_MS_MAX,
  type Fault,
  type FaultInput,
} from '../faults/fault-spec.ts'
import { LIE_KINDS, LIES } from '../view/lies.ts'
import { formatFaults } from './format.ts'

type Timed = Common & { for?: number }

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const EDGE_HELP = 'http: clients; log: synchronizer; redis: its Redis; p2p: other engines'
const LIE_HELP = LIE_KINDS.map((kind) => `  ${kind.padEnd(14)}${LIES[kind][1]}`).join('\n')

export function addFaultCommands({ command, clock }: CommandContext): void {
  const faultCommand = (name: string, description: string) =>
    command(name, description)
      .argument('<target>', 'sv-1 …, validator or synchronizer')
      .option('--for <time>', 'heal it after this time, e.g. 500ms, 30s, 5m', milliseconds)
  const inject = async (fault: FaultInput, options: Timed) => {
    const durationMs = options.for ?? null
    const begun = await callControl(options, ({ faults }) =>
      faults.inject.mutate({ fault, durationMs }),
    )
    printResult(options, begun, wrap(sentence(begun)).join('\n'))
  }
  const edgeOption = () => choice('--edge <edge>', EDGE_HELP, EDGES, 'http')

  faultCommand('lie', 'make a super-validator lie, with its own keys')
    .addOption(choice('--kind <kind>', 'how it lies', LIE_KINDS, 'value'))
    .option('--to <address>', 'lie only to the reader at this address, e.g. 127.0.77.1')
    .addHelpText('after', `\nKinds:\n${LIE_HELP}`)
    .action((node, options) =>
      inject({ kind: 'lie', node, lie: options.kind, to: options.to }, options),
    )

  faultCommand('flood', 'send a super-validator requests from many connections and addresses')
    .option('--rate <number>', 'requests a second', wholeNumber, 1000)
    .action((node, { rate, ...options }) => inject({ kind: 'flood', node, rate }, options))

  faultCommand('slow', 'delay the answers of a node')
    .addOption(timeOption('--latency <time>', 'the delay', '300ms'))
    .addOption(timeOption('--jitter <time>', 'how much the delay varies', '0ms'))
    .addOption(edgeOption())
    .action((node, { latency, jitter, edge, ...options }) =>
      inject({ kind: 'slow', node, edge, latencyMs: latency, jitterMs: jitter }, options),
    )

  faultCommand('drop', 'drop all further bytes of connections')
    .option('--rate <probability>', 'how likely each chunk starts the loss', fraction, 1)
    .addOption(edgeOption())
    .action((node, { rate, edge, ...options }) =>
      inject({ kind: 'drop', node, edge, rate }, options),
    )

  faultCommand('reset', 'reset connections at the next byte')
    .addOption(edgeOption())
    .action((node, { edge, ...options }) => inject({ kind: 'reset', node, edge }, options))

  faultCommand('partition', 'cut a node off')
    .addOption(choice('--from <part>', 'proxy: all its clients', ['log', 'proxy', 'all'], 'all'))
    .action((node, { from, ...options }) => inject({ kind: 'partition', node, from }, options))

  faultCommand('lag', 'cut a node off from the log, so that it lags').action((node, options) =>
    inject({ kind: 'partition', node, from: 'log' }, options),
  )

  faultCommand('split', "cut a member's engine off from those of other members")
    .argument('<others...>', 'sv-1 …')
    .action((node, others, options) => inject({ kind: 'split', node, others }, options))

  faultCommand('clock', 'give a node a wrong wall clock')
    .option('--offset <time>', 'the error of its process, e.g. 30s or -5m', signedMilliseconds)
    .addOption(
      choice('--machine <how>', 'the error of all its programs, by libfaketime', CLOCK_RUNS),
    )
    .action((node, { offset: offsetMs, machine: run, ...options }) => {
      if ((offsetMs === undefined) === (run === undefined))
        throw new UsageError('name either --offset or --machine')
      if (run === undefined) return inject({ kind: 'clock', node, offsetMs }, options)
      return inject({ kind: 'machine-clock', node, run }, options)
    })

  faultCommand('fill', 'fill the Redis of a node: it refuses writes')
    .option('--disk', 'fill the disk of the log instead, for the synchronizer or a member')
    .action((node, { disk, ...options }) =>
      inject({ kind: disk === true ? 'disk' : 'memory', node }, options),
    )

  command('faults', 'list the faults in force').action(async (options: Common) => {
    const faults = await callControl(options, (client) => client.faults.list.query())
    printResult(options, faults, formatFaults(faults))
  })

  command('heal', 'end faults')
    .argument('[node]', 'the faults of one node')
    .option('--all', 'all faults')
    .option('--id <fault>', 'one fault, as `faults` lists it')
    .action(async (node: string | undefined, options: Common & { all?: boolean; id?: string }) => {
      const { id, all } = options
      if ([node, all, id].filter((choice) => choice !== undefined).length !== 1)
        throw new UsageError('name one of: a node, --id, --all')
      const healed = await withProgress('waiting until processes are up', clock, () =>
        callControl(options, ({ faults }) => faults.heal.mutate({ node, id })),
      )
      const lines = healed.map(({ spec, words }) => `healed: ${spec.node} ${words}`)
      printResult(options, healed, lines.join('\n') || 'no fault was in force')
    })
}

/** An option that is a time. Its default is shown as it is typed. */
export function timeOption(flags: string, description: string, byDefault: string): Option {
  const option = new Option(flags, description).argParser(milliseconds)
  return option.default(milliseconds(byDefault), byDefault)
}

/** Milliseconds of `500ms`, `30s`, `5m` or `1h`. @throws {InvalidArgumentError} For any other text. */
function milliseconds(text: string): number {
  const match = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)$/.exec(text)
  const value = Number(match?.[1]) * (UNITS_MS[match?.[2] ?? ''] ?? Number.NaN)
  if (Number.isSafeInteger(value) && value <= 24 * FAULT_DURATION_MS_MAX) return value
  throw new InvalidArgumentError('It is a time such as 500ms, 30s or 5m.')
}

function signedMilliseconds(text: string): number {
  return text.startsWith('-') ? -milliseconds(text.slice(1)) : milliseconds(text.replace(/^\+/, ''))
}

function wholeNumber(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number of at least 1.')
}

function fraction(text: string): number {
  const value = Number(text)
  if (value > 0 && value <= 1) return value
  throw new InvalidArgumentError('It is a number above 0, up to 1.')
}

function sentence({ spec, words, id, endsAt }: Fault): string {
  const end = endsAt === null ? `until \`quorumscan heal ${spec.node}\`` : `until ${endsAt}`
  return `${spec.node} ${words}, ${end} (${id})`
}
