/** Provides the bearer token, and requests another one when the server refuses it. */

import { failure, isQuorumscanError } from '../errors.ts'

/** A token, or a function that returns one. It is called at the first request, and again when the server refuses the last token. */
export type TokenSource =
  | string
  | ((context: {
      /** The token that the server refused, null the first time. */
      readonly refused: string | null
      /** Aborts when the call that needs the token is aborted or times out. */
      readonly signal: AbortSignal
    }) => string | Promise<string>)

/** Calls the source once for concurrent calls. */
export function createTokenKeeper(source: TokenSource | null) {
  let current: string | null = typeof source === 'string' ? source : null
  let asking: { readonly signal: AbortSignal; readonly token: Promise<string> } | undefined
  return {
    isRenewable: typeof source === 'function',
    async get(refused: string | null, signal: AbortSignal): Promise<string | null> {
      if (typeof source !== 'function') return current
      for (;;) {
        // Another call may have received a newer token meanwhile.
        if (current !== null && current !== refused) return current
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
          // If only the call that asked was aborted, the others ask again.
          if (signal.aborted || isQuorumscanError(error)) throw error
          if (!askedFor.aborted)
            throw failure('UNAUTHENTICATED', 'The `token` function failed.', { cause: error })
        }
      }
    },
  }
}
