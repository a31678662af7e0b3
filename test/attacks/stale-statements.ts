/** Answers of a member to polls of its statements, without newer ones. */
export const STALE_ANSWERS = {
  empty: 'no statement, at once',
  repeated: 'its earlier statements, at once',
} as const

export type StaleAnswer = keyof typeof STALE_ANSWERS
/** `body`: the last answer of the killed node with all its statements. */
export type StaleNodeArgument = {
  readonly port: number
  readonly answer: StaleAnswer
  readonly body: string
}
/** Polls that the node has answered since it started. */
export type StaleNodeCount = { readonly polls: number }
