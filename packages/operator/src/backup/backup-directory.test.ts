import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectory } from '@quorumscan/testkit'
import { parseInstant } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { deleteOldBackups, newBackupFile } from './backup-directory.ts'

const at = (text: string) => parseInstant(text) ?? expect.fail(text)

it('names backups by their time, and deletes old ones of one operator alone', () => {
  using directory = createDirectory()
  const { path } = directory
  const take = (name: string, time: string, isEncrypted = false) => {
    const file = newBackupFile(path, { name, nowMicros: at(time), isEncrypted })
    writeFileSync(file, '')
    return file
  }
  const newest = take('v', '2030-02-01T01:02:03.999999Z', true)
  expect(newest).toBe(join(path, 'v-20300201T010203Z.backup.age'))
  const second = take('v', '2030-01-31T23:59:59.000000Z')
  const oldest = take('v', '2029-12-31T00:00:00.000000Z')
  take('sv-v', '2031-01-01T00:00:00.000000Z')
  for (const name of [
    'v.backup',
    'v-20310101T000000Z.backup.age.partial',
    'v-20319901T000000Z.backup',
  ])
    writeFileSync(join(path, name), '')
  const before = readdirSync(path)
  expect(deleteOldBackups(path, 'v', 2)).toEqual([oldest])
  expect(deleteOldBackups(path, 'v', 1)).toEqual([second])
  expect(readdirSync(path)).toHaveLength(before.length - 2)
})
