import { expect, it } from 'vitest'
import { createPendingRoom, PENDING_BYTES_MAX } from './pending-room.ts'

const FULL = expect.objectContaining({ code: 'PARTICIPANT_BACKPRESSURE' })
/** What a single user may hold. */
const ENTRIES = 200
const BYTES = PENDING_BYTES_MAX / 5

it('one user has a share of the number; others have room, and what ends gives room back', () => {
  const room = createPendingRoom()
  const releases = Array.from({ length: ENTRIES }, () => room.take('greedy', 1))
  expect(() => room.take('greedy', 1)).toThrow(FULL)
  room.take('modest', 1)()
  releases[0]?.()
  room.take('greedy', 1)
  expect(() => room.take('greedy', 1)).toThrow(FULL)
})

it('one user has a share of the bytes', () => {
  const room = createPendingRoom()
  room.take('greedy', Math.floor(BYTES) - 1)
  expect(() => room.take('greedy', 8)).toThrow(FULL)
  for (let index = 0; index < 10; index++) room.take(`modest ${index}`, 512 * 1024)
})

it('what was stored before counts, also above the limits', () => {
  const room = createPendingRoom()
  const [first, second] = Array.from({ length: ENTRIES + 1 }, () => room.hold('greedy', 1))
  first?.()
  expect(() => room.take('greedy', 1)).toThrow(FULL)
  second?.()
  room.take('greedy', 1)
})
