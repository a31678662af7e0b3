import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchDiskSpace } from './disk-space.ts'

it('counts entries accepted since the last measurement, before they are on the disk', async () => {
  await using disk = await watchDiskSpace({
    directory: '/log',
    freeMibMin: 1,
    freeBytesOf: async () => 2 * 2 ** 20,
    clock: createManualClock(0),
    onProblem: (error) => expect.unreachable(String(error)),
  })
  disk.assertRoom()
  // Each byte is written by the log and by replicas.
  disk.note(2 ** 20 / 4)
  expect(() => disk.assertRoom()).toThrow(expect.objectContaining({ code: 'LOG_FULL' }))
})

it('accepts no entry while the disk is full, and accepts entries when it has room', async () => {
  const clock = createManualClock(0)
  let freeMib = 2
  await using disk = await watchDiskSpace({
    directory: '/log',
    freeMibMin: 1,
    freeBytesOf: async () => freeMib * 2 ** 20,
    clock,
    onProblem: (error) => expect.unreachable(String(error)),
  })
  disk.assertRoom()
  freeMib = 0
  await clock.advance(1000)
  expect(() => disk.assertRoom()).toThrow('the disk of the log has 0 MiB free and needs 1 MiB')
  freeMib = 2
  await clock.advance(1000)
  disk.assertRoom()
})
