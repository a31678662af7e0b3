/** Where the token comes from, and when it is asked for anew. */

/** A text, or asked for when one is needed; asked again, once, when the server refuses the last one. */
export type TokenSource =
  | string
  | ((context: {
      /** The token that the server refused, null the first time. */
      readonly refused: string | null
      readonly signal: AbortSignal
    }) => string | Promise<string>)

/** Asks the source once for the calls of one moment. */
export function createTokenKeeper(source: TokenSource | null) {
  let current: string | null = typeof source === 'string' ? source : null
  let asking: Promise<string> | undefined
  return {
    isRenewable: typeof source === 'function',
    async get(refused: string | null, signal: AbortSignal): Promise<string | null> {
      if (typeof source !== 'function') return current
      // Another call may have brought a newer one meanwhile.
      if (current !== null && current !== refused) return current
      // Calls of one moment ask once.
      asking ??= Promise.resolve(source({ refused, signal })).finally(() => {
        asking = undefined
      })
      current = await asking
      return current
    },
  }
}
