import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { replaceDirectory } from './log-repair.ts'

const it = base
  .extend('root', async ({ directory }) => {
    for (const name of ['log', 'repaired']) {
      await mkdir(join(directory, name))
      writeFileSync(join(directory, name, name), '')
    }
    return directory
  })
  .extend(
    'at',
    ({ root }) =>
      (name: string) =>
        join(root, name),
  )
  .extend(
    'contents',
    ({ root, at }) =>
      () =>
        Object.fromEntries(readdirSync(root).map((name) => [name, readdirSync(at(name))])),
  )

it('replaces the log by the repaired one, and keeps the old one', async ({ at, contents }) => {
  await replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  expect(contents()).toEqual({ log: ['repaired'], kept: ['log'] })
})

it('keeps the old log in its place if the repaired one cannot be moved', async ({
  at,
  contents,
}) => {
  renameSync(at('repaired'), at('gone'))
  const moved = replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  await expect(moved).rejects.toThrow(
    'the log was not changed: the repaired log could not be moved',
  )
  expect(contents()).toEqual({ log: ['log'], gone: ['repaired'] })
})
