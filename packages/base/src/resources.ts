/** Things that were opened, closed in the opposite order: all of them, also where opening the next one failed. */
export class Resources implements AsyncDisposable {
  readonly #opened: AsyncDisposable[] = []

  /** Takes over what is to be closed with the rest. */
  opened<T extends AsyncDisposable>(resource: T): T {
    this.#opened.push(resource)
    return resource
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#opened.splice(0).toReversed())
      await resource[Symbol.asyncDispose]()
  }
}

/** Runs what opens things; where it fails, what it has opened until then is closed. */
export async function openAll<T>(open: (resources: Resources) => Promise<T>): Promise<T> {
  const resources = new Resources()
  try {
    return await open(resources)
  } catch (error) {
    await resources[Symbol.asyncDispose]()
    throw error
  }
}
