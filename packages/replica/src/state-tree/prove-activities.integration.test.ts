/** @module-tag rest */
import { fromHex, sha256, utf8 } from '@quorumscan/base'
import { formatEventId } from '@quorumscan/ledger'
import type { Scenario } from '@quorumscan/ledger/testing'
import { createManualClock, HOUR_MICROS, untilTrue } from '@quorumscan/testkit'
import { type FixturesOf, itWithRedis } from '@quorumscan/testkit/fixtures'
import { type ActivitiesPage, activitiesQuery, InvalidProof } from '@quorumscan/verifier/certified'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { openReplica, type Replica } from '../replica.ts'
import { decodeActivity } from '../storage/activity-member.ts'
import { activityTileKey, KEYS } from '../storage/keys.ts'
import { ActivityOracle, growActivityLog } from '../testing/activity-log.ts'
import { createMemoryOrdering } from '../testing/memory-ordering.ts'

const it = itWithRedis
  .extend('follow', ({ redis }) => async ({ ledger, network }: Scenario) => {
    const clock = createManualClock(ledger.head().recordTime)
    const replica = await openReplica({ redis: { path: redis.socketPath }, ...network, clock })
    const log = ledger.entries()
    let pushed = replica.head().offset
    const ordering = createMemoryOrdering(log.slice(0, pushed), () => 90)
    void replica.run(ordering, signal)
    return {
      replica,
      clock,
      async reach(offset: number): Promise<void> {
        ordering.push(log.slice(pushed, offset))
        pushed = Math.max(pushed, offset)
        await untilTrue(`offset ${offset}`, () => replica.head().offset >= offset)
      },
      [Symbol.asyncDispose]: () => replica[Symbol.asyncDispose](),
    }
  })
  .extend('last', ({ connection }) => async () => {
    const [, member] = await connection.zrangeBuffer(KEYS.activities, '-2', '-1')
    return member as Buffer
  })
  .extend('put', ({ last, connection }) => async (change: (member: string) => string) => {
    const member = await last()
    await connection.zrem(KEYS.activities, member)
    await connection.zadd(
      KEYS.activities,
      0,
      Buffer.from(change(member.toString('latin1')), 'latin1'),
    )
  })
  .extend('tile', ({ connection }) => async () => {
    const keys = (await connection.keys('{replica}:activity-tree:0:*')).sort((a, b) =>
      a.localeCompare(b, 'en', { numeric: true }),
    )
    return keys.at(-1) as string
  })
type Given = Pick<FixturesOf<typeof it>, 'put' | 'connection' | 'last' | 'tile'>

const { signal } = new AbortController()
/** More rows than a tile has hashes; most of them are cleaned up. */
const { scenario } = growActivityLog('proven', { steps: 700, retentionMicros: HOUR_MICROS / 4 })
scenario.ledger.advance(1_000_000)
const oracle = new ActivityOracle(scenario)
const end = scenario.ledger.head().offset

/** What the replica proves of a page at a kept state, as a reader reads it. */
async function provenPage(
  replica: Replica,
  offset: number,
  page: ActivitiesPage,
  { network }: Scenario = scenario,
) {
  const point = replica.proofs.statePoints().find((known) => known.offset === offset)
  if (point === undefined) throw new Error(`no state is kept at ${offset}`)
  const { proof, rows } = await replica.proofs.proveActivities(offset, page)
  const { verify, answer } = activitiesQuery(page, network)
  const { recordTime: at, stateRoot } = point
  const { activities } = verify(proof, { root: fromHex(stateRoot), offset, at, sha256 })
  expect(answer(rows)).toEqual({ activities })
  return activities.map((row) => JSON.stringify(row))
}

const modelled = (offset: number, { pageSize: limit, after, order }: ActivitiesPage) =>
  oracle.page({ offset, after, order, limit })

describe('a page of activities', () => {
  const ids = oracle.all().map((json) => JSON.parse(json).event_id as string)
  const pages: fc.Arbitrary<ActivitiesPage> = fc.record({
    pageSize: fc.constantFrom(1, 2, 7, 300),
    after: fc.oneof(
      fc.constantFrom(null, '0000000000000000:0000', '9999999999999999:9999', ...ids),
      fc.tuple(fc.nat(end + 2), fc.nat(3)).map(([offset, index]) => formatEventId(offset, index)),
    ),
    order: fc.constantFrom('asc' as const, 'desc' as const),
  })

  it('is proven at every kept state, whatever was cleaned up, also after a restart', async ({
    follow,
    connection,
  }) => {
    expect(oracle.all().length).toBeGreaterThan(2 * 256)
    let run = await follow(scenario)
    let provenCount = 0
    for (let head = 0; head < end; ) {
      head = Math.min(end, head + 70)
      await run.reach(head)
      if (head % 3 === 0) {
        await run.replica[Symbol.asyncDispose]()
        run = await follow(scenario)
        await untilTrue('the state is loaded', () => run.replica.state() !== 'starting')
        await run.reach(head)
      }
      const offsets = run.replica.proofs.statePoints().map(({ offset }) => offset)
      if (offsets.length === 0) continue
      await fc.assert(
        fc.asyncProperty(pages, fc.constantFrom(...offsets), async (page, offset) => {
          expect(await provenPage(run.replica, offset, page)).toEqual(modelled(offset, page))
          provenCount += 1
        }),
        { numRuns: 25 },
      )
    }
    expect(provenCount).toBeGreaterThan(200)
    // The tiles of deleted rows are deleted, but for the tile of the last one.
    const [row] = await connection.zrangeBuffer(KEYS.activities, '0', '0')
    const first = Math.floor((decodeActivity(row as Buffer).index as number) / 256)
    const last = Math.floor((ids.length - 1) / 256)
    expect(first).toBeGreaterThan(0)
    const tiles = await connection.keys('{replica}:activity-tree:*')
    const ofLeaves = Array.from({ length: last - first + 1 }, (_, n) =>
      activityTileKey(0, first + n),
    )
    expect(tiles.sort()).toEqual([...ofLeaves, activityTileKey(1, 0)].sort())
    await run.replica[Symbol.asyncDispose]()
  })

  it('of large rows ends at its size limit, and proves nothing about later rows', async ({
    follow,
  }) => {
    await using run = await follow(scenario)
    await run.reach(end)
    const page = { pageSize: 1000, after: null, order: 'asc' } as const
    const whole = await provenPage(run.replica, end, page)
    expect(whole).toEqual(modelled(end, page))
    expect(await provenPage(run.replica, end, { ...page, after: ids.at(-1) as string })).toEqual([])
  })

  it('is refused at an offset without a kept state', async ({ follow }) => {
    await using run = await follow(scenario)
    await run.reach(end)
    const page = { pageSize: 1, after: null, order: 'asc' } as const
    await expect(run.replica.proofs.proveActivities(1, page)).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
    })
    await expect(run.replica.proofs.proveActivities(end + 1, page)).rejects.toMatchObject({
      code: 'OFFSET_NOT_REACHED',
    })
  })
})

