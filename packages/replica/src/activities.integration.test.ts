/** @module-tag rest */
import { fromUtf8 } from '@quorumscan/base'
import { type ActivityRow, formatEventId, type NoticeRow } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { partyParticipant } from '@quorumscan/model'
import { createManualClock, HOUR_MICROS, until } from '@quorumscan/testkit'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { ACTIVITY_CLEAN_UP_PORTION, cleanUpActivities } from './clean-up/activity-clean-up.ts'
import { loadOrStart } from './ingest/genesis.ts'
import {
  ACTIVITY_PAGE_BYTES_MAX,
  type ActivityBody,
  type ActivityPage,
  readActivities,
} from './reads/activity-reads.ts'
import { openReplica } from './replica.ts'
import {
  decodeActivity,
  eventIdOfPartyMember,
  storedRow,
  treeRow,
} from './storage/activity-member.ts'
import { KEYS } from './storage/keys.ts'
import { createLayout } from './storage/layout.ts'
import { loadHeadState, writeSteps } from './storage/store.ts'
import { ActivityOracle, growActivityLog } from './testing/activity-log.ts'
import { stepAfter, testParty } from './testing/entry-steps.ts'
import { createMemoryOrdering } from './testing/memory-ordering.ts'
import { replay } from './testing/replay.ts'

const DAY_MICROS = 24 * HOUR_MICROS
const { signal } = new AbortController()

const { genesis, genesisHash } = new Scenario({ activityRetentionMicros: 1_000 }).network
const it = itWithRedis
  /** A replica of the scenario whose log arrives when `reach` is called. */
  .extend('follow', ({ redis }) => async (scenario: Scenario, participant?: string) => {
    const { genesis, genesisHash } = scenario.network
    const clock = createManualClock(scenario.ledger.head().recordTime)
    const path = redis.socketPath
    const replica = await openReplica({
      redis: { path },
      genesis,
      genesisHash,
      clock,
      ...(participant === undefined ? {} : { participant }),
    })
    const log = scenario.ledger.entries()
    const ordering = createMemoryOrdering([], () => 7)
    const running = replica.run(ordering, signal)
    let pushed = 0
    return {
      replica,
      async reach(offset: number): Promise<void> {
        ordering.push(log.slice(pushed, offset))
        pushed = Math.max(pushed, offset)
        await new Promise<void>((resolve, reject) => {
          running.then(() => reject(new Error('the replica stopped')), reject)
          const check = () => {
            if (replica.head().offset < offset) return
            stop()
            resolve()
          }
          const stop = replica.onApplied(check)
          check()
        })
      },
      [Symbol.asyncDispose]: () => replica[Symbol.asyncDispose](),
    }
  })
  /**
   * Redis holds these rows, their parties and the times of their offsets, without the first `goneCount` rows, and
   * nothing else.
   */
  .extend(
    'expectStored',
    ({ connection }) =>
      async (rows: readonly string[], goneCount: number): Promise<void> => {
        const members = (await connection.zrangeBuffer(KEYS.activities, 0, '-1')).map(
          decodeActivity,
        )
        expect(members.map(({ body }) => fromUtf8(body))).toEqual(rows)
        const own = await connection.zrangeBuffer(KEYS.activityParties, 0, '-1')
        expect(own.map(eventIdOfPartyMember).sort()).toEqual(
          members.flatMap(({ eventId, tags }) => tags.map(() => eventId)).sort(),
        )
        const visible = members.slice(goneCount)
        const offsets = new Set(visible.map(({ eventId }) => eventId.slice(0, 16)))
        expect(await connection.zrange(KEYS.activityTimes, 0, '-1')).toEqual([...offsets])
      },
  )
  .extend('begin', ({ connection }) => async () => {
    const layout = createLayout({ genesis, genesisHash })
    const headState = await loadOrStart(connection, { genesis, genesisHash, layout }, signal)
    return {
      headState,
      /** The next offset, with these rows. */
      async apply(recordTime: number, activities: readonly ActivityRow[]): Promise<void> {
        const step = {
          ...stepAfter(headState.head, { recordTime }),
          activities: activities.map((row) => treeRow(row, recordTime)),
        }
        expect(await writeSteps(connection, headState, { steps: [step], layout, signal })).toBe(
          'written',
        )
      },
    }
  })

const texts = (rows: readonly ActivityBody[]) => rows.map((row) => fromUtf8(row.body))

