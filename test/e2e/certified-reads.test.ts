/**
 * Certified reads on real processes: with a member that tells every kind of lie, and while nodes, the log and clocks
 * fail. All tests share one cluster, and each leaves all of it up.
 * @module-tag rest
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
import { cases, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { createPlatformCrypto, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { CertifiedPage } from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { clock, createUser } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { type LyingNode, startLyingNode } from './lying-node.ts'

/** At least so many readers, each with ten reads, follow each other until the liar has used each of its lies. */
const READER_COUNT_MIN = cases(3, 1_000)
/** Names that are registered during the reads. */
const LATE_COUNT = 3
/** Each round adds an entry to the log, and members sign a newer state. A payment is locked for three rounds. */
const TICK_MICROS = 2_000_000
/** While it is up, the log never goes this long without a newer state. */
const OLD_MS = cases(5_000, 60_000)
const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'
/** Default of readers (D-39). */
const MAX_AGE_MS = 60_000

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(
      await startCluster({ nodes: 4, genesisOverrides: { coin: { tickMicros: TICK_MICROS } } }),
    ),
  )
  .extend('genesis', { scope: 'file' }, async ({ cluster }) =>
    parseGenesis(JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8'))),
  )
  .extend('genesisHash', { scope: 'file' }, ({ genesis }) => hashGenesis(genesis))
  .extend(
    'open',
    { scope: 'file' },
    ({ genesis, genesisHash }) =>
      (seeds: readonly string[], offsetMs = 0): CertifiedReader =>
        createCertifiedReader({
          genesis,
          genesisHash,
          seeds,
          sha256,
          crypto: createPlatformCrypto(),
          allowPrivateAddresses: true,
          transport: createFetchTransport(),
          clock: { ...clock, nowMicros: () => clock.nowMicros() + 1000 * offsetMs },
        }),
  )
  .extend(
    'urlOf',
    { scope: 'file' },
    ({ cluster }) =>
      (node: string) =>
        cluster.urls.nodes[node] ?? '',
  )
  .extend(
    'allUrls',
    { scope: 'file' },
    ({ cluster }) =>
      () =>
        Object.values(cluster.urls.nodes),
  )
  /** Waits until a new reader, which has seen no state, finds the name. */
  .extend(
    'untilRead',
    { scope: 'file' },
    ({ open, allUrls }) =>
      (name: string, options?: CertifiedReadOptions) => {
        return until(`${name} to be proven`, async () => {
          await using reader = open(allUrls())
          const outcome = await readName(reader, name, options)
          return 'answer' in outcome && outcome.answer !== null ? outcome : undefined
        })
      },
  )
  /** With its name registered, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster, untilRead }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(ALICE)
    await untilRead(ALICE)
    return alice
  })
  /** Makes ten reads, at least one of each kind. */
  .extend(
    'readAll',
    { scope: 'file' },
    ({ alice }) =>
      async (
        reader: CertifiedReader,
        lateNames: readonly string[],
        sightings: ReturnType<typeof createSightings>,
      ): Promise<void> => {
        let floor = 0
        const next = <Answer>(outcome: CertifiedOutcome<Answer>) => {
          const answer = expectAnswer(outcome, floor)
          floor = answer.offset
          return answer
        }
        for (const threshold of ['weak', 'strong'] as const) {
          const found = next(await readName(reader, ALICE, { threshold }))
          expect(found.answer).toMatchObject({ name: ALICE, user: alice.party })
          expect(next(await readName(reader, MISSING, { threshold })).answer).toBeNull()
        }
        for (const name of lateNames) {
          const { answer, offset } = next(await readName(reader, name))
          if (answer !== null) expect(answer.user).toBe(alice.party)
          sightings.note(name, answer !== null, offset)
        }
        const [byParty] = await reader.lookup([{ party: alice.party }])
        expect(byParty !== undefined && next(byParty).answer?.user).toBe(alice.party)
        const listed = await walk(reader, 'late-')
        if (listed === null) return
        floor = listed.offset
        for (const name of lateNames)
          sightings.note(name, listed.names.includes(name), listed.offset)
        expect(listed.names.filter((name) => !lateNames.includes(name))).toEqual([])
      },
  )

it.afterEach(async ({ cluster, untilRead }) => {
  await cluster.heal()
  await untilRead(ALICE, { threshold: 'all' })
})

async function readName(reader: CertifiedReader, name: string, options?: CertifiedReadOptions) {
  const startedMicros = clock.nowMicros()
  const [outcome] = await reader.lookup([{ name }], options)
  if (outcome === undefined) throw new Error('no outcome for the lookup')
  assertFresh(outcome, startedMicros, options)
  return outcome
}

/** Compares the age at the start of the read, so that a slow machine does not fail it. */
function assertFresh(
  outcome: CertifiedOutcome<unknown>,
  startedMicros: number,
  { maxAgeMs = MAX_AGE_MS }: CertifiedReadOptions = {},
): void {
  if (!('answer' in outcome)) return
  expect((startedMicros - outcome.recordTime) / 1000).toBeLessThanOrEqual(maxAgeMs)
}

type Answered<Answer> = Extract<CertifiedOutcome<Answer>, { readonly answer: Answer }>

/** @throws {Error} If it is not an answer, or its offset is below `floor`. */
function expectAnswer<Answer>(outcome: CertifiedOutcome<Answer>, floor: number): Answered<Answer> {
  if (!('answer' in outcome)) throw new Error(`no answer: ${JSON.stringify(outcome)}`)
  if (outcome.offset < floor) throw new Error(`${outcome.offset} is below ${floor}`)
  return outcome
}

/** Checks that no answer contradicts another one: a name that was present at an offset is not absent at a later one. */
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
        throw new Error(`${name} was present at ${next.present}, but absent at ${next.absent}`)
    },
    seen: (name: string) => (bounds.get(name)?.present ?? Infinity) < Infinity,
  }
}

