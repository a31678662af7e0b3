/** When `build.mjs` builds, and how it writes its output: processes may start from it at the same time. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ROOT } from '../support/root.ts'

const { buildUnlessDone, writeDirectory } = (await import(join(ROOT, 'build.mjs'))) as {
  buildUnlessDone: (options: {
    directory: string
    build: () => Promise<void>
    inputs: string
    stampFile: string
  }) => Promise<void>
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

it('builds again after a change of an input or of the output, and after a build that failed', async ({
  directory,
}) => {
  const output = join(directory, 'dist')
  const options = { directory: output, stampFile: join(directory, 'stamps', 'dist') }
  const file = join(output, 'chunks', 'a.js')
  let builds = 0
  const build = async () => {
    builds += 1
    mkdirSync(join(output, 'chunks'), { recursive: true })
    writeFileSync(file, 'built')
  }
  const buildsFor = async (inputs: string) => {
    const before = builds
    await buildUnlessDone({ ...options, build, inputs })
    return builds - before
  }
  expect(await buildsFor('one')).toBe(1)
  expect(await buildsFor('one')).toBe(0)
  expect(await buildsFor('two')).toBe(1)
  writeFileSync(file, 'other')
  expect(await buildsFor('two')).toBe(1)
  writeFileSync(join(output, 'b.js'), '')
  expect(await buildsFor('two')).toBe(1)
  rmSync(output, { recursive: true })
  expect(await buildsFor('two')).toBe(1)
  const failing = async () => {
    await build()
    throw new Error('no build')
  }
  await expect(buildUnlessDone({ ...options, build: failing, inputs: 'three' })).rejects.toThrow(
    'no build',
  )
  expect(await buildsFor('three')).toBe(1)
  expect(await buildsFor('three')).toBe(0)
})
