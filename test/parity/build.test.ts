/** How `build.mjs` writes its output: processes may start from it at the same time. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ROOT } from '../support/root.ts'

const { writeDirectory } = (await import(join(ROOT, 'build.mjs'))) as {
  writeDirectory: (directory: string, files: ReadonlyMap<string, string>) => void
}

it('a build changes only files that differ, and leaves none that it does not make', ({
  directory,
}) => {
  mkdirSync(join(directory, 'chunks'))
  for (const file of ['same.js', 'changed.js', 'chunks/stale.js'])
    writeFileSync(join(directory, file), `old ${file}`)
  const inode = (file: string) => statSync(join(directory, file)).ino
  const before = { same: inode('same.js'), changed: inode('changed.js') }
  const files = new Map([
    ['same.js', 'old same.js'],
    ['changed.js', 'new'],
    ['chunks/added.js', 'new'],
  ])
  writeDirectory(directory, files)
  const written = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  expect(written).toEqual(['changed.js', 'chunks', 'chunks/added.js', 'same.js'])
  for (const [file, text] of files)
    expect(readFileSync(join(directory, file), 'utf8'), file).toBe(text)
  expect(inode('same.js')).toBe(before.same)
  // Replaced as a whole: a process that reads it now sees all of the old file or all of the new one.
  expect(inode('changed.js')).not.toBe(before.changed)
})
