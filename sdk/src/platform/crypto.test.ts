/** A platform that cannot verify signatures reads nothing, not even unverified answers. */
import { createTestNetwork } from '@quorumscan/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createScan } from '../scan.ts'
import { createValidator } from '../validator.ts'

const { genesis } = createTestNetwork()
const NAME = 'alice.unverified.ns'
const refused = { code: 'CRYPTO_UNAVAILABLE', definite: true, retryable: false }

/** Counts requests, of which there must be none. */
function server() {
  let asked = 0
  const fetch = async () => {
    asked++
    return Response.json({})
  }
  return { fetch, asked: () => asked }
}

// As in a page: Node has `node:crypto`.
beforeEach(() => vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never))
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe.each([
  [
    'straight from the nodes',
    (fetch: typeof globalThis.fetch) =>
      createScan({ seeds: ['https://sv-1.example.com'], genesis, fetch }),
  ],
  [
    'through a proxy that is not trusted',
    (fetch: typeof globalThis.fetch) =>
      createValidator({ url: 'https://validator.example.com', genesis, fetch }),
  ],
])('%s', (_, connect) => {
  it('without WebCrypto no client is created', () => {
    vi.stubGlobal('crypto', undefined)
    expect(() => connect(server().fetch)).toThrow(expect.objectContaining(refused))
  })

  it('with a WebCrypto without Ed25519 no request is sent', async () => {
    const { subtle } = globalThis.crypto
    vi.stubGlobal('crypto', {
      subtle: {
        digest: subtle.digest.bind(subtle),
        importKey: async () => {
          throw new DOMException('Unrecognized name.', 'NotSupportedError')
        },
      },
    })
    const { fetch, asked } = server()
    await expect(connect(fetch).names.resolve(NAME)).rejects.toMatchObject(refused)
    expect(asked()).toBe(0)
  })
})

it('an implementation that accepts every signature is refused', async () => {
  const { fetch, asked } = server()
  const crypto = {
    sha256: async () => new Uint8Array(32),
    verifyEd25519: async () => true,
  }
  const scan = createScan({ seeds: ['https://sv-1.example.com'], genesis, fetch, crypto })
  await expect(scan.names.resolve(NAME)).rejects.toMatchObject(refused)
  expect(asked()).toBe(0)
})

it('an implementation can be passed if the platform has none', () => {
  vi.stubGlobal('crypto', undefined)
  const crypto = { sha256: async () => new Uint8Array(32), verifyEd25519: async () => false }
  const scan = createScan({ seeds: ['https://sv-1.example.com'], genesis, crypto })
  expect(scan.status()).toBeNull()
})
