/** Things that were opened, closed in the opposite order: all of them, also where opening or closing one failed. */
export class Resources implements AsyncDisposable {
  readonly #opened: AsyncDisposable[] = []

  /** Takes over what is to be closed with the rest. */
  opened<T extends AsyncDisposable>(resource: T): T {
    this.#opened.push(resource)
    return resource
  }

  /** @throws The error of the one that could not be closed, after all were; an AggregateError of several. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = []
    for (const resource of this.#opened.splice(0).toReversed())
      try {
        await resource[Symbol.asyncDispose]()
      } catch (error) {
        errors.push(error)
      }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} could not be closed`)
  }
}

/** Runs what opens things; where it fails, what it has opened until then is closed. */
export async function openAll<T>(open: (resources: Resources) => Promise<T>): Promise<T> {
  const resources = new Resources()
  try {
    return await open(resources)
  } catch (error) {
    // The caller needs the reason why it did not open; a failure to close what did follows from it, if anything.
    await resources[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
}
