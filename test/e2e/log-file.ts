/** Reads and changes the append-only file of a stopped cluster's log. */
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One element of the log. */
export type LogElement = {
  readonly id: string
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
}

export function logFileOf(dataDir: string): string {
  const directory = join(dataDir, 'redis', 'synchronizer', 'appendonlydir')
  const file = readdirSync(directory).find((name) => name.endsWith('.incr.aof'))
  if (file === undefined) throw new Error(`no append-only file in ${directory}`)
  return join(directory, file)
}

/** The newest element. */
export function newestOf(file: string): LogElement {
  const newest = commandsOf(readFileSync(file)).findLast(([name]) => /^xadd$/i.test(`${name}`))
  const [, , id, , bytes, , signature] = newest ?? []
  if (id === undefined || bytes === undefined || signature === undefined)
    throw new Error(`${file} has no element of the log`)
  return { id: id.toString(), bytes, signature }
}

export function append(file: string, { id, bytes, signature }: LogElement): void {
  const words = ['XADD', 'log', id, 'g', bytes, 's', signature].map((word) => Buffer.from(word))
  const parts = words.flatMap((word) => [`$${word.length}\r\n`, word, '\r\n'])
  appendFileSync(
    file,
    Buffer.concat([`*${words.length}\r\n`, ...parts].map((part) => Buffer.from(part))),
  )
}

/** Flips a byte at the last occurrence of `what`. */
export function damage(file: string, what: string | Uint8Array): void {
  const bytes = readFileSync(file)
  const at = bytes.lastIndexOf(what)
  if (at < 0) throw new Error(`${file} does not contain the bytes to damage`)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}

/** Parses arrays of strings in the Redis protocol. */
function commandsOf(file: Buffer): readonly (readonly Buffer[])[] {
  const commands: Buffer[][] = []
  let at = 0
  const number = () => {
    const end = file.indexOf('\r\n', at)
    const value = Number(file.toString('latin1', at + 1, end))
    at = end + 2
    return value
  }
  while (at < file.length) {
    const count = number()
    commands.push(
      Array.from({ length: count }, () => {
        const length = number()
        at += length + 2
        return file.subarray(at - length - 2, at - 2)
      }),
    )
  }
  return commands
}
