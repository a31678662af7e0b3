/** Functions of the application that are told what happens, and can change nothing. */

/**
 * The listener, which never throws: what it throws, also later, is reported as an uncaught error of the page, or to the
 * console where the platform has no `reportError`.
 */
export function told<Event>(listener?: (event: Event) => void): (event: Event) => void {
  return (event) => {
    try {
      const result: unknown = listener?.(event)
      Promise.resolve(result).catch(report)
    } catch (error) {
      report(error)
    }
  }
}

function report(error: unknown): void {
  const { reportError } = globalThis as { readonly reportError?: (error: unknown) => void }
  if (typeof reportError === 'function') reportError(error)
  // biome-ignore lint/suspicious/noConsole: a failure of the program, which nothing else shows.
  else console.error(error)
}
