/** The commands that break and mend: each is one call to the control plane. */
import type { CommandContext, Common } from '@quorumscan/cli'
import { answer, slowly, wrap } from '@quorumscan/cli'
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

export function addFaultCommands({ command, clock }: CommandContext): void {
  const breaking = (name: string, description: string) =>
    command(name, description)
      .argument('<node>', 'sv-1 …, validator or synchronizer')
      .option('--for <time>', 'heals by itself after this, e.g. 500ms, 30s, 5m', milliseconds)
  const inject = async (fault: FaultInput, options: Timed) => {
    const durationMs = options.for ?? null
    const begun = await callControl(options, ({ faults }) =>
      faults.inject.mutate({ fault, durationMs }),
    )
    answer(options, begun, wrap(sentence(begun)).join('\n'))
  }
  const edge = () =>
    new Option(
      '--edge <edge>',
      'http: its clients; log: log and synchronizer; redis: its own Redis; p2p: the other engines',
    )
      .choices(EDGES)
      .default('http')

  breaking('lie', 'make a super-validator lie, with its own keys')
    .addOption(new Option('--kind <kind>', 'how').choices(LIE_KINDS).default('value'))
    .addHelpText(
      'after',
      `\nKinds:\n${LIE_KINDS.map((kind) => `  ${kind.padEnd(14)}${LIES[kind][1]}`).join('\n')}`,
    )
    .action((node, options) => inject({ kind: 'lie', node, lie: options.kind }, options))

  breaking('slow', 'delay what a node answers')
    .addOption(timeOption('--latency <time>', 'how late', '300ms'))
    .addOption(timeOption('--jitter <time>', 'more or less by up to this', '0ms'))
    .addOption(edge())
    .action((node, { latency, jitter, edge, ...options }) =>
      inject({ kind: 'slow', node, edge, latencyMs: latency, jitterMs: jitter }, options),
    )

  breaking('drop', 'let connections go silent')
    .option('--rate <probability>', 'with which a connection does, at each chunk', fraction, 1)
    .addOption(edge())
    .action((node, { rate, edge, ...options }) =>
      inject({ kind: 'drop', node, edge, rate }, options),
    )

  breaking('reset', 'reset connections as soon as something is sent')
    .addOption(edge())
    .action((node, { edge, ...options }) => inject({ kind: 'reset', node, edge }, options))

  breaking('partition', 'cut a node off')
    .addOption(
      new Option('--from <part>', 'log, proxy (with all other clients) or all')
        .choices(['log', 'proxy', 'all'])
        .default('all'),
    )
    .action((node, { from, ...options }) => inject({ kind: 'partition', node, from }, options))

  breaking('lag', 'cut a node off from the log, so that it falls behind').action((node, options) =>
    inject({ kind: 'partition', node, from: 'log' }, options),
  )

  breaking('split', 'cut the engine of a node off from those of others, where all order together')
    .argument('<others...>', 'sv-1 …')
    .action((node, others, options) => inject({ kind: 'split', node, others }, options))

  breaking('clock', 'give a node a wrong wall clock')
    .option('--offset <time>', 'of its process: how wrong, e.g. 30s or -5m', signedMilliseconds)
    .addOption(
      new Option('--machine <how>', 'of all its programs, with libfaketime').choices(CLOCK_RUNS),
    )
    .action((node, { offset, machine, ...options }) => {
      if ((offset === undefined) === (machine === undefined))
        throw new UsageError('say either --offset or --machine')
      return inject(
        machine === undefined
          ? { kind: 'clock', node, offsetMs: offset }
          : { kind: 'machine-clock', node, run: machine },
        options,
      )
    })

  breaking('fill', 'fill the Redis of a node: it refuses writes')
    .option('--disk', 'or the disk of the log: said of the synchronizer, or of who orders as well')
    .action((node, { disk, ...options }) =>
      inject({ kind: disk === true ? 'disk' : 'memory', node }, options),
    )

  command('faults', 'the faults in force').action(async (options: Common) => {
    const faults = await callControl(options, (client) => client.faults.list.query())
    answer(options, faults, formatFaults(faults))
  })

  command('heal', 'end faults')
    .argument('[node]', 'those of one node')
    .option('--all', 'all of them')
    .option('--id <fault>', 'one, as `faults` shows it')
    .action(async (node: string | undefined, options: Common & { all?: boolean; id?: string }) => {
      const chosen = [node, options.all, options.id].filter((choice) => choice !== undefined)
      if (chosen.length !== 1) throw new UsageError('name a node, say --id, or say --all')
      const { id } = options
      const selection = { ...(node !== undefined && { node }), ...(id !== undefined && { id }) }
      const healed = await slowly('waiting for what was down', clock, () =>
        callControl(options, ({ faults }) => faults.heal.mutate(selection)),
      )
      const lines = healed.map(({ spec, words }) => `healed: ${spec.node} ${words}`)
      answer(options, healed, lines.length === 0 ? 'nothing was broken' : lines.join('\n'))
    })
}

/** An option that is a time, with its default as it is typed. */
export function timeOption(flags: string, description: string, byDefault: string): Option {
  const option = new Option(flags, description).argParser(milliseconds)
  return option.default(milliseconds(byDefault), byDefault)
}

/** Milliseconds of `500ms`, `30s`, `5m` or `1h`. @throws {InvalidArgumentError} For anything else. */
export function milliseconds(text: string): number {
  const match = /^([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)$/.exec(text)
  const value = Number(match?.[1]) * (UNITS_MS[match?.[2] ?? ''] ?? Number.NaN)
  if (Number.isSafeInteger(value) && value <= 24 * FAULT_DURATION_MS_MAX) return value
  throw new InvalidArgumentError('It is a time such as 500ms, 30s or 5m.')
}

function signedMilliseconds(text: string): number {
  return text.startsWith('-') ? -milliseconds(text.slice(1)) : milliseconds(text.replace(/^\+/, ''))
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
