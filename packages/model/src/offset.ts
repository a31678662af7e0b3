/** Position of an entry in the log: 1, 2, 3, …; 0 is the genesis. A safe integer. */
export type Offset = number

export function isOffset(value: unknown): value is Offset {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
