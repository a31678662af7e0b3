/** Asks the own replica for its history at the offsets that are read, to compare it with the nodes' (D-38). */

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
const LOCAL_RETRY_MS = 1000 // Our own replica may come to the offset later than the nodes.
const LOCAL_TRIES_MAX = 20

export type OwnHistory = {
  /** Asks about an offset that is going to be read. */
  watch(offset: number): void
  /** Whether the own replica has not yet said whether it knows the offset. */
  isUndecided(offset: number): boolean
}

type Question = {
  isKnown: boolean
  /** Under way, and nothing is known yet. */
  isAsking: boolean
  tries: number
  askedAtMs: number
}

export function createOwnHistory(options: {
  readonly localHistoryHash: (offset: number) => Promise<string | null>
  readonly monotonicMs: () => number
  /** The own replica answered; null: it has no history there. */
  readonly onAnswer: (offset: number, historyHash: string | null) => void
}): OwnHistory {
  const questions = new Map<number, Question>()

  const ask = (offset: number, question: Question): void => {
    question.isAsking = true
    question.tries++
    question.askedAtMs = options.monotonicMs()
    const settle = (hash: string | null): void => {
      question.isAsking = false
      question.isKnown = hash !== null
      options.onAnswer(offset, hash)
    }
    // A replica that cannot answer knows nothing; the nodes are compared among themselves.
    options.localHistoryHash(offset).then(settle, () => settle(null))
  }

  const askAgain = (): void => {
    const now = options.monotonicMs()
    for (const [offset, question] of questions) {
      if (question.isKnown || question.isAsking) continue
      if (question.tries < LOCAL_TRIES_MAX && now - question.askedAtMs >= LOCAL_RETRY_MS)
        ask(offset, question)
    }
  }

  return {
    watch(offset) {
      if (questions.has(offset)) return
      askAgain()
      const question = { isKnown: false, isAsking: false, tries: 0, askedAtMs: 0 }
      questions.set(offset, question)
      if (questions.size > OFFSETS_MAX) questions.delete(questions.keys().next().value as number)
      ask(offset, question)
    },
    isUndecided(offset) {
      const question = questions.get(offset)
      return question?.isAsking === true && question.tries === 1
    },
  }
}