it('readers get no wrong, stale or incomplete answer while a member tells every kind of lie', {
  tags: ['rest', 'certified-reads'],
}, async ({ cluster, urlOf, alice, open, readAll }) => {
  await cluster.kill('sv-3')
  const scanKey = keyPairFromSeed(
    await readFile(join(cluster.dataDir, 'keys', 'sv-3.scan'), 'utf8'),
  )
  const options = { url: urlOf('sv-3'), honestUrl: urlOf('sv-1'), name: 'sv-3', scanKey }
  await using liar: LyingNode = await startLyingNode(options)
  const lateNames = Array.from({ length: LATE_COUNT }, (_, index) => `late-${index}.unverified.ns`)
  const sightings = createSightings()
  let readerCount = 0
  await until(
    'all names, and each lie',
    async () => {
      if (readerCount < LATE_COUNT) await alice.pay(lateNames[readerCount] ?? '')
      // A new reader sends its first request to the liar.
      await using reader = open([urlOf('sv-3'), urlOf(`sv-${1 + (readerCount++ % 2)}`)])
      await readAll(reader, lateNames, sightings)
      const isDone = readerCount >= READER_COUNT_MIN && liar.useCounts.size === liar.lieCount
      return isDone && lateNames.every(sightings.seen) ? true : undefined
    },
    { timeoutMs: cases(120_000, 240_000) },
  )
})

/** Reads a list page by page. Returns null if its state is no longer available. */
async function walk(reader: CertifiedReader, prefix: string) {
  const names: string[] = []
  for (let pageToken: string | null = null; ; ) {
    const subject = { kind: 'prefix', prefix } as const
    const request = requestOfEntriesPage({ subject, pageSize: 1, pageToken })
    const startedMicros = clock.nowMicros()
    const outcome: CertifiedOutcome<CertifiedPage> = await reader.read(request)
    assertFresh(outcome, startedMicros)
    // A liar may report that the state has expired. The caller then starts again.
    if (outcome.kind === 'pruned') return null
    const page: Answered<CertifiedPage> = expectAnswer(outcome, 0)
    for (const { name } of page.answer.entries) names.push(name)
    pageToken = page.answer.next_page_token
    if (pageToken === null) return { names, offset: page.offset }
  }
}

it('weak reads continue, with newer states, while two of four nodes are down; with a third one down, the last state is served until it is too old', async ({
  cluster,
  open,
  allUrls,
  alice,
}) => {
  await cluster.kill('sv-1')
  await cluster.kill('sv-3')
  await using reader = open(allUrls())
  const first = expectAnswer(await readName(reader, ALICE), 0)
  expect(first.agreed.length).toBeGreaterThanOrEqual(2)
  const { offset: floor } = await until('a later state', async () => {
    const next = expectAnswer(await readName(reader, ALICE), first.offset)
    return next.offset > first.offset && next.agreed.length === 2 ? next : undefined
  })
  await cluster.kill('sv-2')
  expect(expectAnswer(await readName(reader, ALICE), floor).answer?.user).toBe(alice.party)
  expect(expectAnswer(await readName(reader, MISSING), floor).answer).toBeNull()
  await untilTooOld(reader)
})

it('with the log down, answers are served until they are too old, and again once it is up', async ({
  open,
  allUrls,
  cluster,
}) => {
  await using reader = open(allUrls())
  await readName(reader, ALICE)
  await cluster.kill('synchronizer')
  await untilTooOld(reader)
  // A reader that accepts older answers still gets them.
  expect('answer' in (await readName(reader, ALICE, { maxAgeMs: Infinity }))).toBe(true)
  await cluster.restart('synchronizer')
  await until('a recent answer', async () =>
    'answer' in (await readName(reader, ALICE, { maxAgeMs: OLD_MS })) ? true : undefined,
  )
})

it('reads succeed while the clocks of a node and of the reader are 30 s slow', async ({
  cluster,
  open,
  allUrls,
  alice,
}) => {
  await cluster.clock('sv-2', { offsetMs: -30_000 })
  for (const offsetMs of [0, -30_000]) {
    await using reader = open(allUrls(), offsetMs)
    expect(expectAnswer(await readName(reader, ALICE), 0).answer?.user).toBe(alice.party)
    expect(expectAnswer(await readName(reader, MISSING), 0).answer).toBeNull()
  }
  await cluster.heal('sv-2')
})

async function untilTooOld(reader: CertifiedReader): Promise<void> {
  const readUnlessAnswered = async () => {
    const outcome = await readName(reader, ALICE, { maxAgeMs: OLD_MS })
    return 'answer' in outcome ? undefined : outcome
  }
  const old = await until('answers to be too old', readUnlessAnswered, { intervalMs: 200 })
  expect(['lagging', 'insufficient']).toContain(old.kind)
}
