import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createDoor, nextAnswersInARow } from './door.ts'

function start() {
  let nowMs = 0
  const door = createDoor({ monotonicMs: () => nowMs })
  const begun: { readonly name: number; readonly waitedMs: number }[] = []
  return {
    door,
    pass: (ms: number) => {
      nowMs += ms
    },
    /** What each had to wait, in the order in which they began. */
    begun,
    /** Each takes so long. */
    enter(count: number, ms: number): void {
      for (let name = 0; name < count; name++)
        door.enter({
          begin: (waitedMs) => {
            begun.push({ name, waitedMs })
            nowMs += ms
          },
          comeBack() {},
        })
    },
  }
}

it('a turn begins what it has time for, first come, first served', async () => {
  const { begun, enter } = start()
  enter(5, 4)
  expect(begun.length).toBe(0)
  await nextTurn()
  expect(begun.map(({ name }) => name)).toEqual([0, 1, 2])
  await nextTurn()
  expect(begun.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4])
})

it('one probe a turn goes first, others wait for their turn', async () => {
  const { door, begun, enter, pass } = start()
  enter(3, 10)
  const enterProbe = (name: number) => {
    const begin = (waitedMs: number) => {
      begun.push({ name, waitedMs })
      pass(1)
    }
    door.enter({ begin, comeBack() {} }, { isProbe: true })
  }
  enterProbe(101)
  enterProbe(102)
  for (const expected of [[101, 0], [102, 1], [2]]) {
    begun.length = 0
    await nextTurn()
    expect(begun.map(({ name }) => name)).toEqual(expected)
  }
})

it('who enters twice begins once, and has waited since the first time', async () => {
  const { door, enter } = start()
  enter(11, 100)
  const waits: number[] = []
  const entrant = { begin: (waitedMs: number) => void waits.push(waitedMs), comeBack() {} }
  door.enter(entrant)
  await nextTurn()
  door.enter(entrant)
  for (let turn = 1; turn < 12; turn++) await nextTurn()
  expect(waits).toEqual([1100])
})

it('while connections come four moments in five are theirs', async () => {
  const { door, begun, enter, pass } = start()
  enter(2, 10)
  for (let count = 0; count < 5; count++) {
    door.noteNewcomer()
    await nextTurn()
    pass(8)
  }
  expect(begun.length).toBe(0)
  door.noteNewcomer()
  await nextTurn()
  expect(begun.length).toBe(1)
  door.noteNewcomer()
  await nextTurn()
  expect(begun.length).toBe(1)
  // Nobody came in this turn.
  await nextTurn()
  expect(begun.length).toBe(2)
})

it('a wait counts where a crowd was before, not where the process stood still', async () => {
  const stalled = start()
  stalled.enter(1, 0)
  stalled.pass(5_000)
  await nextTurn()
  expect(stalled.begun).toEqual([{ name: 0, waitedMs: 0 }])

  const { begun, enter } = start()
  enter(12, 100)
  for (let turn = 0; turn < 12; turn++) await nextTurn()
  expect(begun.map(({ waitedMs }) => waitedMs)).toEqual([...Array(10).fill(0), 1000, 1100])
})

it('who was answered is read again when fewer stand in line, and has waited meanwhile', async () => {
  const { door, enter } = start()
  const back: string[] = []
  const aways: number[] = []
  const waits: number[] = []
  const guest = (name: string) => ({
    begin: (waitedMs: number) => void waits.push(waitedMs),
    comeBack: (awayMs: number) => {
      back.push(name)
      aways.push(awayMs)
    },
  })
  const [first, second] = [guest('first'), guest('second')]
  enter(255, 10)
  expect(door.keepAway(first)).toBe(false)
  enter(13, 10)
  expect(door.keepAway(first)).toBe(true)
  expect(door.keepAway(second)).toBe(true)
  for (let turn = 0; turn < 204; turn++) {
    await nextTurn()
    expect(back).toEqual([])
  }
  await nextTurn()
  // There is room for one, and the first of them goes first.
  expect(back).toEqual(['first'])
  // As long as somebody is away, nobody comes before them.
  expect(door.keepAway(guest('third'))).toBe(true)
  door.enter(first)
  for (let turn = 0; turn < 64; turn++) await nextTurn()
  expect(waits).toEqual([2680])
  expect(back).toEqual(['first', 'second', 'third'])
  expect(aways).toEqual([2050, 2060, 20])
  // It sent nothing when it was read again, and comes as anybody.
  door.enter(second)
  await nextTurn()
  expect(waits).toEqual([2680, 0])
  expect(door.keepAway(first)).toBe(false)
})

it('each of a crowd has as many answers in a row as keep a round short, and steadily so', () => {
  for (const [roundMs, expected] of [
    [10, 6],
    [300, 5],
    [700, 2],
    [1000, 1],
    [9000, 1],
  ] as const)
    for (const first of [1, 3, 6]) {
      let inARow = first
      for (let round = 0; round < 5; round++) {
        inARow = nextAnswersInARow(inARow, roundMs * inARow)
        expect(inARow).toBe(expected)
      }
    }
  expect(nextAnswersInARow(1, 0)).toBe(6)
})
