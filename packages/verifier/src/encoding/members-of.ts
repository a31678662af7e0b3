/**
 * The members of a value of unknown type, such as parsed JSON or a caught error; none of what is not an object. Each
 * member is of unknown type as well, until it is checked.
 */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {}
}

/** The value at the end of this path of members; undefined if any is missing. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => membersOf(inner)[name], value)
}
