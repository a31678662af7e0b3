import { ScanError } from '@quorumscan/errors'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchRoom } from './room.ts'

const MIB = 2 ** 20
const ADDING = { adds: true }
const FREEING = { adds: false }

/** A log with 100 MiB of memory, 2 MiB of free disk, and nodes of which one may lie. */
async function setUp(ordering: 'redis' | 'cometbft' = 'redis') {
  const clock = createManualClock(0)
  const state = { usedMib: 50, freeMib: 2, shares: [] as readonly number[] }
  const room = await watchRoom({
    directory: '/log',
    freeMibMin: 1,
    freeBytesOf: async () => state.freeMib * MIB,
    memory: { use: () => ({ usedBytes: state.usedMib * MIB, maxBytes: 100 * MIB }) },
    ordering,
    shares: () => state.shares,
    faulty: 1,
    clock,
    onProblem: (error) => expect.unreachable(String(error)),
  })
  const refusalOf = (entry: { adds: boolean }) => {
    try {
      room.assertRoom(entry)
      return null
    } catch (error) {
      if (error instanceof ScanError && error.code === 'LOG_FULL') return error.message
      throw error
    }
  }
  return {
    room,
    clock,
    state,
    accepted: () => [refusalOf(ADDING) === null, refusalOf(FREEING) === null],
    refusalOf,
    [Symbol.asyncDispose]: room[Symbol.asyncDispose],
  }
}

it('counts entries accepted since the last measurement, before they are on the disk', async () => {
  await using own = await setUp()
  expect(own.accepted()).toEqual([true, true])
  // Each byte is written by the log and by replicas.
  own.room.note(MIB / 4)
  expect(own.refusalOf(ADDING)).toMatch(/^the disk of the log has 0 MiB free/)
})

it('counts them before Redis reports them', async () => {
  await using own = await setUp()
  own.state.freeMib = 1000
  own.state.usedMib = 89.9
  await own.clock.advance(1000)
  own.room.note(MIB / 10)
  expect(own.refusalOf(ADDING)).toMatch(/^the memory of the log's Redis is full to 90 %/)
})

it('refuses while the disk is full, first what adds, and accepts entries when it has room', async () => {
  await using own = await setUp()
  own.state.freeMib = 0.9
  await own.clock.advance(1000)
  expect(own.accepted()).toEqual([false, true])
  expect(own.refusalOf(ADDING)).toBe(
    'the disk of the log has 0 MiB free and needs 1 MiB: the log accepts archivals, renewals and confirmations only until space is freed',
  )
  own.state.freeMib = 0.4
  await own.clock.advance(1000)
  expect(own.accepted()).toEqual([false, false])
  own.state.freeMib = 2
  await own.clock.advance(1000)
  expect(own.accepted()).toEqual([true, true])
})

it('refuses entries that add from 90 % of its memory on, and all from 97 % on, until 88 %', async () => {
  await using own = await setUp()
  const byUse: unknown[] = []
  for (const usedMib of [89, 90, 96, 97, 88, 87.9, 89]) {
    own.state.usedMib = usedMib
    await own.clock.advance(1000)
    byUse.push([usedMib, own.room.isFull(), ...own.accepted()])
  }
  expect(byUse).toEqual([
    [89, false, true, true],
    [90, true, false, true],
    [96, true, false, true],
    [97, true, false, false],
    [88, true, false, true],
    [87.9, false, true, true],
    [89, false, true, true],
  ])
})

it('says when to come again', async () => {
  await using own = await setUp()
  own.state.usedMib = 95
  expect(() => own.room.assertRoom(ADDING)).toThrow(
    expect.objectContaining({ code: 'LOG_FULL', retryAfterSeconds: 1 }),
  )
})

it('is full where the (f + 1)-th fullest node is, so that f nodes can neither stop it nor deny a need', async () => {
  await using own = await setUp()
  const cases: readonly (readonly [readonly number[], boolean])[] = [
    [[], true],
    [[1], true],
    // One node lies.
    [[1, 0.2, 0.3, 0.1], true],
    // Two are full, and a third one hides it.
    [[0.95, 0.92, 0, 0.3], false],
  ]
  for (const [shares, isAccepted] of cases) {
    own.state.shares = shares
    expect([shares, own.refusalOf(ADDING) === null]).toEqual([shares, isAccepted])
  }
  expect(own.refusalOf(ADDING)).toMatch(/^the memory of 2 nodes is full to 92 %/)
})

it('an ordering member judges by its own memory alone', async () => {
  await using own = await setUp('cometbft')
  own.state.shares = [1, 1, 1, 1]
  expect(own.accepted()).toEqual([true, true])
  own.state.usedMib = 91
  expect(own.accepted()).toEqual([false, true])
})
