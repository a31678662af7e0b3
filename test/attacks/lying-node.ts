/** Answers of a Byzantine node that cost the reader more than the node. */
export const COSTLY_LIES = {
  brackets: 'a page of maximum length full of brackets',
  moreBrackets: '8 MB of brackets',
  depth: 'a million nested arrays',
  chunks: '8 MB in chunks of one byte',
} as const

export type CostlyLie = keyof typeof COSTLY_LIES
export type LyingNodeArgument = { readonly port: number; readonly lie: CostlyLie }
