/** A broken precondition or an impossible state: a defect, never caught in order to continue. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** @throws {AssertionError} If the condition is false. Stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** The default of a switch over a union: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
