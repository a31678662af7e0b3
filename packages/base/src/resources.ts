/** Closes resources in the opposite order: all of them, also if opening or closing one failed. */
export class Resources implements AsyncDisposable {
  readonly #opened: AsyncDisposable[] = []

  /** Adds a resource to close. */
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

/** Opens resources; if that fails, those that were opened are closed. */
export async function openAll<T>(open: (resources: Resources) => Promise<T>): Promise<T> {
  const resources = new Resources()
  try {
    return await open(resources)
  } catch (error) {
    // The caller needs the reason for which it did not open; an error of closing follows from it, if anything.
    await resources[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
}
