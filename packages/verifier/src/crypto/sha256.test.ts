import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256 } from './sha256.ts'

const byNode = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())

it('hashes every length and content as the platform does', () => {
  for (let length = 0; length < 260; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255)
    expect(sha256(bytes)).toEqual(byNode(bytes))
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4096, size: 'max' }), (bytes) => {
      expect(sha256(bytes)).toEqual(byNode(bytes))
    }),
  )
})

it('uses constants that do not change if a root is off by its last bits', () => {
  const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73]
  for (let number = 79; primes.length < 64; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  const distances = primes.flatMap((prime) =>
    [prime ** (1 / 2), prime ** (1 / 3)].map((root) => {
      const fraction = (root * 2 ** 32) % 1
      return Math.min(fraction, 1 - fraction)
    }),
  )
  // In units of the last bit of the constant; a root is known to about 2^-18 of it.
  expect(Math.min(...distances)).toBeGreaterThan(2 ** -12)
})