const order = fc.constantFrom('asc' as const, 'desc' as const)

describe('the activity history', () => {
  const long = growActivityLog('long', { steps: 200, retentionMicros: 90 * DAY_MICROS })
  const longOracle = new ActivityOracle(long.scenario)
  const short = growActivityLog('brief', { steps: 200, retentionMicros: HOUR_MICROS / 8 })
  const shortOracle = new ActivityOracle(short.scenario)

  it('the logs of these tests have rows of every kind, and expired rows', () => {
    for (const oracle of [longOracle, shortOracle]) {
      const rows = oracle.all().map((json) => JSON.parse(json))
      const kinds = rows.map((row) => row.transfer?.transfer_kind ?? row.activity_type)
      expect(new Set(kinds)).toEqual(
        new Set([
          'devnet_tap',
          'mint',
          'transfer',
          'create_transfer_instruction',
          'transfer_instruction_accept',
          'abort_transfer_instruction',
        ]),
      )
      expect(rows.length).toBeGreaterThan(120)
    }
    const { offset } = short.scenario.ledger.head()
    const kept = shortOracle.keptFrom(offset).length
    expect(kept).toBeGreaterThan(5)
    expect(kept).toBeLessThan(shortOracle.all().length / 2)
    // At some heads the clean-up keeps rows that are visible only at older offsets.
    const heads = Array.from({ length: offset }, (_, index) => index + 1)
    const hidden = heads.filter(
      (head) =>
        shortOracle.horizonOf(head) > 0 &&
        shortOracle.keptFrom(head).length <
          shortOracle.keptFrom(shortOracle.horizonOf(head)).length,
    )
    expect(hidden.length).toBeGreaterThan(offset / 4)
  })

  it('is walked through in both directions, in any pages, while it grows: nothing twice, nothing left out', async ({
    connection,
    follow,
  }) => {
    const end = long.scenario.ledger.head().offset
    const party = fc.constantFrom(undefined, ...long.parties)
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        fc.infiniteStream(fc.integer({ min: 0, max: 60 })),
        party,
        async (limits, growths, of) => {
          await connection.flushall()
          await using run = await follow(long.scenario)
          await run.reach(Math.floor(end / 3))
          const whose = of === undefined ? {} : { party: of }
          const begun = run.replica.head().offset
          const seen = { asc: [] as string[], desc: [] as string[] }
          const last = { asc: null as string | null, desc: null as string | null }
          for (let isLast = false; !isLast; ) {
            const { offset } = run.replica.head()
            let found = 0
            for (const way of ['asc', 'desc'] as const) {
              const limit = limits.next().value as number
              const page = { offset, after: last[way], limit, order: way, ...whose }
              const rows = await run.replica.lookups.activities(page)
              expect(rows.length).toBeLessThanOrEqual(limit)
              seen[way].push(...texts(rows))
              last[way] = rows.at(-1)?.eventId ?? last[way]
              found += rows.length
            }
            isLast = found === 0 && offset === end
            await run.reach(Math.min(end, offset + (growths.next().value as number)))
          }
          const every = { after: null, limit: 10_000, ...whose }
          expect(seen.asc).toEqual(longOracle.page({ ...every, offset: end, order: 'asc' }))
          expect(seen.desc).toEqual(longOracle.page({ ...every, offset: begun, order: 'desc' }))
        },
      ),
      { numRuns: 3 },
    )
  })

  it('is read in one page of the largest size, for all and for each party', async ({ follow }) => {
    const { offset } = long.scenario.ledger.head()
    await using run = await follow(long.scenario)
    await run.reach(offset)
    for (const whose of [{}, ...long.parties.map((party) => ({ party }))])
      for (const way of ['asc', 'desc'] as const) {
        const page = { offset, after: null, limit: 1_000, order: way, ...whose }
        expect(texts(await run.replica.lookups.activities(page))).toEqual(longOracle.page(page))
      }
  })

  it('shows at every offset what the retention leaves, whatever was cleaned up', async ({
    follow,
    connection,
  }) => {
    await using run = await follow(short.scenario)
    const end = short.scenario.ledger.head().offset
    const rowIds = shortOracle.all().map((json) => JSON.parse(json).event_id as string)
    const after = fc.oneof(
      fc.constant(null),
      fc.constantFrom(...rowIds, '0000000000000000:0000', '9999999999999999:9999'),
      fc.tuple(fc.nat(end + 2), fc.nat(3)).map(([offset, index]) => formatEventId(offset, index)),
    )
    const page = fc.record({
      back: fc.nat(30),
      after,
      limit: fc.integer({ min: 1, max: 150 }),
      order,
      party: fc.constantFrom(undefined, ...short.parties, testParty('unknown')),
    })
    for (let head = 0; head < end; ) {
      head = Math.min(end, head + 60)
      await run.reach(head)
      const headState = await loadHeadState(connection)
      const horizon = headState?.head.horizon ?? 0
      await fc.assert(
        fc.asyncProperty(page, async ({ back, party, ...rest }) => {
          const offset = head - back
          const query = { ...rest, offset, ...(party === undefined ? {} : { party }) }
          if (offset < horizon)
            await expect(run.replica.lookups.activities(query)).rejects.toMatchObject({
              code: 'OFFSET_PRUNED',
            })
          else
            expect(texts(await run.replica.lookups.activities(query))).toEqual(
              shortOracle.page(query),
            )
        }),
        { numRuns: 40 },
      )
    }
  })

  it('holds after clean-up exactly what offsets from the horizon on can show', async ({
    follow,
    connection,
    expectStored,
  }) => {
    await using run = await follow(short.scenario)
    const end = short.scenario.ledger.head().offset
    const { genesis } = short.scenario.network
    for (let head = 0; head < end; ) {
      head = Math.min(end, head + 80)
      await run.reach(head)
      // The replica runs, and may write between the two.
      const headState = await until('a clean-up that nothing came between', async () => {
        const loaded = await loadHeadState(connection)
        if (loaded === null) throw new Error('there is a replica')
        const outcome = await cleanUpActivities(connection, loaded, { genesis, signal })
        return outcome === 'fenced' ? undefined : { ...loaded, outcome }
      })
      expect(headState.outcome).toBe('done')
      const kept = shortOracle
        .keptFrom(headState.head.horizon)
        .filter((json) => Number(JSON.parse(json).offset) <= head)
      await expectStored(kept, shortOracle.goneCount(headState.head.horizon))
    }
  })

  it('ends on the microsecond: record time + retention is the first instant without the row', async ({
    follow,
  }) => {
    const scenario = new Scenario({ activityRetentionMicros: HOUR_MICROS })
    scenario.tap(scenario.actor('alice'), '1')
    const tapped = scenario.ledger.head()
    const goneAt = tapped.recordTime + HOUR_MICROS
    for (const at of [goneAt - 1, goneAt, goneAt + 1]) scenario.ledger.append(new Uint8Array(), at)
    await using run = await follow(scenario)
    await run.reach(tapped.offset + 3)
    const countAt = async (offset: number) => {
      const page = { offset, after: null, limit: 9, order: 'asc' } as const
      return (await run.replica.lookups.activities(page)).length
    }
    const counts = await Promise.all([1, 2, 3].map((step) => countAt(tapped.offset + step)))
    expect(counts).toEqual([1, 0, 0])
  })

  it('is the same, byte for byte, after any batches, kills and wipes', async () => {
    const { dump } = await replay(short.scenario, { seed: 'one piece', faults: false })
    expect(dump[KEYS.activities]?.length).toBeGreaterThan(5)
    const other = await replay(short.scenario, { seed: 'in pieces', faults: true })
    expect(other.dump).toEqual(dump)
  })
})

