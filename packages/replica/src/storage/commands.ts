/** The commands that batches consist of: gathered by key, and cut so that Lua can unpack them. */
import { bufferOf } from '@quorumscan/base'

/** An argument of a Redis command. */
export type Argument = string | number | Uint8Array
/** One command of a batch: its name, the key it changes, the rest of its arguments. */
export type Command = readonly [name: string, key: string, ...args: Argument[]]

/** `unpack` of Lua takes a few thousand values: larger commands are cut. */
const COMMAND_ARGUMENTS_MAX = 1_000
/** Approximate memory of an argument in addition to its bytes. */
const ARGUMENT_BYTES = 32

/**
 * Commands gathered by key. Contracts and their index are in thousands of small keys, where one command for each member
 * takes longer than the rest of the work.
 */
export function createGatheredCommands() {
  type OpenCommand = [name: string, key: string, ...args: Argument[]]
  const openByName = new Map<string, Map<string, OpenCommand>>()
  let commands: Command[] = []
  let bytes = 0

  const open = (name: string, key: string): OpenCommand => {
    const command: OpenCommand = [name, key]
    commands.push(command)
    return command
  }
  const extend = (command: OpenCommand, args: readonly Argument[]): void => {
    for (const argument of args) {
      command.push(argument)
      bytes += ARGUMENT_BYTES + (typeof argument === 'number' ? 0 : argument.length)
    }
  }

  return {
    /** Only for commands that take any number of members, such as HSET. Members of one key are sent together, in order. */
    add(name: string, key: string, ...member: Argument[]): void {
      let openByKey = openByName.get(name)
      if (openByKey === undefined) {
        openByKey = new Map()
        openByName.set(name, openByKey)
      }
      let command = openByKey.get(key)
      if (command === undefined || command.length + member.length > 2 + COMMAND_ARGUMENTS_MAX) {
        command = open(name, key)
        openByKey.set(key, command)
      }
      extend(command, member)
    },
    /** For all other commands. */
    addWhole: (name: string, key: string, ...args: Argument[]): void =>
      extend(open(name, key), args),
    /** The approximate memory of the commands. */
    bytes: () => bytes,
    /** Removes and returns all commands, in the order in which their first members were added. */
    take(): Command[] {
      const taken = commands
      commands = []
      openByName.clear()
      bytes = 0
      return taken
    },
  }
}

export type GatheredCommands = ReturnType<typeof createGatheredCommands>
/** Receives the commands of a plan. Commands of one key run in the order in which their first members were added. */
export type CommandSink = Pick<GatheredCommands, 'add' | 'addWhole'>

/** Converts an argument for ioredis, without copying its bytes. */
export function toRedis(value: Argument): string | number | Buffer {
  return typeof value === 'object' ? bufferOf(value) : value
}
