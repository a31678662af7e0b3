/** The callers' questions until they are answered: each of one or more reads that end together. */
import type { Outcome } from '../votes/outcome.ts'
import type { Read } from './item.ts'

export type Questions = {
  /** Resolves with an outcome for each read, in order. Rejects with the signal's reason, or that of `fail`. */
  add(reads: readonly Read[], signal: AbortSignal | undefined): Promise<Outcome[]>
  /** The questions that came since this was asked last, but those that ended meanwhile. */
  takeNew(): (readonly Read[])[]
  settle(read: number, outcome: Outcome): void
  /** Ends the question of a read, if it has not ended, without an answer. */
  fail(read: number, reason: () => unknown): void
  failAll(reason: unknown): void
}

type Question = {
  /** Their ids follow one another. */
  readonly reads: readonly Read[]
  readonly outcomes: Outcome[]
  missing: number
  isOver: boolean
  resolve(outcomes: Outcome[]): void
  reject(reason: unknown): void
  stopListening(): void
}

/** @param onGone - Told of reads that nobody waits for any more. */
export function createQuestions(onGone: (reads: readonly number[]) => void): Questions {
  const questionByRead = new Map<number, Question>()
  let fresh: Question[] = []

  const end = (question: Question): void => {
    question.isOver = true
    question.stopListening()
    for (const { id } of question.reads) questionByRead.delete(id)
  }

  const fail = (question: Question, reason: unknown): void => {
    end(question)
    question.reject(reason)
    onGone(question.reads.map(({ id }) => id))
  }

  return {
    add: (reads, signal) =>
      new Promise((resolve, reject) => {
        const abort = () => fail(question, signal?.reason)
        const question: Question = {
          reads,
          outcomes: [],
          missing: reads.length,
          isOver: false,
          resolve,
          reject,
          stopListening: () => signal?.removeEventListener('abort', abort),
        }
        signal?.addEventListener('abort', abort, { once: true })
        for (const { id } of reads) questionByRead.set(id, question)
        fresh.push(question)
      }),
    takeNew() {
      const taken = fresh.filter(({ isOver }) => !isOver)
      fresh = []
      return taken.map(({ reads }) => reads)
    },
    settle(read, outcome) {
      const question = questionByRead.get(read)
      if (question === undefined) return
      question.outcomes[read - (question.reads[0] as Read).id] = outcome // It has this one at least.
      if (--question.missing > 0) return
      end(question)
      question.resolve(question.outcomes)
    },
    fail(read, reason) {
      const question = questionByRead.get(read)
      if (question !== undefined) fail(question, reason())
    },
    failAll(reason) {
      for (const question of new Set(questionByRead.values())) fail(question, reason)
    },
  }
}
