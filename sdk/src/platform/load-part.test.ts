/** Parts that cannot be loaded. */
import { afterEach, expect, it, vi } from 'vitest'
import { createHttp } from '../http/http.ts'
import { createNames } from '../names/names.ts'
import type { OpenedReader } from '../names/open-reader.ts'
import { createReads } from '../names/reads.ts'
import { createStored } from '../names/write-floor.ts'
import { LATER } from '../scan-later.ts'
import { systemClock } from './clock.ts'
import { loadPart, once } from './load-part.ts'

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

it('a part that cannot be loaded by a device without a network is OFFLINE', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  await expect(loadPart(blocked)).rejects.toMatchObject({
    code: 'OFFLINE',
    definite: true,
    retryable: true,
    message: expect.stringContaining('offline'),
  })
  expect(await loadPart(async () => 'loaded')).toBe('loaded')
})

it('what is made once is made again only after a failure', async () => {
  let count = 0
  const made = once(async () => {
    count++
    if (count === 1) throw new Error('first')
    return { count }
  })
  await expect(made()).rejects.toThrow('first')
  const [one, other] = await Promise.all([made(), made()])
  expect(one).toBe(other)
  expect(await made()).toEqual({ count: 2 })
})

const READS = ['lookup', 'resolve', 'reverse', 'search'] as const

/** The reads that need each part. A list needs the lookups, by which a watch and metadata of it read. */
const NEEDED_BY = {
  reader: READS,
  extras: READS,
  lookups: ['lookup', 'reverse', 'search'],
  many: ['reverse', 'search'],
  lists: ['search'],
} as const

it.each(['extras', 'lookups', 'many', 'lists', 'reader'] as const)(
  '%s that failed to load once break no client',
  async (part) => {
    let isBlocked = true
    const failing = <Part>(load: () => Promise<Part>) => {
      return async () => (isBlocked ? await loadPart(blocked) : await load())
    }
    const later = { ...LATER, ...(part !== 'reader' && { [part]: failing<unknown>(LATER[part]) }) }
    const outcome = { kind: 'insufficient', retryAfterMs: 60_000, reachable: 0, needed: 2 }
    const reader = { lookup: async () => [outcome] }
    const reads = createReads({
      client: { timeoutMs: 1000 },
      clock: systemClock,
      basis: 'proof',
      network: 'n',
      stored: createStored(null, systemClock, async () => 'n'),
      open: async () => {
        if (part === 'reader') await failing(async () => {})()
        return { reader, options: {} } as unknown as OpenedReader
      },
      later,
    })
    const names = createNames(reads, {})
    const reading = {
      lookup: () => names.lookup('a.unverified.ns'),
      resolve: () => names.resolve('a.unverified.ns'),
      reverse: () => names.reverse(`p::1220${'a'.repeat(64)}`),
      search: () => names.search('a').next(),
    }
    for (const name of NEEDED_BY[part])
      await expect(reading[name]()).rejects.toMatchObject({
        code: 'PART_UNAVAILABLE',
        retryable: true,
      })
    isBlocked = false
    for (const name of READS.slice(1))
      await expect(reading[name]()).rejects.not.toMatchObject({ code: 'PART_UNAVAILABLE' })
    expect(await names.lookup('a.unverified.ns')).toMatchObject({
      error: { code: 'RATE_LIMITED' },
    })
  },
)

it('no write is sent while the code of refusals fails to load, and a read with an answer needs none', async () => {
  const sent: (string | undefined)[] = []
  const http = createHttp({
    url: 'https://validator.test',
    ledgerUrl: 'https://validator.test',
    token: null,
    fetchOf: async () => async (input, init) => {
      sent.push(init?.method)
      return new Response('{}', { status: String(input).endsWith('/refused') ? 403 : 200 })
    },
    clock: systemClock,
    random: () => 0,
    timeoutMs: 10_000,
    failures: () => loadPart(blocked),
  })
  const unavailable = { code: 'PART_UNAVAILABLE', definite: true }
  await expect(http.send({ method: 'POST', path: '/paid', body: {} })).rejects.toMatchObject(
    unavailable,
  )
  expect(sent).toEqual([])
  expect(await http.send({ method: 'GET', path: '/read' })).toMatchObject({ status: 200 })
  await expect(http.send({ method: 'GET', path: '/refused' })).rejects.toMatchObject(unavailable)
})

it('a write is not sent, and certainly has no effect, while the code that traces it fails to load', async () => {
  const http = createHttp({
    url: 'https://validator.test',
    ledgerUrl: 'https://validator.test',
    token: null,
    fetchOf: () => loadPart(blocked),
    clock: systemClock,
    random: () => 0,
    timeoutMs: 10_000,
  })
  await expect(http.send({ method: 'POST', path: '/paid', body: {} })).rejects.toMatchObject({
    code: 'PART_UNAVAILABLE',
    definite: true,
  })
})
