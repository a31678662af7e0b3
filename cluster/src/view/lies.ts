/** The lies of a byzantine node. Imports nothing, so that the console can import it. */

/**
 * Each lie in words, and where a reader sees it: in the node's answers, in its signed statements, or nowhere (null). Such a
 * lie is in the log, where interpretation ignores it.
 */
export const LIES = {
  value: ['answers', 'names belong to the liar'],
  invent: ['answers', 'names that are not registered exist'],
  deny: ['answers', 'names that are registered do not exist'],
  equivocate: ['signatures', 'the truth for some, a wrong value for others; signs two states'],
  stale: ['answers', 'answers and proofs from the time when the lie began'],
  garbage: ['answers', 'random bytes'],
  oversize: ['answers', '100 MB for each answer'],
  trickle: ['answers', 'one byte a second'],
  'content-type': ['answers', 'the truth, called text/html'],
  redirect: ['answers', 'every request is redirected elsewhere'],
  'other-name': ['answers', 'the entry of another name'],
  signature: ['signatures', 'the truth, with signatures that do not fit'],
  head: ['answers', 'a head far beyond the log, with true answers'],
  withhold: ['signatures', 'true answers, but no signed statements and no proofs'],
  confirm: [null, 'confirms payments that do not exist, and every contract'],
  against: [null, 'requests the refund of each valid payment'],
  flood: [null, 'submits as much as it can, without effect'],
} as const
export type LieKind = keyof typeof LIES
export const LIE_KINDS = Object.keys(LIES) as [LieKind, ...LieKind[]]

/** Whether readers can see the lie. */
export function isVisibleLie(lie: LieKind): boolean {
  return LIES[lie][0] !== null
}
