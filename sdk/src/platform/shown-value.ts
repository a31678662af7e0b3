/** For messages: a value that a caller passed. Never of a secret. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 79)}…` : value)
  if (value === undefined || value === null || /^[nb]/.test(typeof value)) return String(value)
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`
}
