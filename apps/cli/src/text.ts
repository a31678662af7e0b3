/** Texts that come from elsewhere: what a person types, and what others wrote. Pure. */
import type { Lookup } from '@quorumscan/verifier'
import { COLUMNS } from './options.ts'

/** A party identifier has a double colon, a name never has. */
export function lookupOf(text: string): Lookup {
  return text.includes('::') ? { party: text } : { name: text }
}

/** With control and format characters escaped: what others wrote must not command a terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

const NAME_COLUMNS = 12

/** A name with its value: on a line of its own where it does not fit beside the name, and whole, to be copied. */
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

/** An entry, or that there is none. */
export function entryLines(entry: unknown): string[] {
  return entry === null ? ['  no entry'] : fields(entry)
}
