import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mapInTurns } from './in-turns.ts'

it('maps in order, and lets other work run after each 32 items', async () => {
  const items = Array.from({ length: 100 }, (_, index) => index)
  const done: number[] = []
  const mapping = mapInTurns(items, (item, index) => {
    done.push(item)
    return item + index
  })
  const counts: number[] = []
  while (done.length < items.length) {
    counts.push(done.length)
    await nextTurn()
  }
  expect(counts).toEqual([32, 64, 96])
  expect(await mapping).toEqual(items.map((item) => 2 * item))
})

it('few items need no turn', async () => {
  let isOver = false
  const mapping = mapInTurns([1, 2], String).then(() => {
    isOver = true
  })
  await Promise.resolve()
  await Promise.resolve()
  expect(isOver).toBe(true)
  await mapping
})
