import type { Micros } from './time.ts'

/** Position of an entry in the log: 1, 2, 3, …; 0 is the genesis. A safe integer. */
export type Offset = number

/** An offset with its record time. */
export type LogPosition = { readonly offset: Offset; readonly recordTime: Micros }

export function isOffset(value: unknown): value is Offset {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
