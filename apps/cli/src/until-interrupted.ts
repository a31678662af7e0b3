/** What ends a command that runs until it is told to. */

/** Resolves at the first signal that asks a process to end. From the call on, such a signal ends nothing by itself. */
export function untilInterrupted(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve('interrupted'))
  })
}
