/** Runs measurements in separate processes, because one Node process can be slow for its whole life. */
import {
  type ChildProcess,
  type ChildProcessByStdio,
  type StdioOptions,
  spawn,
} from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { ROOT } from './root.ts'

export type Child = AsyncDisposable & {
  /** The next line of its standard output, read as JSON. */
  result<Result>(): Promise<Result>
  /** Runs it again (`again`) with these members of its argument changed, and returns its result. */
  again<Result>(change?: object): Promise<Result>
}

/** Standard streams of each child process. */
export const CHILD_STDIO = ['pipe', 'pipe', 'inherit'] as const satisfies StdioOptions
const PROGRAMS = join(ROOT, 'test/dist')

/** Starts a command. Default: on this machine. */
type Start = (command: string, ...args: readonly string[]) => ChildProcess
const startHere: Start = (command, ...args) => spawn(command, args, { stdio: CHILD_STDIO })

/**
 * Starts a program with one JSON argument.
 *
 * @param program - Its file below `test`, without ending, such as `support/load-child`. `build.mjs` bundles it.
 */
export function startChild(program: string, argument: object, start = startHere): Child {
  const path = join(PROGRAMS, `${program}.js`)
  const child = start(process.execPath, path, JSON.stringify(argument)) as ChildProcessByStdio<
    Writable,
    Readable,
    null
  >
  const exited = once(child, 'exit')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const result = async () => {
    while (!text.includes('\n')) {
      const [event] = await Promise.race([once(child.stdout, 'data'), exited])
      if (typeof event !== 'string' && !text.includes('\n'))
        throw new Error(`${program} ended with ${event} without a result`)
    }
    const end = text.indexOf('\n')
    const line = text.slice(0, end)
    text = text.slice(end + 1)
    return JSON.parse(line)
  }
  return {
    result,
    again(change = {}) {
      child.stdin.write(`${JSON.stringify(change)}\n`)
      return result()
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Runs a program, and returns its first result. */
export async function runChild<Result>(program: string, argument: object): Promise<Result> {
  await using child = startChild(program, argument)
  return await child.result<Result>()
}

/** The argument of a program that was started as a child. `answer` prints its result. */
export function childArgument<Argument>(): Argument {
  return JSON.parse(process.argv[2] ?? 'null')
}

export function answer(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

/** Runs a measurement once, and again for each change of its argument from the parent. Ends with the parent. */
export async function again<Argument extends object>(
  argument: Argument,
  what: (argument: Argument) => Promise<object>,
): Promise<void> {
  answer(await what(argument))
  for await (const change of createInterface(process.stdin))
    answer(await what({ ...argument, ...JSON.parse(change) }))
}
