/** The codes that the SDK itself gives, in addition to those of the servers; rows of ERRORS.md. */

/** `null`: it depends on the request; the error has the value. */
const row = (definite: boolean | null, retryable: boolean | null) => (doc: string) => ({
  definite,
  retryable,
  doc,
})
/** It had no effect, and the same call never will have one. */
const never = row(true, false)
/** It had no effect; the same call may succeed later. */
const later = row(true, true)
/** It may have had an effect. */
const doubtful = row(false, true)
const passing = row(null, true)

export const clientErrorCodes = {
  TIMEOUT: passing('No answer within `timeoutMs`. A request that writes may have taken effect.'),
  NETWORK_ERROR: passing(
    'The request got no answer, or no scan node can be reached: connection refused, reset, or blocked by the platform; `cause` says more.',
  ),
  INVALID_RESPONSE: row(
    null,
    false,
  )(
    'What answered does not speak this protocol, or another version of it: a seed that is no scan node, a url that is no validator. Check the address.',
  ),
  UNKNOWN_ERROR: row(
    null,
    null,
  )('The server says a code that this version of the SDK does not know: `details.code`.'),
  INVALID_RECEIPT: never(
    'A receipt does not prove what it should (`details.reason`), or the scan proxy gave an answer that it cannot prove: do not use it.',
  ),
  WRONG_GENESIS: never(
    'A seed serves, or a receipt is of, another genesis document than the one that is pinned. Compare the hash with what the members of the network publish; never take it from a seed.',
  ),
  NAME_CHANGED: never(
    'The name belongs to somebody else than when it was last accepted on this device; `details` has both parties, and when each was seen. Ask the user, then pass `acceptChange`, or call `names.acceptChange`.',
  ),
  SEEN_NAMES_FULL: never(
    'The client remembers as many names as `seenNamesMax` allows (10 000 by default), so that it could not notice a change of owner of another name. Raise `seenNamesMax`, or pass 0 to remember no names.',
  ),
  NAME_EXPIRED: later(
    'The entry that the name has ended by the clock of this device, so that nobody owns the name, or somebody else: `details.entry` is the one that ended. Try again, and check the clock of the device.',
  ),
  CRYPTO_UNAVAILABLE: never(
    'The platform has no WebCrypto (in browsers: the page is not on https or localhost). Nothing is read unverified; pass `crypto`.',
  ),
  STORE_UNAVAILABLE: later(
    'The store of a checkpoint cannot be read or written, or the file of a store is none.',
  ),
  CLUSTER_FAILED: never(
    'The cluster of a test did not start; the message has what the command said.',
  ),
  PART_UNAVAILABLE: later(
    'A part of the SDK, which `import()` loads when it is needed, could not be loaded: the next call tries again. In a service worker, which has no `import()`, bundle the SDK into one file (not retryable).',
  ),
  CLOSED: never('The client was closed.'),
  REGISTRATION_DIFFERS: never(
    'The name is paid for with another url or description than this call asks for; `details` has both. Nothing was paid now.',
  ),
  PAYMENT_PENDING: doubtful(
    'The coin is locked and the super-validators have not decided yet: the name follows, or the coin comes back. Call `register` again to go on waiting.',
  ),
  PAYMENT_UNKNOWN: doubtful(
    'Whether the coin was locked could not be found out. Call `register` again: it looks first and never pays twice for one request.',
  ),
  PAYMENT_REFUNDED: later(
    'The coin was locked and given back in full: somebody else was first, or the lock ended before enough super-validators decided.',
  ),
}

/** Codes that the SDK itself gives. */
export type ClientErrorCode = keyof typeof clientErrorCodes
