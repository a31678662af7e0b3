/** The error codes of the SDK itself, in addition to those of the servers. They are rows of ERRORS.md. */

/** `null`: it depends on the request, and the error has the value. */
const row = (definite: boolean | null, retryable: boolean | null) => (doc: string) => ({
  definite,
  retryable,
  doc,
})
/** The call had no effect, and a retry cannot succeed. */
const never = row(true, false)
/** The call had no effect. A retry may succeed. */
const later = row(true, true)
/** The call may have had an effect. */
const doubtful = row(false, true)
const passing = row(null, true)
const permanent = row(null, false)
const unknown = row(null, null)

export const clientErrorCodes = {
  TIMEOUT: passing('No answer within `timeoutMs`. A request that writes may have taken effect.'),
  NETWORK_ERROR: passing(
    'The request got no answer, or no scan node can be reached: connection refused, reset, or blocked by the platform; `cause` has the reason.',
  ),
  INVALID_RESPONSE: permanent(
    'The server does not speak this protocol, or only another version of it: a seed is not a scan node, or a url is not a validator. Check the address.',
  ),
  UNKNOWN_ERROR: unknown(
    'The server sent a code that this version of the SDK does not know: `details.code`.',
  ),
  INVALID_RECEIPT: never(
    'A receipt does not prove the entry (`details.reason`), or the scan proxy sent an answer without a valid proof: do not use it.',
  ),
  WRONG_GENESIS: never(
    'A seed or a receipt has another genesis document than the pinned one. Compare the hash with what the members of the network publish; never take it from a seed.',
  ),
  NAME_CHANGED: never(
    'The owner of the name has changed since the name was last accepted on this device. `details` has both parties, and when each was seen. Ask the user, then pass `acceptChange`, or call `names.acceptChange`.',
  ),
  SEEN_NAMES_FULL: never(
    'The client remembers as many names as `seenNamesMax` allows (10 000 by default), and could not detect a change of owner of another name. Raise `seenNamesMax`, or pass 0 to remember no names.',
  ),
  NAME_EXPIRED: later(
    'The entry of the name has expired by the clock of this device: the name has no owner now, or another one. `details.entry` is the expired entry. Try again, and check the clock of the device.',
  ),
  CRYPTO_UNAVAILABLE: never(
    'The platform has no WebCrypto (in browsers: the page is not on https or localhost). The SDK reads nothing without verification; pass `crypto`.',
  ),
  STORE_UNAVAILABLE: later('A store cannot be read or written. Check its file or database.'),
  CLUSTER_FAILED: never(
    'The cluster of a test did not start. The message has the output of the command.',
  ),
  PART_UNAVAILABLE: later(
    'A part of the SDK, which `import()` loads on demand, could not be loaded. The next call tries again. In a service worker, which has no `import()`, bundle the SDK into one file (not retryable).',
  ),
  CLOSED: never('The client was closed.'),
  REGISTRATION_DIFFERS: never(
    'The name is paid for with another url or description than this call asks for; `details` has both. Nothing was paid now.',
  ),
  PAYMENT_PENDING: doubtful(
    'The coin is locked and the super-validators have not decided yet. Either the name is registered, or the coin is returned. Call `register` again to continue waiting.',
  ),
  PAYMENT_UNKNOWN: doubtful(
    'It is unknown whether the coin was locked. Call `register` again: it checks first and never pays twice for one request.',
  ),
  PAYMENT_REFUNDED: later(
    'The coin was locked and returned in full: another user was first, or the lock expired before enough super-validators decided.',
  ),
}

/** An error code of the SDK itself. */
export type ClientErrorCode = keyof typeof clientErrorCodes
