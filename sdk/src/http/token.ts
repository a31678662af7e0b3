/** Where the token comes from, and when it is asked for anew. */

import { failure, isQuorumscanError } from '../errors.ts'

/** A text, or asked for when one is needed; asked again, once, when the server refuses the last one. */
export type TokenSource =
  | string
  | ((context: {
      /** The token that the server refused, null the first time. */
      readonly refused: string | null
      /** Of the call that needs the token: aborts when it is given up, or late. */
      readonly signal: AbortSignal
    }) => string | Promise<string>)

/** Asks the source once for the calls of one moment. */
export function createTokenKeeper(source: TokenSource | null) {
  let current: string | null = typeof source === 'string' ? source : null
  let asking: { readonly signal: AbortSignal; readonly token: Promise<string> } | undefined
  return {
    isRenewable: typeof source === 'function',
    async get(refused: string | null, signal: AbortSignal): Promise<string | null> {
      if (typeof source !== 'function') return current
      for (;;) {
        // Another call may have brought a newer one meanwhile.
        if (current !== null && current !== refused) return current
        // Calls of one moment ask once.
        if (asking === undefined) {
          const ask = async () => source({ refused, signal })
          const token = ask().finally(() => {
            asking = undefined
          })
          asking = { signal, token }
        }
        const { signal: askedFor, token } = asking
        try {
          current = await token
          return current
        } catch (error) {
          // The call that asked was given up; that is no failure of the others.
          if (signal.aborted || isQuorumscanError(error)) throw error
          if (!askedFor.aborted)
            throw failure('UNAUTHENTICATED', 'The function that was passed as `token` failed.', {
              cause: error,
            })
        }
      }
    },
  }
}