describe('activities that were changed by hand', () => {
  const { scenario } = growActivityLog('by hand', {
    steps: 60,
    retentionMicros: 90 * 24 * HOUR_MICROS,
  })
  scenario.ledger.advance(1_000_000)
  const end = scenario.ledger.head().offset
  const newest = { pageSize: 2, after: null, order: 'desc' } as const
  const changes: readonly (readonly [string, (given: Given) => Promise<unknown>])[] = [
    [
      'an amount',
      ({ put }: Given) => put((member) => member.replace(/"offset":"\d+"/, '"offset":"7"')),
    ],
    ['malformed bytes', ({ put }: Given) => put((member) => member.slice(0, 24))],
    ['an event', ({ put }: Given) => put((member) => member.replace(/:000(\d)/, ':0009'))],
    [
      'a row that is gone',
      async ({ connection, last }: Given) => connection.zrem(KEYS.activities, await last()),
    ],
    [
      'a row too many',
      async ({ connection }: Given) =>
        connection.zadd(KEYS.activities, 0, `${`${end}`.padStart(16, '0')}:0099`),
    ],
    [
      'a hash',
      async ({ connection, tile }: Given) =>
        connection.setrange(await tile(), 0, Buffer.alloc(32, 1)),
    ],
    ['hashes that are gone', async ({ connection, tile }: Given) => connection.del(await tile())],
    ['malformed hashes', async ({ connection, tile }: Given) => connection.set(await tile(), 'x')],
  ]

  it.for(changes)(
    'are not proven, and the replica says so at once: %s',
    async ([_what, change], { follow, put, connection, last, tile }) => {
      await using run = await follow(scenario)
      await run.reach(end)
      expect((await provenPage(run.replica, end, newest, scenario)).length).toBe(2)
      await change({ put, connection, last, tile })
      const proving = run.replica.proofs.proveActivities(end, newest)
      await expect(proving).rejects.toMatchObject({ code: 'STATE_DIVERGED' })
      expect(run.replica.proofs.diverged()).toMatchObject({ offset: end })
      expect(run.replica.proofs.statePoints()).toEqual([])
    },
  )

  it.for(changes)(
    'are found by the scrub when no client reads them: %s',
    async ([_what, change], { follow, put, connection, last, tile }) => {
      await using run = await follow(scenario)
      await run.reach(end)
      await run.clock.advance(60_000)
      expect(run.replica.proofs.diverged()).toBeNull()
      await change({ put, connection, last, tile })
      await untilTrue('the scrub finds it', async () => {
        await run.clock.advance(1_000)
        return run.replica.proofs.diverged() !== null
      })
    },
  )

  it.for(changes)(
    'are found within two seconds of a start when no client reads them: %s',
    async ([_what, change], { follow, connection, put, last, tile }) => {
      {
        await using run = await follow(scenario)
        await run.reach(end)
      }
      await change({ put, connection, last, tile })
      await using run = await follow(scenario)
      const { replica } = run
      const isLoaded = () =>
        replica.proofs.statePoints().length > 0 || replica.proofs.diverged() !== null
      await untilTrue('the state is loaded', isLoaded)
      for (let ms = 0; ms < 2_000; ms += 50) {
        await run.clock.advance(50)
        // What the scrub asked Redis in this step is answered before the next one.
        for (let answers = 0; answers < 20; answers++) await connection.ping()
      }
      expect(replica.proofs.diverged()).not.toBeNull()
    },
  )

  it('are found at a start if they do not give the state root, until a wipe', async ({
    follow,
    connection,
    tile,
  }) => {
    {
      await using run = await follow(scenario)
      await run.reach(end)
    }
    await connection.setrange(await tile(), 0, Buffer.alloc(32, 1))
    await using run = await follow(scenario)
    await untilTrue('it is found', () => run.replica.proofs.diverged() !== null)
  })
})

it('a proof is verified against the state root alone', async ({ follow }) => {
  await using run = await follow(scenario)
  await run.reach(end)
  const page = { pageSize: 1, after: null, order: 'desc' } as const
  const { proof } = await run.replica.proofs.proveActivities(end, page)
  const { verify } = activitiesQuery(page, scenario.network)
  const { offset, recordTime: at } = scenario.ledger.head()
  const other = { root: sha256(utf8('other')), offset, at, sha256 }
  expect(() => verify(proof, other)).toThrow(InvalidProof)
})
