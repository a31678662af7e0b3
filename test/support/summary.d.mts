/** The figures of one kind of tests. */
export type Kind = {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export type Summary = {
  readonly kinds: readonly Kind[]
  /** Kind, file, title and first line of the error of each failure. */
  readonly failures: readonly string[]
  /** How many tests were skipped, by reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** Sentences about files that took longer than recorded. */
  readonly slower: readonly string[]
}

export function merged(summaries: readonly Summary[]): Summary

export function linesOf(summary: Summary, seconds: number): string[]
