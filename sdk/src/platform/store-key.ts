/** Keys of stored values. */

/** The longest encoded url of a trusted validator in keys of a store, which have less than 200 characters. */
export const URL_IN_KEY_MAX = 160

/**
 * The key of a value of one network, so that several networks can share a store.
 *
 * @param network - The genesis hash, of which 16 digits are enough, or the encoded url of a trusted validator.
 */
export function storeKey(network: string, what: string): string {
  const isHash = /^[0-9a-f]{64}$/.test(network)
  return `quorumscan:${isHash ? network.slice(0, 16) : network}:${what}`
}
