/** What several commands share: numbers as typed, and output to the terminal. */
import { type Clock, hasTerminal, printableJson, printableLines } from '@quorumscan/base'
import { InvalidArgumentError, Option } from 'commander'
import type { Common } from './rig.ts'

export const COLUMNS = 80

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^[0-9]+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It is an integer from ${min} to ${max}.`)
  }
}

/** An option with one of these values. */
export function choice(
  flags: string,
  description: string,
  choices: readonly string[],
  byDefault?: string,
): Option {
  return new Option(flags, description).choices(choices).default(byDefault)
}

/** The option of the running command that the commands in its hints need as well. */
let hintSuffix = ''

/** Hints in messages then include this option. Null: a command finds the directory without it. */
export function setHintOption(flag: '--data-dir' | '--config', path: string | null): void {
  const isPlain = /^[A-Za-z0-9_./@%+=:,-]+$/.test(path ?? '')
  const word = isPlain ? path : `'${path?.replaceAll("'", "'\\''")}'`
  hintSuffix = path === null ? '' : ` ${flag} ${word}`
}

/** A command to type, as hints name it. */
export function commandHint(command: string): string {
  return `quorumscan ${command}${hintSuffix}`
}

/** Prints text; characters that control a terminal are escaped, because much of it is of others. Commands in it, such as `quorumscan down`, get the option of the same data directory. */
export function print(text: string): void {
  process.stdout.write(`${printableLines(withHints(text))}\n`)
}

/** Prints a value as JSON with `--json`, and the text without. */
export function printResult(options: Partial<Common>, value: unknown, text: string): void {
  if (options.json) process.stdout.write(`${printableJson(JSON.stringify(value))}\n`)
  else print(text)
}

/** On stderr, so that stdout is the result alone; in lines that fit a terminal. */
export function printError(text: string): void {
  process.stderr.write(`${printableLines(text).split('\n').flatMap(wrap).join('\n')}\n`)
}

/** Commands of the ceremony work without a data directory and a configuration. */
const COMPLETE = /--data-dir|--config|^(?:genesis|keys|member) /

function withHints(text: string): string {
  return text.replace(/`quorumscan ([^`]+)`/g, (typed, command: string) =>
    COMPLETE.test(command) ? typed : `\`${commandHint(command)}\``,
  )
}

/** Breaks a text between words into lines of at most 80 columns, indented as it is. What is to be typed stays whole. */
export function wrap(prose: string): string[] {
  const text = withHints(prose)
  if (text.length <= COLUMNS) return [text]
  const indent = /^ */.exec(text)?.[0] ?? ''
  const lines: string[] = []
  let line = ''
  // Each word with the spaces before it: in a table these are several.
  for (const word of text.trimStart().match(/\s*(`[^`]*`|\S)+/g) ?? []) {
    if (indent.length + line.length + word.length > COLUMNS) {
      lines.push(line)
      line = word.trimStart()
    } else line += word
  }
  return [...lines, line].map((one) => indent + one)
}

/** A person expects output after this time. */
const QUIET_MS = 700

/** Prints on stderr what it waits for, if it takes that long. */
export async function withProgress<T>(sentence: string, clock: Clock, work: () => Promise<T>) {
  const over = new AbortController()
  const show = () => printError(`${sentence} …`)
  clock.delay(QUIET_MS, over.signal).then(show, () => {}) // Completed before the delay.
  try {
    return await work()
  } finally {
    over.abort()
  }
}

/**
 * Resolves at the first signal that asks the process to end. After the call, such a signal does not end the process.
 *
 * @param reload - Called at SIGHUP in a process without a terminal, as of a service. Default: SIGHUP always ends it, as the
 *   end of its terminal does.
 */
export function untilInterrupted(reload?: () => void): Promise<'interrupted'> {
  return new Promise((resolve) => {
    const end = () => resolve('interrupted')
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    process.on('SIGHUP', reload === undefined || hasTerminal() ? end : reload)
  })
}
