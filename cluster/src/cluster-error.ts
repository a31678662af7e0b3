/** What stands in the way of a command, as a sentence for the person who gave it. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError'
}

/** What was typed makes no sense, or names what cannot be read: nothing was done. */
export class UsageError extends ClusterError {}

/** The sentence of an error for a person; of a bug, whatever it says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
