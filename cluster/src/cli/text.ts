/** Texts that come from elsewhere: what a person types, and what others wrote. Pure. */
import type { Lookup } from '@quorumscan/consensus'

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
