import { ScanError } from '@quorumscan/errors'
import { expect, it } from 'vitest'
import { createReadFloor, raiseByAnswers } from './read-floor.ts'

const refusal = new ScanError('NAME_TAKEN', 'the name is taken')

it.each([
  [
    'throws',
    () => {
      throw refusal
    },
  ],
  ['rejects', () => Promise.reject(refusal)],
])('a handler that %s raises the floor to what its refusal shows', async (_, handle) => {
  const readFloor = createReadFloor({ visibleOffset: () => 7 }, 0)
  const { ask } = raiseByAnswers(readFloor, { ask: handle }) as unknown as {
    ask(): Promise<unknown>
  }
  expect(await ask()).toEqual({ error: refusal, headers: { 'x-ledger-offset': '7' } })
})

it('never falls, and rises to what the replica shows or what a node proved', () => {
  let visible = 5
  const readFloor = createReadFloor({ visibleOffset: () => visible }, 7)
  expect(readFloor.offset()).toBe(7)
  expect(readFloor.raiseToVisible()).toBe(7)
  visible = 9
  expect(readFloor.offset()).toBe(7)
  expect(readFloor.raiseToVisible()).toBe(9)
  expect(readFloor.raise(8)).toBe(9)
  readFloor.raise(12)
  expect(readFloor.offset()).toBe(12)
})
