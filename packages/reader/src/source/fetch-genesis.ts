/** From a pinned hash to the genesis document (D-34): any seed may serve it, none has to be trusted. */

import type { CryptoPort } from '@quorumscan/verifier'
import { type Genesis, GenesisError, toHex } from '@quorumscan/verifier'
import { GET, type Transport } from './transport.ts'

/** What a seed answered in place of the genesis that is pinned. */
export type SeedAnswer = { readonly seed: string; readonly status: number; readonly text: string }

/** A genesis with 100 nodes has some 30 kB. */
const GENESIS_BYTES_MAX = 262_144

/**
 * Asks all seeds at once for `/v0/genesis`, which serves the RFC 8785 form, and returns the first document whose
 * hash is the pinned one. It is that which was pinned, to the last byte, so that nothing is checked once more.
 *
 * @throws {GenesisError} If no seed serves it; `cause` holds why, in the order of the seeds: a GenesisError with a
 *   `SeedAnswer` as cause, or what the transport says of one that gave none.
 * @throws The signal's reason when aborted.
 */
export async function fetchGenesis(options: {
  /** Lower-case hex. */
  readonly genesisHash: string
  readonly seeds: readonly string[]
  readonly transport: Transport
  readonly signal: AbortSignal
  readonly crypto: CryptoPort
}): Promise<Genesis> {
  const { genesisHash, seeds, transport, signal, crypto } = options
  const decided = new AbortController()
  const ask = async (seed: string): Promise<Genesis> => {
    const { status, body } = await transport.request({
      ...GET,
      url: seed.replace(/\/+$/, ''),
      path: '/v0/genesis',
      bytesMax: GENESIS_BYTES_MAX,
      isPublicOnly: false, // Who configured a seed knows where it is.
      signal: AbortSignal.any([signal, decided.signal]),
    })
    const text = new TextDecoder().decode(body)
    if (status === 200 && toHex(await crypto.sha256(new Uint8Array(body))) === genesisHash)
      return JSON.parse(text)
    throw new GenesisError(`${seed} answers ${status}`, { cause: { seed, status, text } })
  }
  try {
    return await Promise.any(seeds.map(ask))
  } catch (cause) {
    signal.throwIfAborted()
    throw new GenesisError('no seed serves the genesis with the pinned hash', { cause })
  } finally {
    decided.abort() // The others need not finish what nobody waits for.
  }
}
