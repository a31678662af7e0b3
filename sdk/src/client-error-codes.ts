/** The codes that the SDK itself gives, beside those of the servers; rows of ERRORS.md. */

type ClientErrorSpec = {
  /** `null`: it depends on the request; the error says so. */
  readonly definite: boolean | null
  /** As for `definite`. */
  readonly retryable: boolean | null
  readonly doc: string
}

export const clientErrorCodes = {
  TIMEOUT: {
    definite: null,
    retryable: true,
    doc: 'No answer within `timeoutMs`. A request that writes may have taken effect.',
  },
  NETWORK_ERROR: {
    definite: null,
    retryable: true,
    doc: 'The request got no answer, or no scan node can be reached: connection refused, reset, or blocked by the platform; `cause` says more.',
  },
  INVALID_RESPONSE: {
    definite: null,
    retryable: false,
    doc: 'What answered does not speak this protocol, or another version of it: a seed that is no scan node, a url that is no validator. Check the address.',
  },
  UNKNOWN_ERROR: {
    definite: null,
    retryable: null,
    doc: 'The server says a code that this version of the SDK does not know: `details.code`.',
  },
  INVALID_RECEIPT: {
    definite: true,
    retryable: false,
    doc: 'A receipt does not prove what it should (`details.reason`), or the scan proxy gave an answer that it cannot prove: do not use it.',
  },
  WRONG_GENESIS: {
    definite: true,
    retryable: false,
    doc: 'A seed serves, or a receipt is of, another genesis document than the one that is pinned. Compare the hash with what the members of the network publish; never take it from a seed.',
  },
  NAME_CHANGED: {
    definite: true,
    retryable: false,
    doc: 'The name belongs to somebody else than when it was last accepted on this device; `details` has both parties, and when each was seen. Ask the user, then pass `acceptChange`, or call `names.acceptChange`.',
  },
  SEEN_NAMES_FULL: {
    definite: true,
    retryable: false,
    doc: 'The client remembers as many names as `seenNamesMax` allows (10 000 by default), so that it could not notice a change of owner of another name. Raise `seenNamesMax`, or pass 0 to remember no names.',
  },
  NAME_EXPIRED: {
    definite: true,
    retryable: true,
    doc: 'The entry that the name has ended by the clock of this device, so that nobody owns the name, or somebody else: `details.entry` is the one that ended. Try again, and check the clock of the device.',
  },
  CRYPTO_UNAVAILABLE: {
    definite: true,
    retryable: false,
    doc: 'The platform has no WebCrypto (in browsers: the page is not on https or localhost). Nothing is read unverified; pass `crypto`.',
  },
  STORE_UNAVAILABLE: {
    definite: true,
    retryable: true,
    doc: 'The store of a checkpoint cannot be read or written, or the file of a store is none.',
  },
  CLUSTER_FAILED: {
    definite: true,
    retryable: false,
    doc: 'The cluster of a test did not start; the message has what the command said.',
  },
  PART_UNAVAILABLE: {
    definite: true,
    retryable: true,
    doc: 'A part of the SDK, which `import()` loads when it is needed, could not be loaded: the next call tries again. In a service worker, which has no `import()`, bundle the SDK into one file (not retryable).',
  },
  CLOSED: {
    definite: true,
    retryable: false,
    doc: 'The client was closed.',
  },
  REGISTRATION_DIFFERS: {
    definite: true,
    retryable: false,
    doc: 'The name is paid for with another url or description than this call asks for; `details` has both. Nothing was paid now.',
  },
  PAYMENT_PENDING: {
    definite: false,
    retryable: true,
    doc: 'The coin is locked and the super-validators have not decided yet: the name follows, or the coin comes back. Call `register` again to go on waiting.',
  },
  PAYMENT_UNKNOWN: {
    definite: false,
    retryable: true,
    doc: 'Whether the coin was locked could not be found out. Call `register` again: it looks first and never pays twice for one request.',
  },
  PAYMENT_REFUNDED: {
    definite: true,
    retryable: true,
    doc: 'The coin was locked and given back in full: somebody else was first, or the lock ended before enough super-validators decided.',
  },
} as const satisfies Record<string, ClientErrorSpec>

/** Codes that the SDK itself gives. */
export type ClientErrorCode = keyof typeof clientErrorCodes
