import { describe, expect, it, vi } from 'vitest'
import { fromHex, toHex, utf8 } from '../encoding/bytes.ts'
import { createWebCrypto } from './crypto.ts'
import { nodeCrypto } from './node-crypto.ts'
import { createPlatformCrypto } from './platform-crypto.ts'
import { isUsableKey } from './usable-key.ts'

// RFC 8032 §7.1, test 3.
const PUBLIC_KEY = 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025'
const SIGNATURE =
  '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
  '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a'

const P = 2n ** 255n - 19n
const mod = (value: bigint) => ((value % P) + P) % P
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = mod(square * square))
    if (rest & 1n) result = mod(result * square)
  return result
}
const D = mod(-121665n * power(121666n, P - 2n))

/** Whether eight times the point is the neutral element: computed, not looked up. */
function isSmallOrder(y: bigint): boolean {
  const xx = mod((y * y - 1n) * power(mod(D * y * y + 1n), P - 2n))
  let x = power(xx, (P + 3n) / 8n)
  if (mod(x * x) !== xx) x = mod(x * power(2n, (P - 1n) / 4n))
  if (mod(x * x) !== xx) return false
  let point = { x, y }
  for (let doubling = 0; doubling < 3; doubling++) {
    const product = mod(D * point.x * point.x * point.y * point.y)
    point = {
      x: mod(2n * point.x * point.y * power(mod(1n + product), P - 2n)),
      y: mod((point.y * point.y + point.x * point.x) * power(mod(1n - product), P - 2n)),
    }
  }
  return point.x === 0n && point.y === 1n
}

const hexOf = (value: bigint) => toHex(fromHex(value.toString(16).padStart(64, '0')).reverse())
const intOf = (hex: string) => BigInt(`0x${toHex(fromHex(hex).reverse())}`)

describe('a key', () => {
  it('of small order is refused, with either sign', () => {
    const order8 = intOf('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
    for (const y of [0n, 1n, P - 1n, order8, P - order8]) {
      expect(isSmallOrder(y), y.toString(16)).toBe(true)
      expect(isUsableKey(hexOf(y))).toBe(false)
      expect(isUsableKey(hexOf(y + 2n ** 255n))).toBe(false)
    }
    expect(isSmallOrder(intOf(PUBLIC_KEY) % 2n ** 255n)).toBe(false)
    expect(isUsableKey(PUBLIC_KEY)).toBe(true)
  })

  it('has one spelling: y below the prime, 64 lower-case digits', () => {
    for (const y of [P, P + 1n, P + 3n, 2n ** 255n - 1n]) expect(isUsableKey(hexOf(y))).toBe(false)
    expect(isUsableKey(hexOf(P - 2n))).toBe(true)
    for (const text of [PUBLIC_KEY.toUpperCase(), PUBLIC_KEY.slice(2), `${PUBLIC_KEY}00`, ''])
      expect(isUsableKey(text)).toBe(false)
  })
})

it('of the platform is that of Node, whose WebCrypto warns in Node 20', async () => {
  const { verify, importKey } = {
    verify: vi.spyOn(process.getBuiltinModule('node:crypto'), 'verify'),
    importKey: vi.spyOn(globalThis.crypto.subtle, 'importKey'),
  }
  const signed = { publicKey: fromHex(PUBLIC_KEY), signature: fromHex(SIGNATURE) }
  expect(await createPlatformCrypto().verifyEd25519({ ...signed, message: fromHex('af82') })).toBe(
    true,
  )
  expect(verify).toHaveBeenCalledOnce()
  expect(importKey).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})

it.each([
  ['Deno', { process: { ...process, versions: { deno: '2' } } }],
  ['Bun', { process: { ...process, versions: { bun: '1' } } }],
  ['a Worker of Cloudflare', { navigator: { userAgent: 'Cloudflare-Workers' } }],
  ['a page', { process: undefined }],
])('of %s is WebCrypto', async (_, globals) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
  expect(nodeCrypto()).toBeUndefined()
  vi.unstubAllGlobals()
})

describe.each([
  ['WebCrypto', createWebCrypto()],
  ['The crypto of Node', createPlatformCrypto()],
])('%s', (_, crypto) => {
  const verify = (more: Partial<Record<'publicKey' | 'signature' | 'message', string>>) =>
    crypto.verifyEd25519({
      publicKey: fromHex(more.publicKey ?? PUBLIC_KEY),
      signature: fromHex(more.signature ?? SIGNATURE),
      message: fromHex(more.message ?? 'af82'),
    })

  it('verifies the signatures of RFC 8032', async () => {
    expect(await verify({})).toBe(true)
    expect(await verify({ message: 'af83' })).toBe(false)
    expect(await verify({ signature: SIGNATURE.replace('62', '63') })).toBe(false)
    expect(await verify({ signature: SIGNATURE.slice(2) })).toBe(false)
    expect(await verify({ publicKey: '00' })).toBe(false)
  })

  it('hashes', async () => {
    expect(toHex(await crypto.sha256(utf8('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('that is missing is an error without a fallback', () => {
    expect(() => createWebCrypto(null as never)).toThrow(TypeError)
  })
})
