/** How many bytes of an answer are read, for each route. The answer of a proxy in between may have no end. */

const MIB = 2 ** 20

/** One contract, one transaction, the rules of the network, or an error. An entry of the log has at most 256 KiB. */
export const OBJECT_BYTES_MAX = 4 * MIB
/** The largest page of the largest rows is smaller, and so is a list without pages of one user. */
export const LIST_BYTES_MAX = 32 * MIB

/** Answers that are lists or pages. The path may be that of a document, with `{party}` in place of a party. */
const LISTS = new RegExp(
  `^(?:${[
    '/v0/(?:scan-proxy/)?ans-entries(?:/batch|/by-party/[^/]+/all)?',
    '/v0/(?:scan-proxy/)?activities',
    '/v0/entry/all',
    '/v0/wallet/(?:coins|transactions|subscription-requests|subscription-initial-payments|subscriptions)',
    '/v0/wallet/token-standard/transfers',
    '/v2/updates(?:/flats|/trees)?',
    '/v2/state/active-contracts(?:-page)?',
    '/v2/(?:commands/completions|users|parties|packages)',
  ].join('|')})$`,
)

/** The most bytes that the answer of a route may have, decompressed. */
export function answerBytesMax(path: string): number {
  return LISTS.test(path) ? LIST_BYTES_MAX : OBJECT_BYTES_MAX
}
