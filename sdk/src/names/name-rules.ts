/** Names as people type them, and which of them can be one. What is wrong with the others: `parse-name.ts`. */

export const SUFFIX = '.unverified.ns'
const NAME = /^(?:[a-z0-9_-]{1,46}\.unverified|[a-z0-9-]{1,32}\.sv|dso)\.ns$/

/**
 * A name as the service has it: no space around it, A to Z in lower case, and `.unverified.ns` behind a label that
 * stands alone. No other letter is turned into one of a name: whatever only looks like one stays what it is.
 *
 * @returns Possibly something that can be no name: `isName` tells, `parseName` says why.
 */
export function normalizeName(typed: string): string {
  const name = typed.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return /^$|\./.test(name) ? name : name + SUFFIX
}

/** Whether what was typed can be a name, registered or not. */
export function isName(typed: string): boolean {
  return typeof typed === 'string' && NAME.test(normalizeName(typed))
}
