import { sha256, toHex } from '@quorumscan/base'
import {
  amountsOf,
  ansEntry,
  ansRules,
  coinRules,
  confirmSetProtocolVersionCommand,
  type DueItem,
  decodeEntry,
  disclose,
  dsoRules,
  type LogEntry,
  NEWEST_RULES,
  openMiningRound,
  requestEntryCommand,
} from '@quorumscan/ledger'
import { outcomeOf, Scenario, submissionOf } from '@quorumscan/ledger/testing'
import type { Contract } from '@quorumscan/model'
import {
  createManualClock,
  type ManualClock,
  startRedis,
  type TestRedis,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { readStoredOffset } from './connection.ts'
import type { Position } from './reads/contracts.ts'
import { openReplica, type Replica } from './replica.ts'
import { ReplicaStateError } from './storage/head.ts'
import { KEYS } from './storage/keys.ts'
import { dumpReplica } from './testing/dump.ts'
import { createMemoryOrdering, type MemoryOrdering } from './testing/memory-ordering.ts'
import { growRandomLog } from './testing/random-log.ts'
import { settledDump } from './testing/replay.ts'

const it = base
  .extend('server', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startRedis()),
  )
  .extend('redis', async ({ server }) => {
    const connection = server.connect()
    await connection.flushall()
    connection.disconnect()
    return server
  })
  .extend(
    'inRedis',
    ({ redis }) =>
      async <T>(work: (connection: ReturnType<TestRedis['connect']>) => Promise<T>) => {
        const connection = redis.connect()
        try {
          return await work(connection)
        } finally {
          connection.disconnect()
        }
      },
  )
  .extend(
    'start',
    ({ redis }) =>
      async (options: {
        readonly of?: Scenario
        readonly entries?: readonly LogEntry[]
        readonly nowMicros?: number
        readonly cut?: number
      }): Promise<Running> => {
        const of = options.of ?? scenario
        const clock = createManualClock(options.nowMicros ?? of.ledger.head().recordTime)
        const { genesis, genesisHash } = of.network
        const path = redis.socketPath
        const replica = await openReplica({ redis: { path }, genesis, genesisHash, clock })
        const ordering = createMemoryOrdering(
          options.entries ?? of.ledger.entries(),
          () => options.cut ?? 40,
        )
        const running = replica.run(ordering, signal)
        return {
          replica,
          ordering,
          clock,
          running,
          reach: (offset) => {
            const isReached = () => replica.head().offset >= offset
            // Resolves before the next entry is applied; the poll below has the deadline.
            const reached = new Promise<void>((resolve) => {
              const check = () => {
                if (!isReached()) return
                stop()
                resolve()
              }
              const stop = replica.onApplied(check)
              check()
            })
            return Promise.race([reached, untilTrue(`offset ${offset} to be applied`, isReached)])
          },
          [Symbol.asyncDispose]: () => replica[Symbol.asyncDispose](),
        }
      },
  )
const scenario = growRandomLog('replica', 120)
const log = scenario.ledger.entries()
const end = scenario.ledger.head()
const { signal } = new AbortController()
const checkpointAt = (offset: number, recordTime: number): LogEntry => ({
  offset,
  recordTime,
  bytes: new Uint8Array(),
})

type Running = AsyncDisposable & {
  readonly replica: Replica
  readonly ordering: MemoryOrdering
  readonly clock: ManualClock
  readonly running: Promise<void>
  reach(offset: number): Promise<void>
}

