/** What a reader is put together from, so that a page need not load at first what it may never need. */
import type { Decisions } from './decisions.ts'
import type { Extras } from './extras.ts'
import type { createLocalHistory } from './local-history.ts'

export type LoadExtras = () => Promise<Extras>

export type ReaderParts = {
  readonly decisions: Decisions
  readonly extras: LoadExtras
  /** For readers that have a replica of their own to compare with. */
  readonly createLocalHistory?: typeof createLocalHistory
}
