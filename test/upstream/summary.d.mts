export type Word = 'implemented' | 'refused' | 'no effect'
export type Facts = {
  readonly document: string
  readonly version: string
  readonly operations: readonly {
    readonly operation: string
    readonly word: 'implemented' | 'missing' | 'refused' | null
    /** Our name of the operation, if it differs. */
    readonly ours?: string
    readonly members: readonly {
      readonly member: string
      readonly required: boolean
      /** Absent: undecided, or of an operation that is not implemented. */
      readonly word?: Word
    }[]
  }[]
}
export function readFacts(): readonly Facts[]
export const PAGES: Readonly<Record<'docs/upstream.md' | 'README.md', unknown>>
export function withFacts(path: keyof typeof PAGES, page: string): string
