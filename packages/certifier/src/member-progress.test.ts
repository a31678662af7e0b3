import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createMemberProgress } from './member-progress.ts'

const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']

function start() {
  const clock = createManualClock()
  const progress = createMemberProgress({ names: NAMES, needed: 2, clock })
  const sign = (offset: number, ...signers: readonly number[]) =>
    progress.note({ offset, recordTime: offset }, new Set(signers.map((id) => `sv-${id}`)))
  const unsigned = () => NAMES.map((name) => progress.unsignedMs(name) / 1000)
  return { clock, progress, sign, unsigned }
}

it('a member that signs nothing is behind from the first newer state of f + 1 others', async () => {
  const { clock, progress, sign, unsigned } = start()
  sign(7, 1, 2, 3, 4)
  await clock.advance(60_000)
  expect(unsigned(), 'while no member signs, none is behind').toEqual([0, 0, 0, 0])
  sign(9, 1)
  await clock.advance(10_000)
  expect(unsigned(), 'one member is not enough').toEqual([0, 0, 0, 0])
  sign(9, 1, 2)
  await clock.advance(10_000)
  sign(11, 1, 2, 3)
  await clock.advance(50_000)
  expect(unsigned()).toEqual([0, 0, 0, 60])
  expect(progress.newestOf('sv-4')).toEqual({ offset: 7, recordTime: 7 })
  sign(11, 1, 2, 3, 4)
  expect(unsigned()).toEqual([0, 0, 0, 0])
})

it('a member that signs other states than f + 1 others makes no progress', async () => {
  const { clock, progress, sign, unsigned } = start()
  sign(7, 4)
  sign(7, 1, 2, 3)
  await clock.advance(30_000)
  expect(unsigned()).toEqual([0, 0, 0, 30])
  expect(progress.newestOf('sv-4')).toBeNull()
})

it('a member that catches up is behind since its last state', async () => {
  const { clock, progress, sign, unsigned } = start()
  sign(7, 1, 2)
  sign(20, 1, 2)
  await clock.advance(40_000)
  sign(7, 1, 2, 3)
  await clock.advance(5000)
  expect(unsigned()).toEqual([0, 0, 5, 45])
  expect(NAMES.map((name) => progress.lagMicros(name))).toEqual([0, 0, 13, null])
})

it('an old state that more members sign now takes nothing back', () => {
  const { progress, sign } = start()
  sign(9, 1, 2, 3)
  sign(7, 1, 2, 3, 4)
  expect(NAMES.map((name) => progress.newestOf(name)?.offset)).toEqual([9, 9, 9, 7])
})
