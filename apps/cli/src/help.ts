/** The format of the list of commands. */
import type { Help } from 'commander'

/** Descriptions in a narrower column are not wrapped, and would be too wide for a terminal. */
const WIDTH_MIN = 20

/** A command with its arguments. Its own help has the options. */
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
