import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { replaceDirectory } from './log-repair.ts'

let root: string
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'qs-swap-'))
  for (const name of ['log', 'repaired']) {
    await mkdir(join(root, name))
    writeFileSync(join(root, name, name), '')
  }
})
afterEach(() => rmSync(root, { recursive: true }))

const at = (name: string) => join(root, name)
const contents = () =>
  Object.fromEntries(readdirSync(root).map((name) => [name, readdirSync(at(name))]))

it('puts the repaired log in its place, and keeps the old one', async () => {
  await replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  expect(contents()).toEqual({ log: ['repaired'], kept: ['log'] })
})

it('leaves the old log in its place where the repaired one cannot be moved there', async () => {
  renameSync(at('repaired'), at('gone'))
  const moved = replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  await expect(moved).rejects.toThrow(
    'the log was not changed: the repaired log could not be moved',
  )
  expect(contents()).toEqual({ log: ['log'], gone: ['repaired'] })
})
