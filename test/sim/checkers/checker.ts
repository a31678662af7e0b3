import type { ReadRecord, SimRun } from '../simulate.ts'

/** A broken rule, with the read that broke it. */
export type Violation = { readonly rule: string; readonly read: ReadRecord; readonly why: string }

/** Checks a whole run. It does not depend on how the reader works. */
export type Checker = (run: SimRun) => Violation[]
