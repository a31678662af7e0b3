/**
 * Certified reads on real processes: with a member that lies in every way, and while nodes, the log and clocks
 * fail. One cluster for the whole file; each test leaves it whole.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keyPairFromSeed, sha256 } from '@quorumscan/base'
import { createFetchTransport } from '@quorumscan/reader'
import {
  type CertifiedOutcome,
  type CertifiedReader,
  type CertifiedReadOptions,
  createCertifiedReader,
  requestOfEntriesPage,
} from '@quorumscan/reader/certified'
import { until } from '@quorumscan/testkit'
import { type Genesis, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { CertifiedPage } from '@quorumscan/verifier/certified'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { clock, createUser } from './client.ts'
import { type LyingNode, startLyingNode } from './lying-node.ts'

/** Ten thousand reads and a minute without the log by `npm run test:long`. */
const IS_LONG = process.env['LONG'] === '1'
const READ_COUNT = IS_LONG ? 10_000 : 200
const READS_PER_READER = 10
/** Names that come while it is read. */
const LATE_COUNT = 3
const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'
/** What readers take where they ask for nothing else: D-39. */
const MAX_AGE_MS = 60_000

let cluster: RunningCluster
let genesis: Genesis
let genesisHash: string
let alice: Awaited<ReturnType<typeof createUser>>

beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
  genesis = parseGenesis(JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8')))
  genesisHash = await hashGenesis(genesis)
  alice = await createUser(cluster, 'alice')
  await alice.pay(ALICE)
  await untilRead(ALICE)
})
afterAll(() => cluster?.down())

afterEach(async () => {
  await cluster.heal()
  const { nodes, synchronizer } = await cluster.status()
  for (const { name, state } of [...nodes, { name: 'synchronizer', ...synchronizer }])
    if (state === 'down') await cluster.restart(name)
  await untilRead(ALICE, { threshold: 'all' })
})

function open(seeds: readonly string[], offsetMs = 0): CertifiedReader {
  return createCertifiedReader({
    ...{ genesis, genesisHash, seeds, sha256, allowPrivateAddresses: true },
    transport: createFetchTransport(),
    clock: { ...clock, nowMicros: () => clock.nowMicros() + 1000 * offsetMs },
  })
}

const urlOf = (node: string) => cluster.urls.nodes[node] ?? ''
const allUrls = () => Object.values(cluster.urls.nodes)

async function readName(reader: CertifiedReader, name: string, options?: CertifiedReadOptions) {
  const askedMicros = clock.nowMicros()
  const [outcome] = await reader.lookup([{ name }], options)
  if (outcome === undefined) throw new Error('one asked, one answered')
  assertYoung(outcome, askedMicros, options)
  return outcome
}

/** An answer young enough when the reader chose it was so when the reader was asked: however slow the machine is. */
function assertYoung(
  outcome: CertifiedOutcome<unknown>,
  askedMicros: number,
  { maxAgeMs = MAX_AGE_MS }: CertifiedReadOptions = {},
): void {
  if (!('answer' in outcome)) return
  expect((askedMicros - outcome.recordTime) / 1000).toBeLessThanOrEqual(maxAgeMs)
}

/** By a reader that has seen nothing yet. */
function untilRead(name: string, options?: CertifiedReadOptions) {
  return until(`${name} to be proven`, async () => {
    await using reader = open(allUrls())
    const outcome = await readName(reader, name, options)
    return 'answer' in outcome && outcome.answer !== null ? outcome : undefined
  })
}

type Answered<Answer> = Extract<CertifiedOutcome<Answer>, { readonly answer: Answer }>

/** @throws Unless it is an answer, and not before `floor`. */
function answered<Answer>(outcome: CertifiedOutcome<Answer>, floor: number): Answered<Answer> {
  if (!('answer' in outcome)) throw new Error(`no answer: ${JSON.stringify(outcome)}`)
  if (outcome.offset < floor) throw new Error(`${outcome.offset} is below ${floor}`)
  return outcome
}

/** What readers learn of names that come: at which offsets each was there, and at which it was not. */
function createSightings() {
  const bounds = new Map<string, { present: number; absent: number }>()
  return {
    note(name: string, isPresent: boolean, offset: number) {
      const { present, absent } = bounds.get(name) ?? { present: Infinity, absent: -1 }
      const next = isPresent
        ? { present: Math.min(present, offset), absent }
        : { present, absent: Math.max(absent, offset) }
      bounds.set(name, next)
      if (next.absent >= next.present)
        throw new Error(`${name} was there at ${next.present}, and not at ${next.absent}`)
    },
    seen: (name: string) => (bounds.get(name)?.present ?? Infinity) < Infinity,
  }
}

it('no answer is wrong, old, behind or has a hole where a member lies in every way', {
  tags: IS_LONG ? ['long-run'] : [],
}, async () => {
  await cluster.kill('sv-3')
  const scanKey = keyPairFromSeed(
    await readFile(join(cluster.dataDir, 'keys', 'sv-3.scan'), 'utf8'),
  )
  const place = { url: urlOf('sv-3'), honestUrl: urlOf('sv-1'), name: 'sv-3', scanKey }
  await using liar: LyingNode = await startLyingNode(place)
  const lateNames = Array.from({ length: LATE_COUNT }, (_, index) => `late-${index}.unverified.ns`)
  const sightings = createSightings()
  let paid = 0
  for (let count = 0; count < READ_COUNT; count += READS_PER_READER) {
    if (paid < LATE_COUNT && count >= (READ_COUNT * paid) / LATE_COUNT)
      await alice.pay(lateNames[paid++] ?? '')
    // A new reader asks the liar first.
    await using reader = open([urlOf('sv-3'), urlOf(`sv-${1 + (count % 2)}`)])
    await readAll(reader, lateNames, sightings)
  }
  await until('all names', async () => {
    await using reader = open([urlOf('sv-3'), urlOf('sv-4')])
    await readAll(reader, lateNames, sightings)
    return lateNames.every(sightings.seen) ? true : undefined
  })
  expect(Math.min(...liar.useCounts.values())).toBeGreaterThan(0)
  expect(liar.useCounts.size).toBe(liar.lieCount)
})

