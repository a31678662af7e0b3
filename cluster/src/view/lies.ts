/** How a byzantine node answers, or acts. Imports nothing, so that the console can have it. */

/**
 * Each lie in words, and what shows it to a reader: what the node answers, what it signs of the state of the ledger, or
 * nothing that can be read: then it is in the log, where interpretation ignores it.
 */
export const LIES = {
  value: ['answers', 'names belong to the liar'],
  invent: ['answers', 'names that are not registered exist'],
  deny: ['answers', 'names that are registered do not exist'],
  equivocate: ['signatures', 'the truth for some, a wrong value for others; signs two states'],
  stale: ['answers', 'answers and proofs of the moment when the lie began, as today’s'],
  garbage: ['answers', 'random bytes'],
  oversize: ['answers', '100 MB for each answer'],
  trickle: ['answers', 'one byte a second'],
  'content-type': ['answers', 'the truth, called text/html'],
  redirect: ['answers', 'every request is sent elsewhere'],
  'other-name': ['answers', 'the entry of another name'],
  signature: ['signatures', 'the truth, with signatures that do not fit'],
  head: ['answers', 'a head far beyond the log, with true answers'],
  withhold: ['signatures', 'true answers, but no statement that it signed, and no proof'],
  confirm: [null, 'confirms payments that do not exist, and everything that it sees'],
  against: [null, 'asks for each good payment to be given back, instead of resolved'],
  flood: [null, 'submits as much as it can, all of it in vain'],
} as const
export type LieKind = keyof typeof LIES
export const LIE_KINDS = Object.keys(LIES) as [LieKind, ...LieKind[]]

/** Whether anything that can be read shows the lie. */
export function isShown(lie: LieKind): boolean {
  return LIES[lie][0] !== null
}
