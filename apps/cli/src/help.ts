/** How the list of commands is shown: by what they are for. */
import type { Command, Help } from 'commander'

/** Narrower descriptions are not broken into lines, and would be too wide for a terminal. */
const WIDTH_MIN = 20

/** Commands by what they are for. */
export type Groups = Readonly<Record<string, readonly string[]>>

export const GROUPS: Groups = {
  'Names and proofs, of any network:': ['resolve', 'verify', 'mirror'],
  "One operator's part of a network:": [
    ...['keys', 'genesis', 'run', 'check', 'config', 'protocol', 'backup', 'restore', 'log'],
    ...['jobs', 'cometbft'],
  ],
}

/** A command with what is typed behind it, but for options: these are in its own help. */
export const HELP: Partial<Help> = {
  minWidthToWrap: WIDTH_MIN,
  subcommandTerm(command) {
    const below = command.commands.map((one) => one.name()).join('|')
    const args = command
      .usage()
      .replace(/\[(?:options|command)\]/g, '')
      .trim()
    return [command.name(), below, args].filter((words) => words !== '').join(' ')
  },
}

/** Once all commands are there: those of a group come together, in the order of above. */
export function groupCommands(program: Command, groups: Groups): void {
  const order = Object.values(groups).flat()
  const rankOf = (command: Command) => order.indexOf(command.name())
  const commands = program.commands as Command[] // Read-only by its type alone.
  commands.sort((one, other) => rankOf(one) - rankOf(other))
  for (const [heading, names] of Object.entries(groups))
    for (const command of commands) if (names.includes(command.name())) command.helpGroup(heading)
}
