/** Requests of a reader that is closed end, also those that are made afterwards. */
import type { CryptoPort, Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import type { ReaderClock, ReaderOptions } from '../reader-options.ts'
import { createDirectory } from './directory.ts'
import { fetchGenesis } from './fetch-genesis.ts'
import type { Transport } from './transport.ts'

const crypto: CryptoPort = {
  sha256: async () => new Uint8Array(32),
  verifyEd25519: async () => false,
}
const clock: ReaderClock = {
  nowMicros: () => 0,
  monotonicMs: () => 0,
  delay: () => new Promise(() => {}),
}

/** A node that never answers, and the requests to it that have no end. */
function createSilent() {
  let open = 0
  const transport: Transport = {
    request: ({ signal }) =>
      new Promise((_, reject) => {
        if (signal.aborted) return reject(signal.reason)
        open++
        signal.addEventListener('abort', () => {
          open--
          reject(signal.reason)
        })
      }),
  }
  return { transport, openCount: () => open }
}

const READS = {
  'of the genesis': (transport: Transport, signal: AbortSignal) =>
    fetchGenesis({ genesisHash: '', seeds: ['http://a.test'], transport, signal, crypto }),
  'of addresses': (transport: Transport, signal: AbortSignal) => {
    const genesis = { nodes: [{ name: 'a', scanKey: 'cd'.repeat(32) }] } as unknown as Genesis
    const seeds = ['http://a.test']
    const reader: ReaderOptions = { genesis, genesisHash: '', seeds, transport, clock }
    const directory = createDirectory({ reader, crypto, signal, onAddress: () => {} })
    return directory.refresh({ isUrgent: true })
  },
} as const

it.each(Object.entries(READS))('a read %s ends when the reader closes', async (_, read) => {
  for (const isClosedBefore of [false, true]) {
    const { transport, openCount } = createSilent()
    const closing = new AbortController()
    if (isClosedBefore) closing.abort(new Error('closed'))
    const reading = read(transport, closing.signal).catch((error: unknown) => error)
    // Requests are made after some steps of promises.
    await new Promise((resolve) => setImmediate(resolve))
    expect(openCount()).toBe(isClosedBefore ? 0 : 1)
    closing.abort(new Error('closed'))
    await reading
    expect(openCount()).toBe(0)
  }
})
