/**
 * What a lookup that gets its answer does without: pages, signed answers, and the words for reads that
 * were not decided. Servers have it from the start, a page loads it when it needs it.
 */
import { createReadWork } from './read-work.ts'
import { checkAnswer } from './signed-answers.ts'
import { nodeVotes, undecidedOutcome } from './undecided.ts'

export type Extras = {
  readonly createReadWork: typeof createReadWork
  readonly checkAnswer: typeof checkAnswer
  readonly nodeVotes: typeof nodeVotes
  readonly undecidedOutcome: typeof undecidedOutcome
}

export const readerExtras: Extras = { createReadWork, checkAnswer, nodeVotes, undecidedOutcome }