/** Ten reads of all kinds. */
async function readAll(
  reader: CertifiedReader,
  lateNames: readonly string[],
  sightings: ReturnType<typeof createSightings>,
): Promise<void> {
  let floor = 0
  const take = <Answer>(outcome: CertifiedOutcome<Answer>) => {
    const answer = answered(outcome, floor)
    floor = answer.offset
    return answer
  }
  for (const threshold of ['weak', 'strong'] as const) {
    const found = take(await readName(reader, ALICE, { threshold }))
    expect(found.answer).toMatchObject({ name: ALICE, user: alice.party })
    expect(take(await readName(reader, MISSING, { threshold })).answer).toBeNull()
  }
  for (const name of lateNames) {
    const { answer, offset } = take(await readName(reader, name))
    if (answer !== null) expect(answer.user).toBe(alice.party)
    sightings.note(name, answer !== null, offset)
  }
  const [byParty] = await reader.lookup([{ party: alice.party }])
  expect(byParty !== undefined && take(byParty).answer?.user).toBe(alice.party)
  const listed = await walk(reader, 'late-')
  if (listed === null) return
  floor = listed.offset
  for (const name of lateNames) sightings.note(name, listed.names.includes(name), listed.offset)
  expect(listed.names.filter((name) => !lateNames.includes(name))).toEqual([])
}

/** A list page by page; null: its state was not to be had any more. */
async function walk(reader: CertifiedReader, prefix: string) {
  const names: string[] = []
  for (let pageToken: string | null = null; ; ) {
    const subject = { kind: 'prefix', prefix } as const
    const request = requestOfEntriesPage({ subject, pageSize: 1, pageToken })
    const askedMicros = clock.nowMicros()
    const outcome: CertifiedOutcome<CertifiedPage> = await reader.read(request)
    assertYoung(outcome, askedMicros)
    // A liar may say that the walk is over; then it starts again.
    if (outcome.kind === 'expired') return null
    const page: Answered<CertifiedPage> = answered(outcome, 0)
    for (const { name } of page.answer.entries) names.push(name)
    pageToken = page.answer.next_page_token
    if (pageToken === null) return { names, offset: page.offset }
  }
}

it('two of four nodes dead: weak reads continue, and get newer', async () => {
  await cluster.kill('sv-1')
  await cluster.kill('sv-3')
  await using reader = open(allUrls())
  const first = answered(await readName(reader, ALICE), 0)
  expect(first.agreed.length).toBeGreaterThanOrEqual(2)
  await until('a later state', async () => {
    const next = answered(await readName(reader, ALICE), first.offset)
    return next.offset > first.offset && next.agreed.length === 2 ? true : undefined
  })
  expect(answered(await readName(reader, MISSING), 0).answer).toBeNull()
})

it('three dead: what was certified last is good until it is too old, and nothing is made up', async () => {
  await using reader = open(allUrls())
  const floor = answered(await readName(reader, ALICE), 0).offset
  for (const node of ['sv-1', 'sv-2', 'sv-3']) await cluster.kill(node)
  expect(answered(await readName(reader, ALICE), floor).answer?.user).toBe(alice.party)
  expect(answered(await readName(reader, MISSING), floor).answer).toBeNull()
  await untilTooOld(reader)
})

it('the log away: answers are good until they are too old, and come back by themselves', async () => {
  await using reader = open(allUrls())
  await readName(reader, ALICE)
  await cluster.kill('synchronizer')
  await untilTooOld(reader, IS_LONG ? 60_000 : 12_000)
  // A reader that accepts older answers still gets them.
  expect('answer' in (await readName(reader, ALICE, { maxAgeMs: Infinity }))).toBe(true)
  await cluster.restart('synchronizer')
  await until('a recent answer', async () =>
    'answer' in (await readName(reader, ALICE, { maxAgeMs: 12_000 })) ? true : undefined,
  )
})

/** Until no answer is young enough, where the log never goes 12 s without a checkpoint; each before was. */
async function untilTooOld(reader: CertifiedReader, maxAgeMs = 12_000): Promise<void> {
  const probe = async () => {
    const outcome = await readName(reader, ALICE, { maxAgeMs })
    return 'answer' in outcome ? undefined : outcome
  }
  const old = await until('answers to be too old', probe)
  expect(['lagging', 'insufficient']).toContain(old.kind)
}

it('a node that is restarted while nothing happens certifies again', async () => {
  await cluster.restart('sv-2')
  await until('sv-2 to prove an answer', async () => {
    await using reader = open([urlOf('sv-2')])
    const outcome = await readName(reader, ALICE)
    const { nodes } = reader.status()
    const own = nodes.find(({ url }) => url === urlOf('sv-2'))
    return 'answer' in outcome && own?.head === outcome.offset ? true : undefined
  })
})

it('clocks that are 30 s behind, of a node and of a reader, cost no answer', async () => {
  await cluster.clock('sv-2', { offsetMs: -30_000 })
  for (const offsetMs of [0, -30_000])
    for (let count = 0; count < 5; count++) {
      await using reader = open(allUrls(), offsetMs)
      expect(answered(await readName(reader, ALICE), 0).answer?.user).toBe(alice.party)
      expect(answered(await readName(reader, MISSING), 0).answer).toBeNull()
    }
})
