/** Fetches the genesis document of a pinned hash (D-34). Any seed may serve it; none has to be trusted. */

import {
  type CryptoPort,
  type Genesis,
  GenesisError,
  linkedController,
  toHex,
} from '@quorumscan/verifier'
import { GET, type Transport } from './transport.ts'

/** The answer of a seed that is not the pinned genesis. */
export type SeedAnswer = { readonly seed: string; readonly status: number; readonly text: string }

/** A genesis with 100 nodes has some 30 kB. */
export const GENESIS_BYTES_MAX = 262_144

/**
 * Asks all seeds at once for `/v0/genesis`, which serves the RFC 8785 form, and returns the first document whose
 * hash is the pinned one. Its bytes are those that were pinned, so that the content needs no check.
 *
 * @throws {GenesisError} If no seed serves it. `cause` has the reasons in the order of the seeds: a GenesisError with a
 *   `SeedAnswer` as cause, or the error of the transport.
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
  const decided = linkedController(signal)
  const ask = async (seed: string): Promise<Genesis> => {
    const { status, body } = await transport.request({
      ...GET,
      url: seed.replace(/\/+$/, ''),
      path: '/v0/genesis',
      bytesMax: GENESIS_BYTES_MAX,
      isPublicOnly: false, // Seeds are configured.
      signal: decided.signal,
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
    decided.abort() // The other answers are not needed.
  }
}