describe('a replica', () => {
  it('continues after its Redis has hung', async ({ start, redis }) => {
    await using run = await start({ entries: log.slice(0, 30), nowMicros: end.recordTime })
    await run.reach(30)
    process.kill(redis.pid, 'SIGSTOP')
    try {
      // What is stored is read to be compared, by the same connection, and first.
      await run.clock.advance(1_000)
      await expect(run.replica.lookups.lookupNames(['dso.ns'], 30)).rejects.toThrow(
        'cannot be read',
      )
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
    run.ordering.push(log.slice(30))
    await run.reach(log.length)
    expect(run.replica.state()).toBe('live')
  })

  it('resumes where it stopped, and reports each entry once, in order', async ({
    redis,
    start,
  }) => {
    const offsets: number[] = []
    expect(await readStoredOffset({ path: redis.socketPath })).toBe(0)
    for (const part of [log.slice(0, 30), log.slice(0, 31), log]) {
      await using run = await start({ entries: part })
      run.replica.onApplied((entry) => offsets.push(entry.offset))
      await run.reach(part.length)
      expect(await readStoredOffset({ path: redis.socketPath })).toBe(part.length)
    }
    expect(offsets).toEqual(log.map((entry) => entry.offset))
  })

  it('is the same after a wipe, at once and while it runs', async ({ start, redis, inRedis }) => {
    await using run = await start({})
    await run.reach(log.length)
    await run.replica[Symbol.asyncDispose]()
    await run.running
    const dump = await settledDump(redis, scenario.network.genesis)
    await inRedis((connection) => connection.flushall())
    await using again = await start({})
    await again.reach(20)
    await inRedis((connection) => connection.flushall())
    const more = { offset: end.offset + 1, recordTime: end.recordTime + 1, bytes: new Uint8Array() }
    again.ordering.push([more])
    await again.reach(more.offset)
    await again.replica[Symbol.asyncDispose]()
    await inRedis((connection) => connection.flushall())
    await using last = await start({})
    await last.reach(log.length)
    await last.replica[Symbol.asyncDispose]()
    expect(await settledDump(redis, scenario.network.genesis)).toEqual(dump)
  })

  it('continues correctly after Redis has lost its last seconds', async ({ start, inRedis }) => {
    await using run = await start({ entries: log.slice(0, 60) })
    await run.reach(60)
    const restore = await inRedis(async (connection) => {
      const keys = await connection.keys('*')
      const values = await Promise.all(keys.map((key) => connection.dumpBuffer(key)))
      return () =>
        inRedis(async (other) => {
          const step = other.multi().flushall()
          for (const [index, key] of keys.entries()) {
            const value = values[index]
            if (value) step.restore(key, 0, value)
          }
          await step.exec()
        })
    })
    run.ordering.push(log.slice(60, 100))
    await run.reach(100)
    const pinned = await run.replica.pin(100, signal)
    await restore()
    await expect(run.replica.lookups.lookupNames(['dso.ns'], 100)).rejects.toMatchObject({
      code: 'OFFSET_NOT_REACHED',
    })
    run.ordering.push(log.slice(100))
    await run.reach(log.length)
    expect(run.replica.head()).toMatchObject(end)
    expect(await run.replica.pin(100, signal)).toEqual(pinned)
  })

  it('stays exact with two writers on one Redis', async ({ start, inRedis, redis }) => {
    await using one = await start({ cut: 3 })
    await using two = await start({ cut: 7 })
    await Promise.race([one.reach(log.length), two.reach(log.length)])
    const head = await inRedis((connection) => dumpReplica(connection))
    await one.replica[Symbol.asyncDispose]()
    await two.replica[Symbol.asyncDispose]()
    await inRedis((connection) => connection.flushall())
    await using alone = await start({})
    await alone.reach(log.length)
    await alone.replica[Symbol.asyncDispose]()
    const dump = await settledDump(redis, scenario.network.genesis)
    const isOfState = ([key]: [string, unknown]) =>
      /:(contracts|index|due):/.test(key) || key === KEYS.lex || key === KEYS.at
    expect(Object.entries(head).filter(isOfState)).toEqual(Object.entries(dump).filter(isOfState))
  })

  it('stops ingest, reports the reason and keeps answering if the log is another one', async ({
    start,
  }) => {
    await using run = await start({ entries: log.slice(0, 30) })
    await run.reach(30)
    await run.replica[Symbol.asyncDispose]()
    const forged = log.map((entry) =>
      entry.offset === 30 ? { ...entry, bytes: new Uint8Array([1, 2, 3]) } : entry,
    )
    for (const entries of [log.slice(0, 29), forged]) {
      await using next = await start({ entries })
      await next.running
      expect(next.replica.haltReason()).toMatchObject({ code: 'LOG_REGRESSED' })
      expect(next.replica.state()).toBe('halted')
      expect(next.replica.head().offset).toBe(30)
      expect(await next.replica.lookups.lookupNames(['none', 'dso.ns'], 30)).toMatchObject([
        null,
        {},
      ])
    }
  })

  it('stops before the first entry of an unknown version, names it, and keeps answering', async ({
    start,
  }) => {
    const of = new Scenario()
    const next = NEWEST_RULES.version + 1
    for (const sv of of.svs.slice(0, 3))
      of.do(
        sv,
        confirmSetProtocolVersionCommand({
          dsoRules: of.the(dsoRules),
          confirmer: sv.party,
          version: next,
          notBefore: of.network.genesis.recordTime + 100,
        }),
      )
    const known = [...of.ledger.entries(), checkpointAt(4, of.network.genesis.recordTime + 99)]
    const first = decodeEntry(known[0]?.bytes ?? new Uint8Array(), of.network.genesisHash)
    if (first.kind !== 'submission') throw new Error('the first vote')
    const { submission } = first
    const entries = [...known, checkpointAt(5, of.network.genesis.recordTime + 100)]
    // First in one batch with the entries before it, then, after a restart, alone.
    for (const _ of [1, 2]) {
      await using run = await start({ of, entries, cut: 500 })
      await run.running
      expect(run.replica.head().offset).toBe(4)
      expect(run.replica.state()).toBe('halted')
      expect(run.replica.haltReason()).toMatchObject({
        code: 'SOFTWARE_OUTDATED',
        message: expect.stringContaining(`Install a release that knows version ${next}`),
      })
      expect(await run.replica.lookups.lookupNames(['none', 'dso.ns'], 4)).toMatchObject([null, {}])
      await expect(
        run.replica.dryRun(submission, { notBefore: of.network.genesis.recordTime + 100 }),
      ).rejects.toMatchObject({ code: 'SOFTWARE_OUTDATED' })
    }
  })

  it('waits with an entry whose record time is more than 10 s ahead of its clock', async ({
    start,
  }) => {
    const first = end.recordTime - 5_000_000
    const entries = [
      checkpointAt(1, first),
      checkpointAt(2, first + 10_000_000),
      checkpointAt(3, first + 10_000_001),
    ]
    await using run = await start({ entries, nowMicros: first })
    expect(run.replica.state()).toBe('catching-up')
    await run.reach(2)
    expect(run.replica.state()).toBe('live')
    await new Promise((resolve) => setImmediate(resolve))
    expect(run.replica.head().offset).toBe(2)
    await run.clock.advance(1_000)
    await run.reach(3)
  })

  it('refuses a Redis of another genesis, of another layout, or that evicts', async ({
    start,
    redis,
    inRedis,
  }) => {
    await using run = await start({ entries: log.slice(0, 5) })
    await run.reach(5)
    const { genesis, genesisHash } = new Scenario({ nodeCount: 5 }).network
    const options = { redis: { path: redis.socketPath }, genesis, genesisHash, clock: run.clock }
    await expect(openReplica(options)).rejects.toThrow(ReplicaStateError)
    await expect(openReplica(options)).rejects.toThrow(scenario.network.genesisHash)
    await run.replica[Symbol.asyncDispose]()
    const write = (head: string) => inRedis((connection) => connection.hset(KEYS.names, '', head))
    await write('\u0001 of an older layout')
    await expect(start({})).rejects.toThrow(ReplicaStateError)
    await expect(readStoredOffset({ path: redis.socketPath })).rejects.toThrow(ReplicaStateError)
    // Of another genesis, and of a newer layout, nothing is deleted.
    let rebuilt = 0
    const rebuild = async (deleteStored: () => Promise<unknown>) => {
      rebuilt++
      await deleteStored()
    }
    const own = { ...options, ...scenario.network, rebuild }
    await write('\u007f of a newer layout')
    await expect(openReplica(own)).rejects.toThrow('written by a newer version of the software')
    expect(rebuilt).toBe(0)
    await write('\u0001 of an older layout')
    await using rebuiltReplica = await openReplica(own)
    expect([rebuilt, rebuiltReplica.head().offset]).toEqual([1, 0])
    await expect(openReplica({ ...options, rebuild })).rejects.toThrow(ReplicaStateError)
    expect(rebuilt).toBe(1)
    await inRedis((connection) => connection.flushall())
    const policy = (value: string) =>
      inRedis((connection) => connection.config('SET', 'maxmemory-policy', value))
    await policy('allkeys-lru')
    try {
      await expect(start({})).rejects.toThrow('noeviction')
    } finally {
      await policy('noeviction')
    }
    await expect(
      openReplica({ ...options, redis: { path: `${redis.socketPath}-none` } }),
    ).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
  })
})

describe('due work', () => {
  it('is stored for the jobs of the process only; a process with other jobs refuses it', async ({
    redis,
    inRedis,
  }) => {
    const { genesis, genesisHash } = scenario.network
    const clock = createManualClock(end.recordTime)
    const create = (dueJobs: readonly string[]) =>
      openReplica({ redis: { path: redis.socketPath }, genesis, genesisHash, clock, dueJobs })
    const replica = await create(['renew-subscription', 'advance-rounds'])
    const running = replica.run(
      createMemoryOrdering(log, () => 40),
      signal,
    )
    await new Promise<void>((resolve) => {
      replica.onApplied(({ offset }) => {
        if (offset === log.length) resolve()
      })
    })
    const expected = scenario.ledger.due().filter(({ job }) => job === 'advance-rounds')
    const due = await replica.dueItems({ job: 'advance-rounds', limit: 100, after: null })
    expect(due.map(({ contractId }) => contractId)).toEqual(
      expected.map(({ contractId }) => contractId),
    )
    await expect(replica.dueItems({ job: 'expire-entry', limit: 1, after: null })).rejects.toThrow(
      'expire-entry',
    )
    const kept = await inRedis((connection) => connection.keys('*:due:*'))
    for (const key of kept) expect(key).toMatch(/:(renew-subscription|advance-rounds)$/)
    await replica[Symbol.asyncDispose]()
    await running
    await expect(create(['expire-entry'])).rejects.toThrow(ReplicaStateError)
    const again = await create(['advance-rounds', 'renew-subscription'])
    await again[Symbol.asyncDispose]()
  })
})

describe('pinned reads', () => {
  it('answer the same after the head has moved on, until the horizon passes them', async ({
    start,
  }) => {
    const story = new Scenario()
    const alice = story.actor('alice')
    story.register(alice, 'a.unverified.ns')
    const pinned = story.ledger.head().offset
    story.register(story.actor('bob'), 'b.unverified.ns')
    await using run = await start({ of: story, entries: story.ledger.entries().slice(0, pinned) })
    await run.reach(pinned)
    const read = async () => [
      await run.replica.pin(pinned, signal),
      await run.replica.lookups.lookupNames(['a.unverified.ns', 'b.unverified.ns'], pinned),
      await run.replica.lookups.lookupParties([alice.party, story.network.genesis.dso], pinned),
      await run.replica.lookups.listByPrefix({ prefix: '', after: 'b', limit: 9, offset: pinned }),
      await run.replica.lookups.listByParty({
        party: alice.party,
        after: null,
        limit: 9,
        offset: pinned,
      }),
      await run.replica.lookups.documentAsOf('DsoRules', pinned),
    ]
    const before = await read()
    const entry = (await run.replica.lookups.lookupNames(['a.unverified.ns'], pinned))[0]
    const active = story.ledger
      .all(ansEntry)
      .find(({ payload }) => payload.name === 'a.unverified.ns')
    expect(JSON.parse(Buffer.from(entry ?? []).toString())).toEqual({
      contract_id: active?.contractId,
      user: alice.party,
      name: 'a.unverified.ns',
      url: '',
      description: '',
      expires_at: active?.contract.payload['expiresAt'],
    })
    run.ordering.push(story.ledger.entries().slice(pinned))
    await run.reach(story.ledger.head().offset)
    expect(await read()).toEqual(before)
    const { offset, recordTime } = run.replica.head()
    const late = {
      offset: offset + 1,
      recordTime: recordTime + 601_000_000,
      bytes: new Uint8Array(),
    }
    await run.clock.advance(700_000)
    run.ordering.push([late])
    await run.reach(late.offset)
    await expect(run.replica.pin(pinned, signal)).rejects.toMatchObject({ code: 'OFFSET_PRUNED' })
    await expect(run.replica.lookups.lookupNames([], pinned)).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
    })
  })

  it('end at a horizon that an operator moved, during ingest and after a restart', async ({
    start,
  }) => {
    const story = new Scenario()
    for (const label of ['a', 'b', 'c', 'd'])
      story.register(story.actor(label), `${label}.unverified.ns`)
    const entries = story.ledger.entries()
    const half = Math.floor(entries.length / 2)
    const check = async (run: Running) => {
      expect(run.replica.horizon()).toBe(half)
      await expect(run.replica.pin(half - 1, signal)).rejects.toMatchObject({
        code: 'OFFSET_PRUNED',
      })
      const { offset } = await run.replica.pin(half, signal)
      expect(await run.replica.lookups.lookupNames(['a.unverified.ns'], offset)).not.toEqual([null])
    }
    {
      await using run = await start({ of: story, entries: entries.slice(0, half), cut: 1 })
      await run.reach(half)
      expect(await run.replica.pin(1, signal)).toMatchObject({ offset: 1 })
      run.ordering.push(entries.slice(half))
      expect(await run.replica.raiseHorizon(half, signal)).toBe(half)
      expect(await run.replica.raiseHorizon(1, signal)).toBe(half)
      await run.reach(entries.length)
      await check(run)
    }
    await using run = await start({ of: story, entries })
    await check(run)
  })

  it('wait 250 ms for an offset that is close, and not at all for one that is far', async ({
    start,
  }) => {
    await using run = await start({ entries: log.slice(0, 10) })
    await run.reach(10)
    const soon = run.replica.pin(12, signal)
    run.ordering.push(log.slice(10, 12))
    expect(await soon).toMatchObject({ offset: 12, recordTime: log[11]?.recordTime })
    const never = run.replica.pin(13, signal)
    const refused = expect(never).rejects.toMatchObject({ code: 'OFFSET_NOT_REACHED' })
    await run.clock.advance(250)
    await refused
    await expect(run.replica.pin(5_000, signal)).rejects.toMatchObject({
      code: 'OFFSET_NOT_REACHED',
    })
    const given = new AbortController()
    const given2 = run.replica.pin(13, given.signal)
    given.abort(new Error('the client left'))
    await expect(given2).rejects.toThrow('the client left')
    expect(await run.replica.pin(null, signal)).toMatchObject({ offset: 12 })
  })
})

