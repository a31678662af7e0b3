/** `trust` of `createSpliceScan`: votes of named super-validators alone decide, and no other scan is asked. */
import { createTickingClock } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { idOf, partyOf, type ScanBehaviour, startScans } from '@quorumscan/testkit/splice-scans'
import { describe, expect } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { createSpliceScan } from './index.ts'

const NAMES = ['A', 'B', 'C', 'D', 'E', 'F', 'G']
const TRUSTED = ['A', 'B', 'C']
const STRANGERS = ['D', 'E', 'F', 'G']
const ALICE = 'alice.unverified.cns'
const PARTY = partyOf('alice')
const THIEF = partyOf('thief')
const READ_MS = 1_000
const entry = {
  contract_id: idOf(ALICE),
  user: PARTY,
  name: ALICE,
  url: '',
  description: '',
  expires_at: '2099-01-01T00:00:00Z',
}
const lies: ScanBehaviour = (_, { text }) => ({
  status: 200,
  text: text.replaceAll(PARTY, THIEF),
})
const dead: ScanBehaviour = () => ({ status: 503, text: '' })

const it = base
  .extend('scans', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startScans({ svNames: NAMES, entries: [entry] })),
  )
  .extend('namesAskedOf', ({ scans }) => () => {
    const isName = (request: string) => request.includes('by-name')
    return NAMES.filter((name) => scans.requests(name).some(isName))
  })

it.afterEach(({ scans }) => {
  for (const name of NAMES) {
    scans.behave(name)
    ;(scans.requests(name) as string[]).length = 0
  }
})

describe('a rule of three of seven', () => {
  it('is met by two equal votes, although all others lie', async ({ scans, namesAskedOf }) => {
    for (const name of ['C', ...STRANGERS]) scans.behave(name, lies)
    await using scan = createSpliceScan({ scans: scans.addresses, trust: { members: TRUSTED } })
    const outcome = await scan.names.lookup(ALICE)
    expect(outcome).toMatchObject({
      kind: 'proven',
      value: { party: PARTY },
      agreed: ['A', 'B'],
      basis: 'votes',
      needed: 2,
      nodeCount: 3,
      faultyMax: 1,
      trust: { members: TRUSTED, threshold: 2 },
    })
    expect(namesAskedOf()).toEqual(TRUSTED)
    expect(STRANGERS.flatMap((name) => scans.requests(name))).toEqual([])
  })

  it.for([
    ['one vote', { B: dead, C: dead }, 'failed'],
    ['no vote', { A: dead, B: dead, C: dead }, 'failed'],
    ['one liar more than it tolerates, of whom each lies', { A: lies, B: lies }, 'proven'],
  ] as const)('%s of its members decides alone', async ([, behaviours, kind], { scans }) => {
    for (const [name, behaviour] of Object.entries(behaviours)) scans.behave(name, behaviour)
    const trust = { members: TRUSTED }
    await using scan = createSpliceScan({
      scans: scans.addresses,
      trust,
      timeoutMs: READ_MS,
      clock: createTickingClock(systemClock.nowMicros()),
    })
    expect(await scan.names.lookup(ALICE)).toMatchObject({ kind })
  })

  it('asks no other scan for names, also after the list was read again', async ({
    scans,
    namesAskedOf,
  }) => {
    for (const name of STRANGERS) scans.behave(name, lies)
    let laterMs = 0
    const clock = { ...systemClock, monotonicMs: () => laterMs + systemClock.monotonicMs() }
    const trust = { members: TRUSTED }
    await using scan = createSpliceScan({ seeds: scans.urls.slice(3), trust, clock })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    const asked = () => STRANGERS.flatMap((name) => scans.requests(name))
    const before = asked().length
    laterMs = 1_300_000
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(scans.requests('A').filter((request) => request.includes('/v0/scans'))).toHaveLength(2)
    expect(asked()).toHaveLength(before)
    expect(namesAskedOf()).toEqual(TRUSTED)
    expect(scan.status()).toEqual({ nodeCount: 3, svNames: TRUSTED })
  })

  it('is checked: members that are unknown, and thresholds', async ({ scans }) => {
    const { addresses, urls } = scans
    for (const trust of [
      { members: ['A', 'Z'] },
      { members: ['A', 'A'] },
      { members: TRUSTED, threshold: 0 },
      { members: TRUSTED, threshold: 4 },
    ])
      await expect(
        createSpliceScan({ scans: addresses, trust }).names.resolve(ALICE),
        JSON.stringify(trust),
      ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(NAMES.flatMap((name) => scans.requests(name))).toEqual([])
    for (const trust of [
      { members: [] },
      { members: ['A', 'A'] },
      { members: 'A' as never },
      { members: TRUSTED, thresholds: 3 },
      { members: TRUSTED, threshold: 0 },
      { members: TRUSTED, threshold: 4 },
    ])
      await expect(
        createSpliceScan({ seeds: urls, trust }).names.resolve(ALICE),
        JSON.stringify(trust),
      ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await using unused = createSpliceScan({ seeds: urls, trust: { members: TRUSTED } })
    for (const threshold of [1, 4, '3' as never])
      await expect(unused.names.resolve(ALICE, { threshold })).rejects.toMatchObject({
        code: 'INVALID_QUORUM',
      })
    expect(NAMES.flatMap((name) => scans.requests(name))).toEqual([])
    await using seeded = createSpliceScan({ seeds: urls, trust: { members: ['A', 'Z'] } })
    await expect(seeded.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('Z is not a member'),
    })
    await using scan = createSpliceScan({ scans: addresses, trust: { members: TRUSTED } })
    expect(await scan.names.resolve(ALICE, { threshold: 3 })).toBe(PARTY)
    await expect(scan.names.resolve(ALICE, { threshold: 1 })).rejects.toMatchObject({
      code: 'INVALID_QUORUM',
    })
  })
})
