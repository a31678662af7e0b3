import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { watchDiskSpace } from './disk-space.ts'

it('counts what was let in since it looked last, before it is on the disk', async () => {
  const { bavail, bsize } = await statfs(tmpdir())
  const halfFree = Math.floor((bavail * bsize) / 2)
  await using disk = await watchDiskSpace({
    directory: tmpdir(),
    freeMibMin: halfFree / 2 ** 20,
    clock: createManualClock(0),
    onProblem: (error) => expect.unreachable(String(error)),
  })
  disk.assertRoom()
  // Each byte is written by the log and by replicas.
  disk.note(halfFree / 4)
  expect(() => disk.assertRoom()).toThrow(expect.objectContaining({ code: 'LOG_FULL' }))
})
