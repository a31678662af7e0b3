/**
 * Returns a function that runs `work`, unless it runs already for the same input: then the caller shares the outcome of
 * that run. The first call after it has ended runs it again.
 *
 * @param keyOf - The key of an input. Inputs with equal keys share a run. Default: the input itself.
 */
export function singleFlight<T, Input = void>(
  work: (input: Input) => Promise<T>,
  keyOf: (input: Input) => unknown = (input) => input,
): (input: Input) => Promise<T> {
  const running = new Map<unknown, Promise<T>>()
  return (input) => {
    const key = keyOf(input)
    const known = running.get(key)
    if (known !== undefined) return known
    const started = work(input).finally(() => running.delete(key))
    running.set(key, started)
    return started
  }
}
