/**
 * Reads of a Splice network from real HTTP servers with the shapes of the published document. Answers on which scans
 * agree are returned, and no behaviour of f faulty scans becomes an answer.
 */
import dns from 'node:dns/promises'
import { createTickingClock, serve } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import {
  idOf,
  partyOf,
  type ScanBehaviour,
  type ScanEntry,
  type ScanReply,
  startScans,
} from '@quorumscan/testkit/splice-scans'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { createSpliceScan, type SpliceOutcome } from './index.ts'

const NAMES = ['Alpha-1', 'Beta-2', 'Gamma-3', 'Delta-4']
const [FIRST, SECOND, THIRD, FOURTH] = NAMES as [string, string, string, string]
const ALICE = 'alice.unverified.cns'
const ALBA = 'alba.unverified.cns'
const MISSING = 'missing.unverified.cns'
const PARTY = partyOf('alice')
const THIEF = partyOf('thief')
/** Timeout of a read without a decision. */
const READ_MS = 2_000
/** A deadline waits for this process. */
const clockNow = () => createTickingClock(systemClock.nowMicros())
/** 2026-01-01T12:00:00Z, in µs since the epoch. */
const NOON = 1_767_268_800_000_000

const entry = (name: string, more: Partial<ScanEntry> = {}): ScanEntry => ({
  contract_id: idOf(name),
  user: PARTY,
  name,
  url: '',
  description: '',
  expires_at: '2099-01-01T00:00:00.5Z',
  ...more,
})

const it = base
  .extend('scans', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startScans({ svNames: NAMES, entries: [entry(ALICE), entry(ALBA)] }),
    ),
  )
  .extend('scan', { scope: 'file' }, async ({ scans, fileResources }) => {
    const scan = createSpliceScan({ scans: scans.addresses, clock: clockNow() })
    fileResources.onClose(() => scan.close())
    await scan.dso() // It reads the members before any test.
    return scan
  })
  .extend(
    'connect',
    ({ scans }) =>
      (more: Partial<Parameters<typeof createSpliceScan>[0]> = {}) =>
        createSpliceScan({ scans: scans.addresses, ...more }),
  )
  .extend(
    'at',
    ({ connect }) =>
      (nowMicros: number) =>
        connect({
          svCount: 4,
          clock: {
            nowMicros: () => nowMicros,
            monotonicMs: () => performance.now(),
            delay: (ms, signal) =>
              new Promise((done, fail) => {
                const timer = setTimeout(done, ms)
                signal?.addEventListener('abort', () => {
                  clearTimeout(timer)
                  fail(signal.reason)
                })
              }),
          },
        }),
  )

it.afterEach(({ scans }) => {
  for (const name of NAMES) scans.behave(name)
})