describe('reads of the newest state', () => {
  it('agree with the ledger: contracts, keys, parties, due work', async ({ start }) => {
    await using run = await start({})
    await run.reach(log.length)
    const { replica } = run
    const all = scenario.ledger.contracts()
    const ids = all.map(({ contractId }) => contractId)
    expect(await replica.contracts([...ids, `00${'0'.repeat(64)}`, 'x'])).toEqual([
      ...all,
      null,
      null,
    ])
    for (const key of ['rounds', 'singleton:AnsRules', `party:Coin:${scenario.svs[0]?.party}`]) {
      const expected = scenario.ledger.byKey(key).toSorted((a, b) => b.offset - a.offset)
      expect(await replica.contractsByKey(key)).toEqual(expected)
      expect(await replica.contractsByKey(key, { limit: 1 })).toEqual(expected.slice(0, 1))
    }
    const lists = [...new Set(all.flatMap(amountsOf).map(({ key }) => key))]
    expect(lists.length).toBeGreaterThan(2)
    expect(await replica.totals([...lists, 'amount:Coin:unknown'])).toEqual([
      ...scenario.ledger.totals(lists),
      { count: 0, sum: 0n },
    ])
    for (const key of lists) {
      const amountIn = (contract: Contract) =>
        amountsOf(contract).find((entry) => entry.key === key)?.amount ?? 0n
      const found: Contract[] = []
      for (let after: Position | undefined, isFirst = true; isFirst || after !== undefined; ) {
        const page = await replica.listContracts([key], { after, limit: 2 })
        found.push(...page.contracts)
        after = page.next
        isFirst = false
      }
      expect(found.map(amountIn)).toEqual(
        scenario.ledger
          .byKey(key)
          .map(amountIn)
          .sort((a, b) => Number(b - a)),
      )
      expect(new Set(found.map(({ contractId }) => contractId)).size).toBe(found.length)
    }
    expect(await replica.isPartyAllocated(scenario.svs[0]?.party ?? '')).toBe(true)
    expect(await replica.isPartyAllocated(`unknown::1220${'0'.repeat(64)}`)).toBe(false)
    const expected = scenario.ledger.due()
    expect(new Set(expected.map(({ job }) => job)).size).toBeGreaterThan(1)
    for (const job of new Set(expected.map((item) => item.job))) {
      const due: DueItem[] = []
      for (let after: DueItem | null = null; ; after = due.at(-1) ?? null) {
        const page = await replica.dueItems({ job, limit: 2, after })
        due.push(...page)
        if (page.length < 2) break
      }
      const place = ({ at, contractId }: DueItem) => `${String(at).padStart(17, '0')} ${contractId}`
      const ofJob = expected.filter((item) => item.job === job)
      expect(due.map(place)).toEqual(ofJob.map(place).sort())
    }
    const newest = scenario.ledger
      .all(openMiningRound)
      .toSorted((a, b) => b.payload.round.number - a.payload.round.number)[0]?.contract
    expect(await replica.lookups.documentAsOf('OpenMiningRound', end.offset)).toEqual(newest)
    expect(await replica.lookups.documentAsOf('CoinRules', end.offset)).toEqual(
      scenario.ledger.all(coinRules)[0]?.contract,
    )
  })

  it('a dry run says what the submission would do, and does nothing', async ({
    start,
    inRedis,
  }) => {
    const story = new Scenario()
    const alice = story.actor('alice')
    story.register(alice, 'taken.unverified.ns')
    await using run = await start({ of: story })
    await run.reach(story.ledger.head().offset)
    const dump = await inRedis(dumpReplica)
    const submission = (name: string) =>
      submissionOf({
        genesis: story.network.genesisHash,
        participant: alice.keyPair.publicKey,
        id: toHex(sha256(Buffer.from(name))).slice(0, 32),
        notAfter: story.ledger.head().recordTime + 60_000_000,
        userId: 'alice',
        actAs: [alice.party],
        commandId: name,
        disclosed: story.ledger.byKey('singleton:AnsRules').map(disclose),
        commands: [
          requestEntryCommand({
            ansRules: story.the(ansRules),
            user: alice.party,
            name,
            url: '',
            description: '',
          }),
        ],
      })
    const [free, taken] = [
      await run.replica.dryRun(submission('free.unverified.ns')),
      await run.replica.dryRun(submission('taken.unverified.ns')),
    ]
    expect([outcomeOf(free.result), free.growth > 256]).toEqual(['accepted', true])
    expect([outcomeOf(taken.result), taken.growth]).toEqual(['NAME_TAKEN', 0])
    expect(await inRedis(dumpReplica)).toEqual(dump)
  })
})
