import { fromHex, fromUtf8, sha256, toHex } from '@quorumscan/base'
import type { LogEntry } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import {
  cases,
  createManualClock,
  createSeededIntegers,
  type ManualClock,
  untilTrue,
} from '@quorumscan/testkit'
import { type FixturesOf, itWithRedis } from '@quorumscan/testkit/fixtures'
import type { StatePoint } from '@quorumscan/verifier'
import { joinProofs, verifyRanges } from '@quorumscan/verifier/certified'
import type { KeyRange, ProvenRange } from '@quorumscan/verifier/state-tree'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { openReplica, type Replica } from '../replica.ts'
import { KEYS } from '../storage/keys.ts'
import { decodeVersions, encodeVersions, type Version } from '../storage/versions.ts'
import { createMemoryOrdering, type MemoryOrdering } from '../testing/memory-ordering.ts'
import { type NaiveState, naiveStates } from '../testing/naive-state.ts'
import { growRandomLog } from '../testing/random-log.ts'
import { pruneRange } from './prove-range.ts'
import { createStateHistory, RECENT_MICROS } from './state-history.ts'

const it = itWithRedis
  .extend(
    'start',
    ({ redis }) =>
      async (
        scenario: Scenario,
        options: { readonly entries?: readonly LogEntry[]; readonly nextCut?: () => number } = {},
      ): Promise<Running> => {
        const clock = createManualClock(scenario.ledger.head().recordTime)
        const { genesis, genesisHash } = scenario.network
        const problems: Error[] = []
        const replica = await openReplica({
          redis: { path: redis.socketPath },
          genesis,
          genesisHash,
          clock,
          onProblem: (error) => problems.push(error),
        })
        const reported: StatePoint[] = []
        replica.proofs.onStatePoint((point) => reported.push(point))
        const ordering = createMemoryOrdering(
          options.entries ?? scenario.ledger.entries(),
          options.nextCut ?? (() => 40),
        )
        void replica.run(ordering, signal)
        return {
          replica,
          ordering,
          clock,
          reported,
          problems,
          reach: (offset) => untilTrue(`offset ${offset}`, () => replica.head().offset >= offset),
          [Symbol.asyncDispose]: () => replica[Symbol.asyncDispose](),
        }
      },
  )
  /** Dumps Redis; the result restores it, as a Redis that lost its later writes. */
  .extend('takeSnapshot', ({ connection }) => async (): Promise<() => Promise<void>> => {
    const keys = await connection.keys('*')
    const values = await Promise.all(keys.map((key) => connection.dumpBuffer(key)))
    return async () => {
      const step = connection.multi().flushall()
      for (const [index, key] of keys.entries()) step.restore(key, 0, values[index] as Buffer)
      await step.exec()
    }
  })
  /** Changes the stored versions of the name, as an intruder or a broken disk would. */
  .extend('tamper', ({ connection }) => async (how: (body: string) => string): Promise<void> => {
    const value = (await connection.hgetBuffer(KEYS.names, NAME)) as Buffer
    const versions = decodeVersions(value).map((version) => ({
      ...version,
      body: Buffer.from(how(Buffer.from(version.body).toString())),
    }))
    await connection.hset(KEYS.names, NAME, Buffer.from(encodeVersions(versions)))
  })
  .extend('tooMany', ({ connection }) => async (): Promise<void> => {
    const value = (await connection.hgetBuffer(KEYS.names, NAME)) as Buffer
    await connection.hset(KEYS.names, 'aa.unverified.ns', value)
    await connection.zadd(KEYS.lex, 0, 'aa.unverified.ns')
  })
  /** Ends each version of a document early, so that no read finds it. */
  .extend('documentOf', ({ connection }) => async (entity: string): Promise<void> => {
    const value = (await connection.hgetBuffer(KEYS.documents, entity)) as Buffer
    const versions = decodeVersions(value).map((version) => ({ ...version, to: version.from + 1 }))
    await connection.hset(KEYS.documents, entity, Buffer.from(encodeVersions(versions)))
  })
type Given = Pick<FixturesOf<typeof it>, 'tamper' | 'connection' | 'tooMany' | 'documentOf'>

const SECOND = 1_000_000
const { signal } = new AbortController()

