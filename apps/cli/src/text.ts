/** Texts from outside: typed by a person, or written by others. Pure. */
import { printable } from '@quorumscan/base'
import type { Lookup } from '@quorumscan/verifier'
import { COLUMNS } from './options.ts'

/** A party identifier has a double colon, a name never has. */
export function lookupOf(text: string): Lookup {
  return text.includes('::') ? { party: text } : { name: text }
}

const NAME_COLUMNS = 12

/** A name with its value. A value that does not fit next to the name is on a line of its own, whole, to be copied. */
export function field(name: string, value: string): string {
  const line = `  ${name.padEnd(NAME_COLUMNS)}${printable(value)}`.trimEnd()
  return line.length <= COLUMNS ? line : `  ${name}\n    ${printable(value)}`
}

/** The members of what the state has, such as an entry, a line each. */
export function fields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [`  ${printable(JSON.stringify(value))}`]
  return Object.entries(value).map(([name, member]) => {
    const text = member ?? '-'
    return field(printable(name), typeof text === 'string' ? text : JSON.stringify(text))
  })
}

/** The lines of an entry, or `no entry`. */
export function entryLines(entry: unknown): string[] {
  return entry === null ? ['  no entry'] : fields(entry)
}
