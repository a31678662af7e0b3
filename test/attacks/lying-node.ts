/** What a byzantine node can say that costs its reader more than it costs the node. */
export const COSTLY_LIES = {
  brackets: 'as many brackets as a page may be long',
  moreBrackets: '8 MB of brackets',
  depth: 'a million arrays in each other',
  chunks: '8 MB in chunks of one byte',
} as const

export type CostlyLie = keyof typeof COSTLY_LIES
export type LyingNodeArgument = { readonly port: number; readonly lie: CostlyLie }