type Running = AsyncDisposable & {
  readonly replica: Replica
  readonly ordering: MemoryOrdering
  readonly clock: ManualClock
  readonly reported: readonly StatePoint[]
  readonly problems: readonly Error[]
  reach(offset: number): Promise<void>
}

/** The leaves of a range as the verifier reads its proof, and as the model has them. */
async function provenAndModelled(replica: Replica, state: NaiveState, range: KeyRange) {
  const [{ proof, leaves }] = (await replica.proofs.proveRanges(state.offset, [range])) as [
    ProvenRange,
  ]
  const [proven] = verifyRanges({
    proof: joinProofs([fromUtf8(proof)]),
    root: fromHex(state.root),
    at: state.recordTime,
    ranges: [range],
    sha256,
  })
  expect(leaves).toEqual(proven)
  const modelled = state.leaves
    .filter(({ key }) => Buffer.compare(key, range.from) >= 0 && Buffer.compare(key, range.to) < 0)
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > state.recordTime)
    .slice(0, range.limit)
    .map(({ key, expiresAt, value }) => ({
      key: key.toString().split('\0').slice(0, -1),
      expiresAt,
      value,
    }))
  return [proven, modelled]
}

const bound = (text: string) => Buffer.from(text)

describe('the state of a replica', () => {
  it('is that of the model at each certifiable offset, whatever happens between batches', {
    tags: ['replicas'],
  }, async ({ connection, start, takeSnapshot }) => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (seed) => {
        await connection.flushall()
        const below = createSeededIntegers(seed)
        const scenario = growRandomLog(`state ${below(4)}`, 160)
        const log = scenario.ledger.entries()
        const states = new Map(naiveStates(scenario).map((state) => [state.offset, state]))
        const nextCut = () => 1 + below(30)
        const proven = new Set<number>()
        let run = await start(scenario, { entries: [], nextCut })
        let fed = 0
        let snapshot = async () => {}
        while (fed < log.length) {
          const next = Math.min(fed + 1 + below(60), log.length)
          run.ordering.push(log.slice(fed, next))
          fed = next
          await run.reach(fed)
          for (const { offset, stateRoot } of run.reported)
            expect([offset, stateRoot]).toEqual([offset, states.get(offset)?.root])
          const offsets = run.reported.map(({ offset }) => offset)
          expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b))
          const points = run.replica.proofs.statePoints()
          const newest = [...states.keys()].findLast((offset) => offset <= fed) as number
          // A tree that was loaded above that offset has no point before the next one.
          if (points.length > 0 || newest >= run.replica.horizon())
            expect(points.at(-1)?.offset).toBe(newest)
          for (const { offset } of points) {
            const state = states.get(offset) as NaiveState
            const keys = state.leaves.map(({ key }) => key)
            const from = keys[below(keys.length)] as Buffer
            const to = keys[below(keys.length)] as Buffer
            const range = {
              from: from.subarray(0, 1 + below(from.length)),
              to,
              limit: 1 + below(8),
            }
            const [shown, modelled] = await provenAndModelled(run.replica, state, range)
            expect(shown).toEqual(modelled)
            proven.add(offset)
          }
          switch (below(5)) {
            case 0:
              await run.replica[Symbol.asyncDispose]()
              run = await start(scenario, { entries: log.slice(0, fed), nextCut })
              await run.reach(fed)
              break
            case 1:
              await connection.flushall()
              break
            case 2:
              await snapshot()
              snapshot = await takeSnapshot()
              break
            case 3:
              await run.replica.raiseHorizon(run.replica.head().offset, signal)
              break
            default:
              snapshot = await takeSnapshot()
          }
        }
        expect(run.problems).toEqual([])
        expect(proven.size).toBeGreaterThan(3)
        await run.replica[Symbol.asyncDispose]()
      }),
      { numRuns: cases(3, 12) },
    )
  })
})

const NAME = 'a.unverified.ns'
const BY_NAME: KeyRange = { from: bound(`n\0${NAME}\0`), to: bound(`n\0${NAME}\u0001`), limit: 1 }
const ALL_NAMES: KeyRange = { from: bound('n\0'), to: bound('n\u0001'), limit: 1_000 }
const scenario = new Scenario()
const alice = scenario.actor('alice')
for (const label of ['a', 'b', 'c']) scenario.register(alice, `${label}.unverified.ns`)
scenario.ledger.advance(SECOND)
const log = scenario.ledger.entries()
const end = scenario.ledger.head()