describe('notices', () => {
  /** A refunded payment between two taps. Its lock is an activity, the refund is not. */
  const scenario = new Scenario()
  const [alice, bob] = [scenario.actor('alice'), scenario.actor('bob')]
  scenario.register(bob, 'bob.unverified.ns')
  scenario.tap(alice, '200')
  const late = scenario.pay(alice, 'x.unverified.ns').payment
  scenario.tap(bob, '200')
  scenario.resolve(scenario.pay(bob, 'x.unverified.ns').payment)
  scenario.resolve(late)
  scenario.tap(alice, '1')
  const { offset } = scenario.ledger.head()
  const participant = partyParticipant(alice.party) ?? ''

  it('are part of the history of their party, in both directions, and of nothing else', async ({
    follow,
  }) => {
    await using run = await follow(scenario, participant)
    await run.reach(offset)
    const steps = async (page: Partial<ActivityPage>) => {
      const found: ActivityBody[] = []
      for (let after: string | null = null; ; after = found.at(-1)?.eventId ?? null) {
        const next = { after, limit: 1, order: 'asc', ...page, offset } as const
        const rows = await run.replica.lookups.activities(next)
        if (rows.length === 0) return found.map(({ step }) => step)
        found.push(...rows)
      }
    }
    const own = [
      'CoinRules_DevNet_Tap',
      'SubscriptionRequest_AcceptAndMakePayment',
      'SubscriptionInitialPayment_Reject',
      'CoinRules_DevNet_Tap',
    ]
    expect(await steps({ party: alice.party })).toEqual(own)
    expect(await steps({ party: alice.party, order: 'desc' })).toEqual(own.toReversed())
    expect(await steps({ party: bob.party })).not.toContain('SubscriptionInitialPayment_Reject')
    const all = await run.replica.lookups.activities({
      after: null,
      limit: 1_000,
      order: 'asc',
      offset,
    })
    expect(texts(all)).toEqual(
      new ActivityOracle(scenario).page({ after: null, limit: 1_000, order: 'asc', offset }),
    )
  })

  it('are kept for a participant only', async ({ follow, connection }) => {
    await using run = await follow(scenario)
    await run.reach(offset)
    expect(await connection.zcard(KEYS.notices)).toBe(0)
  })
})

