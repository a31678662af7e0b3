/** A broken precondition or an impossible state: a bug of ours, never caught in order to go on. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** @throws {AssertionError} If the condition is false. Stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Closes a switch over a union: does not compile while a case is missing, throws if one got past. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
