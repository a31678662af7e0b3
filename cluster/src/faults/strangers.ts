/**
 * Addresses of clients that are none of the cluster: every process of a cluster connects from 127.0.0.1. On Linux all of
 * 127.0.0.0/8 is this machine; elsewhere strangers have no addresses of their own (null).
 */
const COUNT = 16

export const STRANGE_ADDRESSES: readonly string[] | null =
  process.platform === 'linux'
    ? Array.from({ length: COUNT }, (_, index) => `127.0.77.${index + 1}`)
    : null

/** The address of the reader to which nodes lie alone. */
export const STRANGER_ADDRESS = STRANGE_ADDRESSES?.[0] ?? '127.0.0.1'