const bob = (body: string) => body.replaceAll('"url":""', '"url":"https://bob.example"')

describe('a value that was changed by hand', () => {
  const DIVERGED = { code: 'STATE_DIVERGED' }

  it('is not proven, and the replica says so at once', async ({ start, tamper }) => {
    await using run = await start(scenario)
    await run.reach(end.offset)
    await tamper(bob)
    await expect(run.replica.proofs.proveRanges(end.offset, [BY_NAME])).rejects.toMatchObject(
      DIVERGED,
    )
    expect(run.replica.proofs.diverged()).toMatchObject({ offset: end.offset })
    expect(run.problems).toEqual([expect.objectContaining(DIVERGED)])
    expect(run.replica.proofs.statePoints()).toEqual([])
    await expect(run.replica.lookups.lookupNames(['dso.ns'], end.offset)).rejects.toMatchObject(
      DIVERGED,
    )
  })

  it('is not in the answer of a lookup by name', async ({ start, tamper }) => {
    await using run = await start(scenario)
    await run.reach(end.offset)
    await tamper(bob)
    await expect(run.replica.lookups.lookupNames([NAME], end.offset)).rejects.toMatchObject(
      DIVERGED,
    )
    expect(run.replica.proofs.diverged()).not.toBeNull()
  })

  it('is named, with what the log has in its place', async ({ start, connection }) => {
    await using run = await start(scenario)
    await run.reach(end.offset)
    const value = (await connection.hgetBuffer(KEYS.names, NAME)) as Buffer
    const [version] = decodeVersions(value) as [Version]
    const changed = encodeVersions([{ ...version, expires: null }])
    await connection.hset(KEYS.names, NAME, Buffer.from(changed))
    await expect(run.replica.lookups.lookupNames([NAME], end.offset)).rejects.toMatchObject(
      DIVERGED,
    )
    const hash = toHex(sha256(version.body))
    expect(run.replica.proofs.diverged()?.what).toBe(
      `The stored state has ${NAME} that expires at no time, of hash ${hash}; ` +
        `the log has ${NAME} that expires at ${version.expires}, of hash ${hash}.`,
    )
  })

  it.for([
    ['a body', ({ tamper }: Given) => tamper(bob)],
    ['malformed bytes', ({ connection }: Given) => connection.hset(KEYS.names, NAME, 'none')],
    ['a name that is gone', ({ connection }: Given) => connection.hdel(KEYS.names, NAME)],
    ['a name that is not found', ({ connection }: Given) => connection.zrem(KEYS.lex, NAME)],
    ['an entry too many', ({ tooMany }: Given) => tooMany()],
    ['the rules', ({ documentOf }: Given) => documentOf('AnsRules')],
  ] as const)(
    'is found by the scrub when no client reads it: %s',
    async ([_what, change], { start, tamper, connection, tooMany, documentOf }) => {
      await using run = await start(scenario)
      await run.reach(end.offset)
      await run.clock.advance(10_000)
      expect(run.replica.proofs.diverged()).toBeNull()
      await change({ tamper, connection, tooMany, documentOf })
      await untilTrue('the scrub finds it', async () => {
        await run.clock.advance(1_000)
        return run.replica.proofs.diverged() !== null
      })
    },
  )

  it.for([
    ['a body', ({ tamper }: Given) => tamper(bob)],
    ['malformed bytes', ({ connection }: Given) => connection.hset(KEYS.names, NAME, 'none')],
    ['a name that is gone', ({ connection }: Given) => connection.hdel(KEYS.names, NAME)],
    ['the rules', ({ documentOf }: Given) => documentOf('AnsRules')],
  ] as const)(
    'is found at a start and at every later start until a wipe: %s',
    async ([_what, change], { start, connection, tamper, tooMany, documentOf }) => {
      {
        await using run = await start(scenario)
        await run.reach(end.offset)
      }
      await change({ tamper, connection, tooMany, documentOf })
      const later = {
        offset: end.offset + 1,
        recordTime: end.recordTime + SECOND,
        bytes: Buffer.of(),
      }
      {
        await using run = await start(scenario)
        await untilTrue('it is found', () => run.replica.proofs.diverged() !== null)
        run.ordering.push([later])
        await run.reach(later.offset)
        expect(run.reported).toEqual([])
      }
      await using run = await start(scenario, { entries: [...log, later] })
      await untilTrue('it is found again', () => run.replica.proofs.diverged() !== null)
      await connection.flushall()
      run.ordering.push([{ ...later, offset: later.offset + 1, recordTime: later.recordTime + 1 }])
      await untilTrue('it is whole again', () => run.replica.proofs.diverged() === null)
      await run.reach(later.offset + 1)
      expect(await run.replica.proofs.proveRanges(later.offset + 1, [BY_NAME])).not.toMatchObject({
        leaves: [],
      })
    },
  )
})

