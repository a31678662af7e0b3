/** What stands in the way of a command, as a sentence for the person who gave it. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError'
}

/** The sentence of an error for a person; of a bug, whatever it says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
