/** How a member answers polls of its statements without a newer one. */
export const STALE_ANSWERS = {
  empty: 'no statement, at once',
  repeated: 'what it signed before, at once',
} as const

export type StaleAnswer = keyof typeof STALE_ANSWERS
/** `body`: what the killed node last answered, from its first statement on. */
export type StaleNodeArgument = {
  readonly port: number
  readonly answer: StaleAnswer
  readonly body: string
}
/** Polls that the node has answered since it started. */
export type StaleNodeCount = { readonly polls: number }
