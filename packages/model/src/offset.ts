/** Position of an entry in the log: 1, 2, 3, …; 0 is the genesis. A safe integer. */
export type Offset = number

export function isOffset(value: unknown): value is Offset {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** @returns undefined unless the text is a decimal offset without sign or leading zeros. */
export function parseOffset(text: string): Offset | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}
