import type { ReadRecord, SimRun } from '../simulate.ts'

/** Something that must not be; `read` says where. */
export type Violation = { readonly rule: string; readonly read: ReadRecord; readonly why: string }

/** Looks at a whole run and knows nothing of how the reader works. */
export type Checker = (run: SimRun) => Violation[]
