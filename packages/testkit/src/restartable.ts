/** Servers that a test stops, and starts again. */
type Running = AsyncDisposable & { readonly url: string }

export type Restartable<Options> = AsyncDisposable & {
  /** Of the server that runs, or of the last one that did. */
  readonly url: string
  stop(): Promise<void>
  start(options?: Options): Promise<void>
}

/** Starts the first one. */
export async function startRestartable<Options>(
  open: (options?: Options) => Promise<Running>,
): Promise<Restartable<Options>> {
  let running = await open()
  let isOpen = true
  const stop = async () => {
    if (isOpen) await running[Symbol.asyncDispose]()
    isOpen = false
  }
  return {
    get url() {
      return running.url
    },
    stop,
    async start(options) {
      running = await open(options)
      isOpen = true
    },
    [Symbol.asyncDispose]: stop,
  }
}
