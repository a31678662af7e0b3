/** Parts that cannot be loaded. */
import { afterEach, expect, it, vi } from 'vitest'
import { createNames } from '../names/names.ts'
import type { OpenedReader } from '../names/open-reader.ts'
import { createReads } from '../names/reads.ts'
import * as scanExtras from '../scan-extras.ts'
import { systemClock } from './clock.ts'
import { loadPart } from './load-part.ts'

const blocked = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'))

afterEach(() => vi.unstubAllGlobals())

it('a part that cannot be loaded is an error of the SDK, with the remedy for service workers', async () => {
  const shared = { code: 'PART_UNAVAILABLE', definite: true }
  await expect(loadPart(blocked)).rejects.toMatchObject({ ...shared, retryable: true })
  vi.stubGlobal('ServiceWorkerGlobalScope', class {})
  await expect(loadPart(blocked)).rejects.toMatchObject({
    ...shared,
    retryable: false,
    message: expect.stringContaining('service worker'),
  })
})

it.each(['extras', 'reader'] as const)(
  '%s that failed to load once break no client',
  async (part) => {
    let isBlocked = true
    const failing = async () => {
      if (isBlocked) await loadPart(blocked)
      return scanExtras
    }
    const extras = part === 'extras' ? failing : async () => scanExtras
    const outcome = { kind: 'insufficient', retryAfterMs: 60_000, reachable: 0, needed: 2 }
    const reader = { lookup: async () => [outcome] }
    const reads = createReads({
      client: { timeoutMs: 1000 },
      clock: systemClock,
      basis: 'proof',
      network: 'n',
      open: async () => {
        if (part === 'reader') await failing()
        return { reader, options: {} } as unknown as OpenedReader
      },
      extras,
    })
    const names = createNames(reads, {})
    const all = () => [
      names.lookup('a.unverified.ns'),
      names.resolve('a.unverified.ns'),
      names.reverse(`p::1220${'a'.repeat(64)}`),
      names.search('a').next(),
    ]
    for (const read of all())
      await expect(read).rejects.toMatchObject({ code: 'PART_UNAVAILABLE', retryable: true })
    isBlocked = false
    for (const read of all().slice(1))
      await expect(read).rejects.not.toMatchObject({ code: 'PART_UNAVAILABLE' })
    expect(await names.lookup('a.unverified.ns')).toMatchObject({ kind: 'insufficient' })
  },
)