describe('large histories', () => {
  /** A transfer, with a filler of `size` characters. */
  const row = (offset: number, index: number, size = 0): ActivityRow => {
    const event_id = formatEventId(offset, index)
    const date = '2023-11-14T22:13:20.000001Z'
    // Only the members that the replica reads.
    const activity = { event_id, date, filler: 'x'.repeat(size) } as never
    return {
      activity,
      parties: [testParty('alice'), testParty(`p${index % 7}`)],
      step: 'CoinRules_Transfer',
    }
  }

  it('are cleaned up in bounded passes that do not change reads', async ({
    begin,
    connection,
    expectStored,
  }) => {
    const { headState, apply } = await begin()
    // Each row has the date of offset 1.
    const counts = [150, ACTIVITY_CLEAN_UP_PORTION - 150, 2 * ACTIVITY_CLEAN_UP_PORTION + 1]
    const all = counts.flatMap((count, index) =>
      Array.from({ length: count }, (_, i) => row(1, index * 1_000 + i)),
    )
    await apply(genesis.recordTime + 1, all)
    await apply(genesis.recordTime + 601_000_000, [row(2, 0)])
    await apply(genesis.recordTime + 601_000_002, [])
    expect(headState.head.horizon).toBe(2)
    const position = { offset: 3, recordTime: genesis.recordTime + 601_000_002 }
    const read = async () => {
      const page = { after: null, limit: 10, order: 'asc' } as const
      const mine = { ...page, party: testParty('alice') }
      return [
        texts(await readActivities(connection, page, position, genesis)),
        texts(await readActivities(connection, mine, position, genesis)),
      ]
    }
    const before = await read()
    expect(before.map((page) => page.length)).toEqual([1, 1])
    for (let left = all.length; ; ) {
      const outcome = await cleanUpActivities(connection, headState, { genesis, signal })
      left = Math.max(0, left - ACTIVITY_CLEAN_UP_PORTION)
      expect(await connection.zcard(KEYS.activities)).toBe(Math.max(left, 1) + 1)
      expect(await read()).toEqual(before)
      if (outcome === 'done') break
      expect(outcome).toBe('more')
    }
    const last = all.at(-1) as ActivityRow
    await expectStored(
      [last, row(2, 0)].map(({ activity }) => JSON.stringify(activity)),
      1,
    )
    expect(await cleanUpActivities(connection, headState, { genesis, signal })).toBe('done')
  })

  it('are cleaned up with notices, and the index of times after both', async ({
    begin,
    connection,
  }) => {
    const { headState } = await begin()
    const apply = async (recordTime: number, notices: readonly NoticeRow[]) => {
      const activities = notices.length > 0 ? [row(headState.head.offset + 1, 0)] : []
      const step = {
        ...stepAfter(headState.head, { recordTime }),
        activities: activities.map((row) => treeRow(row, recordTime)),
        notices: notices.map((row) => storedRow(row, recordTime)),
      }
      await writeSteps(connection, headState, {
        steps: [step],
        layout: createLayout({ genesis, genesisHash }),
        signal,
      })
    }
    const count = ACTIVITY_CLEAN_UP_PORTION + 50
    const many = Array.from({ length: count }, (_, i) => row(1, 1_000 + i) as unknown as NoticeRow)
    await apply(genesis.recordTime + 1, many)
    await apply(genesis.recordTime + 601_000_000, [row(2, 1_000) as unknown as NoticeRow])
    await apply(genesis.recordTime + 601_000_002, [])
    const position = { offset: 3, recordTime: genesis.recordTime + 601_000_002 }
    const mine = { after: null, limit: 10, order: 'asc', party: testParty('alice') } as const
    const read = async () =>
      (await readActivities(connection, mine, position, genesis)).map(({ eventId }) => eventId)
    const kept = [formatEventId(2, 0), formatEventId(2, 1_000)]
    for (const [outcome, notices, times] of [
      ['more', 51, 2],
      ['done', 1, 1],
    ] as const) {
      expect(await read()).toEqual(kept)
      expect(await cleanUpActivities(connection, headState, { genesis, signal })).toBe(outcome)
      expect(await connection.zcard(KEYS.notices)).toBe(notices)
      expect(await connection.zcard(KEYS.activityTimes)).toBe(times)
    }
    expect(await read()).toEqual(kept)
    // The last row that was cleaned up stays.
    expect(await connection.zcard(KEYS.activities)).toBe(2)
    // Alice, and one of the others, for each row and for the notice.
    expect(await connection.zcard(KEYS.activityParties)).toBe(6)
  })

  it('are refused below the horizon and above the head', async ({ begin, connection }) => {
    const { headState, apply } = await begin()
    await apply(genesis.recordTime + 1, [row(1, 0)])
    await apply(genesis.recordTime + 700_000_000, [])
    expect(headState.head.horizon).toBe(2)
    const at = async (position: { offset: number; recordTime: number }) => {
      const page = { after: null, limit: 1, order: 'asc' } as const
      return await readActivities(connection, page, position, genesis)
    }
    const early = { offset: 1, recordTime: genesis.recordTime + 1 }
    await expect(at(early)).rejects.toMatchObject({ code: 'OFFSET_PRUNED' })
    const late = { offset: 3, recordTime: genesis.recordTime + 2 }
    await expect(at(late)).rejects.toMatchObject({ code: 'OFFSET_NOT_REACHED' })
  })

  it('are not cleaned up by a writer whose head is outdated', async ({ begin, connection }) => {
    const { headState, apply } = await begin()
    await apply(genesis.recordTime + 1, [row(1, 0), row(1, 1)])
    await apply(genesis.recordTime + 700_000_000, [])
    await apply(genesis.recordTime + 700_000_001, [])
    const stale = await loadHeadState(connection)
    await apply(genesis.recordTime + 700_000_002, [])
    if (stale === null) throw new Error('there is a replica')
    expect(await cleanUpActivities(connection, stale, { genesis, signal })).toBe('fenced')
    expect(await connection.zcard(KEYS.activities)).toBe(2)
    expect(await cleanUpActivities(connection, headState, { genesis, signal })).toBe('done')
    expect(await connection.zcard(KEYS.activities)).toBe(1)
  })

  it('are read in pages of bounded bytes, without gaps', async ({ begin, connection }) => {
    const { apply } = await begin()
    const rows = Array.from({ length: 250 }, (_, index) => row(1, index, 45_000))
    const huge = row(1, 250, ACTIVITY_PAGE_BYTES_MAX)
    await apply(genesis.recordTime + 1, [...rows, huge])
    const position = { offset: 1, recordTime: genesis.recordTime + 1 }
    for (const way of ['asc', 'desc'] as const) {
      const ids: string[] = []
      const sizes: number[] = []
      for (let after: string | null = null; ; ) {
        const page = { after, limit: 1_000, order: way }
        const found: readonly ActivityBody[] = await readActivities(
          connection,
          page,
          position,
          genesis,
        )
        const last = found.at(-1)
        if (last === undefined) break
        after = last.eventId
        ids.push(...found.map((each) => each.eventId))
        sizes.push(found.reduce((sum, each) => sum + each.body.byteLength, 0))
        if (found.length > 1) expect(sizes.at(-1)).toBeLessThanOrEqual(ACTIVITY_PAGE_BYTES_MAX)
      }
      const expected = [...rows, huge].map(({ activity }) => activity.event_id)
      expect(ids).toEqual(way === 'asc' ? expected : expected.toReversed())
      expect(sizes.length).toBe(4)
    }
  })
})