describe('proofs', () => {
  it('are returned at recent certifiable offsets only', async ({ start }) => {
    await using run = await start(scenario)
    await run.reach(end.offset)
    const points = run.replica.proofs.statePoints().map(({ offset }) => offset)
    const between = log.map(({ offset }) => offset).find((offset) => !points.includes(offset))
    await expect(
      run.replica.proofs.proveRanges(between as number, [BY_NAME]),
    ).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
    })
    await expect(run.replica.proofs.proveRanges(end.offset + 1, [BY_NAME])).rejects.toMatchObject({
      code: 'OFFSET_NOT_REACHED',
    })
    const late = {
      offset: end.offset + 1,
      recordTime: end.recordTime + RECENT_MICROS + 1,
      bytes: Buffer.of(),
    }
    await run.clock.advance(RECENT_MICROS / 1_000)
    run.ordering.push([late])
    await run.reach(late.offset)
    expect(run.replica.proofs.statePoints().map(({ offset }) => offset)).toEqual([late.offset])
    await expect(run.replica.proofs.proveRanges(end.offset, [BY_NAME])).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
    })
  })

  it('are made once for concurrent requests for the same range', async ({ start }) => {
    await using run = await start(scenario)
    await run.reach(end.offset)
    const ask = () => run.replica.proofs.proveRanges(end.offset, [BY_NAME, ALL_NAMES])
    const [one, other] = await Promise.all([ask(), ask()])
    expect(one[0]?.leaves).toHaveLength(1)
    for (const [index, proven] of one.entries()) expect(other[index]).toBe(proven)
    expect((await ask())[1]).toBe(one[1])
  })

  it('are refused if their range has too many expired names', () => {
    const history = createStateHistory(scenario.network.genesis)
    const of = (index: number) => ({
      name: `${String(index).padStart(6, '0')}.unverified.ns`,
      contractId: `00${toHex(sha256(Buffer.from(String(index))))}`,
      user: alice.party,
      expiresAt: SECOND,
      body: Buffer.of(),
    })
    for (let index = 0; index <= 10_001; index++) history.add(of(index))
    for (const last of [10_000, 10_001]) {
      const place = { offset: last, recordTime: SECOND, historyHash: '' }
      history.commit(place)
    }
    const [recent] = history.recent()
    const upTo = (index: number): KeyRange => ({
      from: bound('n\0'),
      to: bound(`n\0${of(index).name}`),
      limit: 1,
    })
    expect(pruneRange(history, recent as never, upTo(9_998)).leaves).toEqual([])
    expect(() => pruneRange(history, recent as never, upTo(10_001))).toThrow(/Too many names/)
  })
})

it('past trees stay within their memory limit', () => {
  const recentBytesMax = 2 ** 20
  const history = createStateHistory(scenario.network.genesis, { recentBytesMax })
  const of = (index: number, round: number) => ({
    name: `${index}.unverified.ns`,
    contractId: `00${toHex(sha256(Buffer.from(`${index} ${round}`)))}`,
    user: alice.party,
    expiresAt: null,
    body: Buffer.of(),
  })
  const count = 200
  for (let index = 0; index < count; index++) history.add(of(index, 0))
  let most = 0
  for (let round = 0; round < 60; round++) {
    history.commit({ offset: round, recordTime: SECOND + round, historyHash: '' })
    most = Math.max(most, history.recentBytes())
    for (let index = 0; index < count; index++) {
      history.remove(of(index, round))
      history.add(of(index, round + 1))
    }
  }
  expect(most).toBeLessThanOrEqual(recentBytesMax)
  expect(most).toBeGreaterThan(recentBytesMax / 2)
  expect(history.recent().length).toBeGreaterThan(10)
})
