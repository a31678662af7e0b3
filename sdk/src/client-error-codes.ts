/** The error codes of the SDK itself, in addition to those of the servers. They are rows of ERRORS.md. */

/** Codes with the same flags. `null`: it depends on the request, and the error has the value. */
function codes<Code extends string>(
  definite: boolean | null,
  retryable: boolean | null,
  docs: Readonly<Record<Code, string>>,
) {
  const rows = Object.entries<string>(docs).map(([code, doc]) => [
    code,
    { definite, retryable, doc },
  ])
  return Object.fromEntries(rows) as Record<
    Code,
    { readonly definite: boolean | null; readonly retryable: boolean | null; readonly doc: string }
  >
}

export const clientErrorCodes = {
  // A request that writes, or an earlier one with its id, may have had an effect. A retry may succeed.
  ...codes(null, true, {
    TIMEOUT:
      'No answer within `timeoutMs`, or before a signal aborted whose reason is an error of the SDK. A request that writes may have taken effect.',
    NETWORK_ERROR:
      'The request got no answer, or no scan node can be reached: connection refused, reset, or blocked by the platform; `cause` has the reason.',
    OFFLINE:
      'This device reports that it has no network: nothing was read since, and nothing is sent until you try again. `cause` has the last failure, such as a part of the SDK that could not be loaded.',
  }),
  // A request that writes may have had an effect. A retry cannot succeed.
  ...codes(null, false, {
    INVALID_RESPONSE:
      'The server does not speak this protocol, or only another version of it: a seed is not a scan node, or a url is not a validator. Check the address. Of an entry that enough members signed: its owner is not a party, so do not use it.',
  }),
  // It depends on the code, or on what was called.
  ...codes(null, null, {
    APPLICATION_FAILED:
      'A function that the application passed (`traceparent`, or a method of a resolver or of names of its own) threw, or `fetch` returned no `Response` or threw an error of the SDK; `cause` has its error. Correct the program: a resolver without an answer throws a `QuorumscanError`, such as NETWORK_ERROR. Unless `definite` is true, a request that writes may have taken effect.',
    UNKNOWN_ERROR:
      'The server sent a code that this version of the SDK does not know: `details.code`.',
  }),
  // The call had no effect, and a retry cannot succeed.
  ...codes(true, false, {
    INVALID_RECEIPT:
      'A receipt does not prove the entry (`details.reason`), or the scan proxy sent an answer without a valid proof: do not use it.',
    WRONG_GENESIS:
      'A seed or a receipt has another genesis document than the pinned one. Compare the hash with what the members of the network publish; never take it from a seed.',
    NAME_CHANGED:
      'The owner of the name has changed since the name was last accepted on this device. `details` has both parties, and when each was seen. Ask the user, then pass `acceptChange`, or call `names.acceptChange`.',
    SEEN_NAMES_FULL:
      'The client remembers as many names as `seenNamesMax` allows (10 000 by default), and could not detect a change of owner of another name. Raise `seenNamesMax`, or pass 0 to remember no names.',
    CRYPTO_UNAVAILABLE:
      'The platform has no WebCrypto (in browsers: the page is not on https or localhost). The SDK reads nothing without verification; pass `crypto`.',
    CLUSTER_FAILED:
      'The cluster of a test did not start. The message has the output of the command.',
    CLOSED: 'The client was closed, or `cancel` of a hook ended the call before it sent anything.',
    REGISTRATION_DIFFERS:
      'The name is paid for with another url or description than this call asks for; `details` has both. Nothing was paid now.',
  }),
  // The call had no effect. A retry may succeed.
  ...codes(true, true, {
    NAME_EXPIRED:
      'The entry of the name has expired, by the clock of this device or by proven time: the name has no owner now, or another one. `details.entry` is the expired entry. Try again, and check the clock of the device.',
    NAME_MISMATCH:
      'The name that is watched belongs to another party than `expectParty`: `details.entry`. Do not pay to it.',
    NAME_AMBIGUOUS:
      'Two naming systems have the unqualified name, for different parties: `details.candidates`. Let the user type it with its naming system.',
    NAME_CLAIMED:
      'The only answers are weaker than `minBasis` of the resolver: `details.candidates`. Do not pay to them.',
    STORE_UNAVAILABLE:
      'A store cannot be read or written, does not answer within 8 s, or has a damaged value, so that a change of owner could not be detected. Check its file or database; `onStoreFailure` lets calls continue without it.',
    PART_UNAVAILABLE:
      'A part of the SDK, which `import()` loads on demand, could not be loaded. The next call tries again. In a service worker, which has no `import()`, bundle the SDK into one file (not retryable).',
    PAYMENT_REFUNDED:
      'The coin was locked and returned in full: another user was first, or the lock expired before enough super-validators decided.',
  }),
  // The call may have had an effect. A retry finds out.
  ...codes(false, true, {
    PAYMENT_PENDING:
      'The coin is locked and the super-validators have not decided yet. Either the name is registered, or the coin is returned. Call `register` again to continue waiting.',
    PAYMENT_UNKNOWN:
      'It is unknown whether the payment took effect. Call `settle`, or `register` again: each reads the ledger first and never pays twice.',
  }),
}

/** An error code of the SDK itself. */
export type ClientErrorCode = keyof typeof clientErrorCodes
