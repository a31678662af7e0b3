/** Which texts can be names. `parse-name.ts` explains why others cannot. */

export const SUFFIX = '.unverified.ns'
const NAME = /^(?:[a-z0-9_-]{1,46}\.unverified|[a-z0-9-]{1,32}\.sv|dso)\.ns$/

/**
 * The canonical form of a typed name: without surrounding space, with A to Z in lower case, and with `.unverified.ns`
 * after a single label. No other character is converted, so that look-alikes remain what they are.
 *
 * @returns The text, even if it cannot be a name: `isName` tests it, `parseName` gives the reason.
 */
export function normalizeName(typed: string): string {
  const name = typed.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return /^$|\./.test(name) ? name : name + SUFFIX
}

/** Whether the text can be a name, registered or not. */
export function isName(typed: string): boolean {
  return typeof typed === 'string' && NAME.test(normalizeName(typed))
}