/** The same value with the members of all objects in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  )
}
const inOtherOrder: ScanBehaviour = (_, honest) => ({
  ...honest,
  text:
    honest.status === 200
      ? JSON.stringify(reversed(JSON.parse(honest.text)), null, 2)
      : honest.text,
})
const lies: ScanBehaviour = (_, honest) => ({
  status: 200,
  text: honest.text.replaceAll(PARTY, THIEF),
})
const replies =
  (reply: ScanReply): ScanBehaviour =>
  () =>
    reply
const all = async <T>(rows: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}
const hangs: ScanBehaviour = () => null
const agreedOn = <T>(outcome: SpliceOutcome<T>): T => {
  expect(outcome).toMatchObject({ kind: 'proven' })
  return (outcome as { value: T }).value
}

describe('equal answers of scans', () => {
  it('yield the owner of a name, the name of an owner, and all names of a prefix', async ({
    scans,
    scan,
  }) => {
    scans.behave(SECOND, inOtherOrder)
    scans.behave(THIRD, inOtherOrder)
    expect(await scan.names.resolve(ALICE, { threshold: 4 })).toBe(PARTY)
    expect(await scan.names.resolve(MISSING, { threshold: 4 })).toBeNull()
    expect(await scan.names.resolveMany([ALICE, MISSING])).toMatchObject([
      { kind: 'proven', value: { party: PARTY } },
      { kind: 'proven', value: null },
    ])
    expect(await scan.names.resolve(' Alice.unverified.cns\n')).toBe(PARTY)
    expect(await scan.names.reverse(PARTY)).toMatchObject({ name: ALICE, party: PARTY })
    expect(await scan.names.reverse(THIEF)).toBeNull()
    const found = await all(scan.names.search('al', { pageSize: 1 }))
    expect(found.map(({ name }) => name)).toEqual([ALBA, ALICE])
    expect(await scan.names.lookup(ALICE, { threshold: 4 })).toEqual({
      kind: 'proven',
      value: {
        name: ALICE,
        party: PARTY,
        url: '',
        description: '',
        expiresAt: '2099-01-01T00:00:00.500000Z',
        contractId: idOf(ALICE),
      },
      needed: 4,
      nodeCount: 4,
      faultyMax: 1,
      trust: null,
      basis: 'votes',
      recordTime: null,
      validUntil: '2099-01-01T00:00:00.500000Z',
      agreed: NAMES,
      dissented: [],
    })
    expect(await scan.names.lookup(MISSING)).toMatchObject({ kind: 'proven', value: null })
  })

  it('yield the network data without the members that differ between scans', async ({
    scans,
    scan,
  }) => {
    scans.behave(SECOND, inOtherOrder)
    scans.world.activities = ['3', '2', '1'].map((id) => ({
      event_id: id,
      activity_type: 'mint',
      date: '2026-01-30T08:39:18.3Z',
      offset: 'its own',
      mint: { amulet_owner: PARTY },
    }))
    const four = { threshold: 4 } as const
    const dso = agreedOn(await scan.dso(four))
    expect(dso.dsoRules.payload['svs']).toHaveLength(4)
    expect(JSON.stringify(dso)).not.toContain('user of')
    expect(agreedOn(await scan.scans(four))[0]?.scans).toHaveLength(4)
    expect(agreedOn(await scan.ansRules(four)).templateId).toMatch(/:Splice\.Ans:AnsRules$/)
    expect(agreedOn(await scan.rounds(four)).open.map(({ contractId }) => contractId)).toEqual([
      idOf('round 6'),
      idOf('round 7'),
    ])
    expect(agreedOn(await scan.closedRounds(four))).toHaveLength(2)
    const holdings = { migrationId: 4, recordTime: '2026-01-01T00:00:00Z', ownerPartyIds: [PARTY] }
    expect(agreedOn(await scan.holdings(holdings, four)).summaries).toMatchObject([
      { partyId: PARTY, totalAvailableCoin: '12.5000000000' },
    ])
    const rows = await all(scan.activities({ order: 'desc', pageSize: 2, ...four }))
    expect(rows.map(({ eventId }) => eventId)).toEqual(['3', '2', '1'])
    expect(rows[0]).not.toHaveProperty('offset')
  })

  it('must be equal in every digit of their numbers', async ({ scans, scan }) => {
    const withNumber =
      (digits: string): ScanBehaviour =>
      (_, honest) => ({
        ...honest,
        text: honest.text.replace('"payload":{', `"payload":{"serial":${digits},`),
      })
    // The first two are equal as numbers of JavaScript.
    for (const [index, name] of NAMES.entries())
      scans.behave(name, withNumber(`900719925474099${['3', '2', '3', '5'][index]}`))
    expect(agreedOn(await scan.ansRules()).payload['serial']).toBe('9007199254740993')
  })
})

describe('one scan of four that', () => {
  const BEHAVIOURS: Record<string, ScanBehaviour> = {
    lies,
    hangs,
    'answers 5xx': replies({ status: 503, text: '{"error":"away"}' }),
    'answers 5xx as the others do an absence': (_, honest) => ({ ...honest, status: 500 }),
    'answers without JSON': replies({ status: 200, text: '<html>' }),
    'answers JSON with a duplicate member': (_, honest) => ({
      ...honest,
      text: honest.text.replace('{', `{"entry":null,`),
    }),
    'answers with another name': replies({
      status: 200,
      text: JSON.stringify({ entry: entry('mallory') }),
    }),
    'answers with 9 MiB': replies({ status: 200, text: `"${'x'.repeat(9 * 1024 * 1024)}"` }),
    'has a wrong address': replies({
      status: 404,
      text: 'Not Found',
      headers: { 'content-type': 'text/plain' },
    }),
    'has not started': replies({ status: 404, text: '{"error":"No DsoRules contract found"}' }),
    'answers 429 with retry-after of an hour': replies({
      status: 429,
      text: '{}',
      headers: { 'retry-after': '3600' },
    }),
  }
  it.for(Object.entries(BEHAVIOURS))(
    '%s changes no answer',
    async ([_, behaviour], { scans, scan }) => {
      for (const name of [FIRST, FOURTH]) {
        scans.behave(name, behaviour)
        expect(await scan.names.resolve(ALICE, { threshold: 3 })).toBe(PARTY)
        expect(await scan.names.resolve(MISSING, { threshold: 3 })).toBeNull()
        scans.behave(name)
      }
    },
  )

  it('redirects is not followed', async ({ scans, scan }) => {
    let visits = 0
    await using elsewhere = await serve((_, response) => {
      visits++
      response.end(JSON.stringify({ entry: entry(ALICE, { user: THIEF }) }))
    })
    const location = `${elsewhere.url}/`
    scans.behave(FIRST, replies({ status: 302, text: '', headers: { location } }))
    expect(await scan.names.resolve(ALICE, { threshold: 3 })).toBe(PARTY)
    expect(visits).toBe(0)
  })
})

describe('mistakes of upstream clients do not occur:', () => {
  it('equal failures are neither an absence nor an answer', { tags: ['rest'] }, async ({
    scans,
    scan,
  }) => {
    const failing = [
      replies({ status: 500, text: '{"error":"An unexpected error occurred."}' }),
      replies({ status: 404, text: '{"error":"No DsoRules contract found"}' }),
      replies({ status: 404, text: 'The requested resource could not be found.' }),
      replies({ status: 400, text: '{"error":"bad"}' }),
    ]
    for (const behaviour of failing) {
      for (const name of [FIRST, SECOND, THIRD]) scans.behave(name, behaviour)
      const outcome = await scan.names.lookup(ALICE)
      const counted = { kind: 'insufficient', reachable: 1, needed: 2, nodeCount: 4 }
      expect(outcome).toMatchObject({ kind: 'failed', error: { details: { outcome: counted } } })
    }
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'NOT_ENOUGH_NODES',
      retryable: true,
    })
  })

  it('the only reachable scan of four decides nothing', async ({ scans, scan }) => {
    scans.behave(FIRST, lies)
    for (const name of [SECOND, THIRD, FOURTH]) scans.behave(name, hangs)
    await using seeded = createSpliceScan({
      seeds: scans.urls,
      svCount: 4,
      clock: clockNow(),
      timeoutMs: READ_MS,
    })
    const lookup = scan.names.lookup(ALICE, { timeoutMs: READ_MS })
    await expect(seeded.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    const counted = { kind: 'insufficient', nodeCount: 4, faultyMax: 1 }
    expect(await lookup).toMatchObject({ kind: 'failed', error: { details: { outcome: counted } } })
  })

  it('a member list that contains only its sender is not accepted', async ({ scans }) => {
    const alone =
      (svName: string): ScanBehaviour =>
      (asked, honest) => {
        if (!asked.path.endsWith('/v0/dso')) return lies(asked, honest)
        const dso = JSON.parse(honest.text)
        dso.dso_rules.contract.payload.svs = [[partyOf(svName), { name: svName }]]
        return { status: 200, text: JSON.stringify(dso) }
      }
    scans.behave(FIRST, alone(FIRST))
    await using seeded = createSpliceScan({ seeds: scans.urls })
    expect(await seeded.names.resolve(ALICE)).toBe(PARTY)
    expect(seeded.status()).toMatchObject({ nodeCount: 4 })
  })

  it('the fastest answer does not win', async ({ scans, scan }) => {
    scans.behave(FIRST, lies)
    for (const name of [SECOND, THIRD, FOURTH])
      scans.behave(name, (_, honest) => ({ ...honest, afterMs: 200 }))
    expect(await scan.names.lookup(ALICE)).toMatchObject({
      kind: 'proven',
      value: { party: PARTY },
      dissented: [FIRST],
    })
  })
})

describe('scans that lag', () => {
  const renewed = JSON.stringify({ entry: entry(ALICE, { contract_id: idOf('new') }) })
  const from =
    (count: number): ScanBehaviour =>
    (asked, honest) =>
      asked.count >= count ? { status: 200, text: renewed } : honest

  it('are requested again until they have caught up', async ({ scans, scan }) => {
    for (const name of [FIRST, SECOND, THIRD])
      scans.behave(name, from(scans.requests(name).length + (name === FIRST ? 1 : 3)))
    scans.behave(FOURTH, lies)
    const outcome = await scan.names.lookup(ALICE, { threshold: 3 })
    expect(agreedOn(outcome).contractId).toBe(idOf('new'))
  })

  it('have the outcome lagging if some answers changed, and disputed if none did', {
    tags: ['rest'],
  }, async ({ scans, scan }) => {
    scans.behave(FIRST, replies({ status: 200, text: renewed }))
    scans.behave(SECOND, from(scans.requests(SECOND).length + 2))
    scans.behave(FOURTH, lies)
    const outcome = await scan.names.lookup(ALICE, { threshold: 3, timeoutMs: READ_MS })
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'CONSENSUS_LAGGING' } })
    scans.behave(FOURTH)
    scans.behave(SECOND, replies({ status: 200, text: renewed }))
    const options = { threshold: 3, timeoutMs: READ_MS }
    await Promise.all([
      expect(scan.names.lookup(ALICE, options)).resolves.toMatchObject({
        kind: 'failed',
        error: {
          code: 'CONSENSUS_DISPUTED',
          details: {
            outcome: {
              groups: [
                { svNames: [FIRST, SECOND], value: { contractId: idOf('new') } },
                { svNames: [THIRD, FOURTH], value: { contractId: idOf(ALICE) } },
              ],
            },
          },
        },
      }),
      expect(scan.names.resolve(ALICE, options)).rejects.toMatchObject({
        code: 'CONSENSUS_DISPUTED',
        retryable: true,
      }),
    ])
  })
})

describe('the set of scans', () => {
  it('is learned from one seed and confirmed by the others, and each scan gets one request', async ({
    scans,
  }) => {
    await using seeded = createSpliceScan({ seeds: [scans.urls[2] as string] })
    // Only this test looks ALBA up: an aborted request of another test may reach a server later.
    expect(await seeded.names.resolve(ALBA, { threshold: 4 })).toBe(PARTY)
    for (const received of NAMES.map((name) => scans.requests(name)))
      expect(received.filter((request) => request.includes(`/by-name/${ALBA}`))).toHaveLength(1)
    expect(seeded.status()).toEqual({ nodeCount: 4, svNames: expect.arrayContaining(NAMES) })
  })

  it('counts one machine once among seeds, however its address is written', async ({ scans }) => {
    const own = scans.urls[0] as string
    const { port } = new URL(own)
    const spellings = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '[::1]',
      'LOCALHOST',
      'scan.localhost',
      '127.0.0.1/api/scan',
    ].map(
      (host) => `http://${host.replace('/', `:${port}/`)}${host.includes('/') ? '' : `:${port}`}`,
    )
    const liar: ScanBehaviour = (asked, honest) => {
      if (!asked.path.endsWith('/v0/dso')) return lies(asked, honest)
      const dso = JSON.parse(honest.text)
      dso.dso_rules.contract.payload.svs = [[partyOf(FIRST), { name: FIRST }]]
      return { status: 200, text: JSON.stringify(dso) }
    }
    scans.behave(FIRST, liar)
    await using seeded = createSpliceScan({ seeds: [...spellings, ...scans.urls.slice(1)] })
    expect(await seeded.names.lookup(ALICE)).toMatchObject({
      kind: 'proven',
      value: { party: PARTY },
      nodeCount: 4,
      basis: 'votes',
    })
  })

  it('counts names with one address once among seeds, and each name where none is known', async ({
    scans,
  }) => {
    const alone: ScanBehaviour = (asked, honest) => {
      if (!asked.path.endsWith('/v0/dso')) return lies(asked, honest)
      const dso = JSON.parse(honest.text)
      dso.dso_rules.contract.payload.svs = [[partyOf(FIRST), { name: FIRST }]]
      return { status: 200, text: JSON.stringify(dso) }
    }
    scans.behave(FIRST, alone)
    // Of one label: private names, as the scans have private addresses.
    const hosts = ['a', 'b', 'c', 'd']
    const fetchOf: typeof fetch = (input, init) => {
      const { hostname, pathname, search } = new URL(String(input))
      const index = hosts.indexOf(hostname)
      if (index < 0) return fetch(input, init)
      const url = index < 2 ? scans.urls[0] : scans.urls[index - 1]
      return fetch(`${url}${pathname.replace('/api/scan', '')}${search}`, init)
    }
    const lookup = vi.spyOn(dns, 'lookup')
    onTestFinished(() => lookup.mockRestore())
    const addressesOf = (byHost: (host: string) => string) =>
      lookup.mockImplementation((async (host: string) => [
        { address: byHost(host), family: 4 },
      ]) as never)
    const seeds = hosts.map((host) => `https://${host}`)
    // Two names of the liar and two others: as four seeds, the two could decide with f + 1 = 2.
    addressesOf((host) => (host < 'c' ? '203.0.113.1' : `203.0.113.${host.charCodeAt(0)}`))
    const read = async () => {
      await using seeded = createSpliceScan({ seeds, fetch: fetchOf, timeoutMs: READ_MS })
      return await seeded.dso()
    }
    expect(await read()).toMatchObject({ nodeCount: 4 })
    // All share the address of one operator: one voice, and nothing is proven by votes.
    addressesOf(() => '203.0.113.1')
    await using one = createSpliceScan({ seeds: seeds.slice(2), fetch: fetchOf })
    expect(await one.names.lookup(ALICE)).toMatchObject({ basis: 'trusted' })
    lookup.mockRejectedValue(new Error('ENOTFOUND'))
    await using unknown = createSpliceScan({ seeds: seeds.slice(2), fetch: fetchOf })
    expect(await unknown.names.lookup(ALICE)).toMatchObject({ basis: 'votes' })
  })

  it.for([2, 3])(
    'is that of a majority of %d seeds, whichever answers first',
    async (count, { scans }) => {
      const alone: ScanBehaviour = (asked, honest) => {
        if (!asked.path.endsWith('/v0/dso')) return lies(asked, honest)
        const dso = JSON.parse(honest.text)
        dso.dso_rules.contract.payload.svs = [[partyOf(FIRST), { name: FIRST }]]
        return { status: 200, text: JSON.stringify(dso) }
      }
      scans.behave(FIRST, alone)
      const seeds = scans.urls.slice(0, count)
      await using seeded = createSpliceScan({ seeds, timeoutMs: READ_MS })
      if (count === 3) expect(await seeded.names.resolve(ALICE)).toBe(PARTY)
      else await expect(seeded.names.resolve(ALICE)).rejects.toMatchObject({ retryable: true })
    },
  )

  it('that one seed names is trusted, and so is the only scan', async ({ scans }) => {
    const [first] = scans.addresses
    if (first === undefined) throw new Error('no scan')
    for (const options of [
      { seeds: [first.publicUrl] },
      { seeds: [first.publicUrl, first.publicUrl.replace('127.0.0.1', 'localhost')] },
      { scans: [first], svCount: 1 },
    ]) {
      await using scan = createSpliceScan(options)
      expect(await scan.names.lookup(ALICE)).toMatchObject({ kind: 'proven', basis: 'trusted' })
    }
    await using all = createSpliceScan({ seeds: scans.urls })
    expect(await all.names.lookup(ALICE)).toMatchObject({ basis: 'votes' })
  })

  it('counts a super-validator with several URLs once', async ({ scans }) => {
    scans.behave(FIRST, lies)
    const own = scans.urls[0] as string
    const addresses = [
      { svName: FIRST, publicUrl: own },
      { svName: FIRST, publicUrl: own.replace('127.0.0.1', 'localhost') },
      { svName: FIRST, publicUrl: `${own}/api/scan` },
      ...scans.addresses.slice(1, 3),
    ]
    await using own4 = createSpliceScan({ scans: addresses, svCount: 4 })
    expect(await own4.names.resolve(ALICE)).toBe(PARTY)
    expect(own4.status()).toEqual({ nodeCount: 4, svNames: [FIRST, SECOND, THIRD] })
    await expect(
      createSpliceScan({ scans: addresses.slice(0, 4), svCount: 4 }).names.resolve(ALICE),
    ).rejects.toMatchObject({
      code: 'NOT_ENOUGH_NODES',
      message: expect.stringContaining('2 of 4'),
    })
  })

  it('has only https or loopback addresses', async ({ scans }) => {
    const elsewhere: ScanBehaviour = (asked, honest) => ({
      ...honest,
      text: asked.path.endsWith('/v0/scans')
        ? honest.text.replace(scans.urls[3] as string, 'http://scan.example.com')
        : honest.text,
    })
    for (const name of NAMES) scans.behave(name, elsewhere)
    await using seeded = createSpliceScan({ seeds: scans.urls })
    expect(await seeded.names.resolve(ALICE)).toBe(PARTY)
    expect(seeded.status()).toEqual({ nodeCount: 4, svNames: expect.not.arrayContaining([FOURTH]) })
    for (const url of [
      'http://scan.example.com',
      'ftp://127.0.0.1',
      'https://user:pw@example.com',
      'x',
    ])
      expect(() => createSpliceScan({ seeds: [url] }), url).toThrow('https')
  })

  it('fails with NETWORK_ERROR if no seed is reachable', async () => {
    await using gone = createSpliceScan({ seeds: ['http://127.0.0.1:9'] })
    await expect(gone.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      retryable: true,
    })
  })

  it('asks a seed under another spelling of its address if the first does not answer', async ({
    scans,
  }) => {
    // No server listens there.
    const unheard = scans.urls.map((url) => url.replace('127.0.0.1', '127.0.0.2'))
    await using scan = createSpliceScan({ seeds: [...unheard, ...scans.urls] })
    expect(await scan.names.lookup(ALICE)).toMatchObject({ kind: 'proven', basis: 'votes' })
  })

  it('refuses thresholds that liars could reach, and invalid arguments', async ({
    scan,
    scans,
  }) => {
    await expect(scan.names.resolve(ALICE, { threshold: 1 })).rejects.toMatchObject({
      code: 'INVALID_QUORUM',
    })
    const notLists = ['https://a.example', new Set(scans.urls), [null], Array(1)] as never[]
    for (const bad of [
      {},
      { seeds: [] },
      { seeds: scans.urls, scans: scans.addresses },
      ...notLists.flatMap((list) => [{ seeds: list }, { scans: list }]),
    ])
      expect(() => createSpliceScan(bad)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
    await using unused = createSpliceScan({ seeds: scans.urls })
    for (const threshold of [0, 1.5, '3' as never])
      await expect(unused.names.resolve(ALICE, { threshold })).rejects.toMatchObject({
        code: 'INVALID_QUORUM',
      })
    expect(unused.status()).toBeNull()
    for (const name of ['alice', 'аlice.unverified.cns', 'alice .cns', ''])
      await expect(scan.names.resolve(name)).rejects.toMatchObject({ code: 'INVALID_NAME' })
    for (const name of ['\ud800', 'x'.repeat(2_000), 7 as unknown as string])
      await expect(scan.names.resolve(name)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('an option that a read does not have, or a wrong value of one', () => {
  const holdings = { migrationId: 4, recordTime: '2026-01-01T00:00:00Z', ownerPartyIds: [PARTY] }
  const WRONG = [
    { treshold: 4 },
    { timeoutMs: '5' },
    { timeoutMs: Number.NaN },
    { signal: {} },
    { minOffset: 7 },
    null,
  ] as never[]
  type Scan = ReturnType<typeof createSpliceScan>
  const READS: Readonly<Record<string, (scan: Scan, wrong: never) => Promise<unknown>>> = {
    dso: (scan, wrong) => scan.dso(wrong),
    scans: (scan, wrong) => scan.scans(wrong),
    ansRules: (scan, wrong) => scan.ansRules(wrong),
    rounds: (scan, wrong) => scan.rounds(wrong),
    closedRounds: (scan, wrong) => scan.closedRounds(wrong),
    holdings: (scan, wrong) => scan.holdings(holdings, wrong),
    activities: (scan, wrong) => all(scan.activities(wrong)),
    resolve: ({ names }, wrong) => names.resolve(ALICE, wrong),
    reverse: ({ names }, wrong) => names.reverse(PARTY, wrong),
    metadata: ({ names }, wrong) => names.metadata(PARTY, wrong),
    registryUrls: ({ names }, wrong) => names.registryUrls(PARTY, wrong),
    lookup: ({ names }, wrong) => names.lookup(ALICE, wrong),
    lookupParty: ({ names }, wrong) => names.lookupParty(PARTY, wrong),
    resolveMany: ({ names }, wrong) => names.resolveMany([], wrong),
    search: ({ names }, wrong) => all(names.search('al', wrong)),
  }
  const refused = { code: 'INVALID_ARGUMENT' }

  it.each(Object.keys(READS))('of %s is refused before a request', async (name) => {
    const send = vi.fn<typeof fetch>()
    await using scan = createSpliceScan({ seeds: ['https://a.example'], fetch: send })
    for (const wrong of WRONG)
      await expect(READS[name]?.(scan, wrong), JSON.stringify(wrong)).rejects.toMatchObject(refused)
    expect(send).not.toHaveBeenCalled()
  })

  it('of a request for holdings or activities is, too', async () => {
    const send = vi.fn<typeof fetch>()
    await using scan = createSpliceScan({ seeds: ['https://a.example'], fetch: send })
    for (const wrong of [
      { migrationId: -1 },
      { migrationId: undefined },
      { recordTime: 5 },
      { recordTime: undefined },
      { recordTimeMatch: 'before' },
      { ownerPartyIds: PARTY },
      { ownerPartyIds: undefined },
      { asOfRound: 1.5 },
      { round: 1 },
    ] as object[])
      await expect(
        scan.holdings({ ...holdings, ...wrong }),
        JSON.stringify(wrong),
      ).rejects.toMatchObject(refused)
    for (const wrong of [{ order: 'asc' }, { after: 5 }, { pageSize: 0 }, { follow: true }])
      await expect(
        all(scan.activities({ order: 'desc', ...wrong } as never)),
      ).rejects.toMatchObject(refused)
    for (const pageSize of [0, 1001, '5' as never])
      await expect(all(scan.names.search('al', { pageSize }))).rejects.toMatchObject(refused)
    expect(send).not.toHaveBeenCalled()
  })
})

describe('activities that do not end', () => {
  const row = (id: string) => ({
    event_id: id,
    activity_type: 'mint',
    date: '2026-01-30T08:39:18.3Z',
  })

  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [3, 4],
  ])('fail if %i pages are repeated after %i others', async (period, first) => {
    const pageAt = (index: number) => (index < first ? index : first + ((index - first) % period))
    let count = 0
    await using scan = createSpliceScan({
      scans: [{ svName: FIRST, publicUrl: 'https://a.example' }],
      svCount: 1,
      fetch: async () => Response.json({ activities: [row(String(pageAt(count++)))] }),
    })
    const read = async () => {
      for await (const _ of scan.activities({ order: 'desc' }))
        if (count > 4 * (first + period)) return 'too many pages'
      return 'an end'
    }
    await expect(read()).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
  })
})

describe('an entry that has expired by the clock of the caller', () => {
  const SOON = 'soon.unverified.cns'
  const withEntry = { entry: entry(SOON, { expires_at: '2026-01-01T12:00:00Z' }) }
  const withoutEntry = { error: `No ans entry found for name: ${SOON}` }

  it('is absent, in agreement with scans that no longer return it', async ({ scans, at }) => {
    for (const name of [FIRST, SECOND])
      scans.behave(name, replies({ status: 200, text: JSON.stringify(withEntry) }))
    for (const name of [THIRD, FOURTH])
      scans.behave(name, replies({ status: 404, text: JSON.stringify(withoutEntry) }))
    const later = await at(NOON + 1).names.lookup(SOON, { threshold: 4 })
    expect(later).toMatchObject({ kind: 'proven', value: null, agreed: NAMES })
    // Like upstream: the entry still exists at that very moment.
    expect(await at(NOON).names.lookup(SOON, { threshold: 2 })).toMatchObject({ needed: 2 })
    for (const name of [THIRD, FOURTH])
      scans.behave(name, replies({ status: 200, text: JSON.stringify(withEntry) }))
    expect(await at(NOON).names.resolve(SOON, { threshold: 4 })).toBe(PARTY)
  })
})

it('a client that is closed ends its reads, which fail with CLOSED', async ({
  scans,
  connect,
  scan,
}) => {
  for (const name of NAMES) scans.behave(name, hangs)
  const client = connect({ svCount: 4 })
  const reading = client.names.resolve(ALICE)
  await client.close()
  await expect(reading).rejects.toMatchObject({ code: 'CLOSED' })
  await expect(client.names.resolve(ALICE)).rejects.toMatchObject({ code: 'CLOSED' })
  const ended = new AbortController()
  ended.abort('enough')
  await expect(scan.names.resolve(ALICE, { signal: ended.signal })).rejects.toBe('enough')
})

it('an owner without the form of a party is no answer, and hides no other entry of a list', async () => {
  const entries = [entry(ALBA, { user: 'a party: of others::1' }), entry(ALICE)]
  await using scans = await startScans({ svNames: NAMES, entries })
  await using scan = createSpliceScan({ scans: scans.addresses, clock: clockNow() })
  const found = await all(scan.names.search('al', { pageSize: 1 }))
  expect(found).toMatchObject([
    { name: ALBA, party: null },
    { name: ALICE, party: PARTY },
  ])
  await expect(scan.names.resolve(ALBA)).rejects.toMatchObject({ code: 'NOT_ENOUGH_NODES' })
})
