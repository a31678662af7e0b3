/** Closes resources in the opposite order: all of them, also if opening or closing one failed. */
export class Resources implements AsyncDisposable {
  readonly #opened: AsyncDisposable[] = []

  /** Adds a resource to close. */
  opened<T extends AsyncDisposable>(resource: T): T {
    this.#opened.push(resource)
    return resource
  }

  /** Adds work to do when everything that is opened later is closed. */
  onClose(work: () => unknown): void {
    this.opened({ [Symbol.asyncDispose]: async () => void (await work()) })
  }

  /** @throws After it has tried to close every resource: the error, or an AggregateError of several. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = []
    for (const resource of this.#opened.splice(0).toReversed())
      try {
        await resource[Symbol.asyncDispose]()
      } catch (error) {
        errors.push(error)
      }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} errors on closing`)
  }
}

/**
 * Opens resources. Disposing of the result, which `open` must create, closes them. If opening fails, those that were
 * opened are closed.
 */
export async function openAll<T extends object>(open: (resources: Resources) => Promise<T>) {
  const resources = new Resources()
  try {
    const close = { [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose]() }
    return Object.assign(await open(resources), close)
  } catch (error) {
    // The caller needs the reason for which it did not open; an error of closing follows from it, if anything.
    await resources[Symbol.asyncDispose]().catch(() => {})
    throw error
  }
}
