/** `capacity`: what a running member needs at its present rate. */
import type { Capacity, Growth } from '@quorumscan/operator/capacity'
import { formatInstant } from '@quorumscan/verifier'
import { printResult, setHintOption, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

const WHAT = {
  memory: 'memory of Redis',
  names: '  of it for names',
  users: '  of it for users',
  file: 'file of Redis',
  blocks: 'blocks of the engine',
}
const EACH = {
  memory: 'an entry',
  names: 'a name',
  users: 'a user',
  file: 'an entry',
  blocks: 'a block',
}
const COLUMNS = [24, 14, 22] as const
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function addCapacityCommand({
  plain,
  clock,
}: Pick<CommandContext, 'plain' | 'clock'>): void {
  plain('capacity', 'show what a running member needs in a month, and until when it has it')
    .requiredOption('--config <file>', 'its variables, as for `run`')
    .addHelpText(
      'after',
      `
It reads the metrics at QS_OPERATOR_ADDRESS. The values of a month are upper
bounds: the log is trimmed, and names and activities end.`,
    )
    .action(async (options: { config: string; json?: boolean }) => {
      setHintOption('--config', options.config)
      const operator = await import('@quorumscan/operator/run')
      const { AHEAD_DAYS, readCapacity } = await import('@quorumscan/operator/capacity')
      const config = operator.readOperatorConfig(
        operator.findRole(options.config),
        options.config,
        () => [],
      )
      const capacity = await readCapacity(config, clock)
      printResult(options, capacity, describeCapacity(config.name, capacity, AHEAD_DAYS).join('\n'))
    })
}

/** Lines for a terminal. Pure. */
export function describeCapacity(name: string, capacity: Capacity, aheadDays: number): string[] {
  const { offset, names, users, entriesPerDay, rateSince, offsetAhead, growths, memory, disk } =
    capacity
  const things = [
    `${offset} entries`,
    ...(names === null ? [] : [`${names} names`]),
    ...(users === null ? [] : [`${users} users`]),
  ]
  const row = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(COLUMNS[index] ?? 0))
      .join('')
      .trimEnd()
  return [
    ...wrap(
      `${name} has ${things.join(', ')}; ${Math.round(entriesPerDay)} entries a day since ${formatInstant(rateSince)}.`,
    ),
    '',
    row(['', 'now', 'each', `in ${aheadDays} days, at most`]),
    row(['entries', String(offset), '', String(Math.round(offsetAhead))]),
    ...growths.map(({ what, bytes, bytesEach, bytesAhead }: Growth) =>
      row([WHAT[what], size(bytes), `${size(bytesEach)} ${EACH[what]}`, size(bytesAhead)]),
    ),
    '',
    ...wrap(`${size(memory.bytesMax)} of memory ${until(memory.days)}.`),
    ...wrap(
      Number.isFinite(disk.bytesFree)
        ? `${size(disk.bytesFree)} of free disk ${until(disk.days)}.`
        : 'The disk of Redis is on another machine.',
    ),
  ]
}

function until(days: number | null): string {
  if (days === null) return 'suffice for more than a hundred years'
  const count = Math.floor(days)
  return `suffice for ${count === 1 ? 'one day' : `${count} days`}`
}

/** With three digits. */
function size(bytes: number): string {
  let [value, unit] = [bytes, 0]
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1024
  return `${value < 100 && unit > 0 ? value.toPrecision(3) : Math.round(value)} ${UNITS[unit]}`
}
