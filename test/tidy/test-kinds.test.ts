/** `x.test.ts` starts no process; `x.integration.test.ts` starts Redis or other processes. */
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createImports } from '../support/imports.ts'
import { files, read } from '../support/tree.ts'

/** Code that starts processes imports this module, also `startRedis`, `startSentinels`, `createAuthority`, `required`. */
const PROCESSES = 'node:child_process'
/** Only imports of test code count, because the test of a product module that can start a process may start none. */
const isTestCode = (file: string) => /\.test\.ts$|\/testing\/|^packages\/testkit\//.test(file)

const tests = files.filter((file) => /^(packages|apps|sdk|cluster)\/.*\.test\.ts$/.test(file))
const isIntegration = (file: string) => file.endsWith('.integration.test.ts')

describe('kinds of tests', () => {
  it.each([
    ['its own import', "import { spawn } from 'node:child_process'"],
    ['a helper', "import { startBoth } from './testing/both.ts'"],
    ['a name of an index that re-exports it', "import { startRedis } from './testing/index.ts'"],
    ['all names of an index', "import * as all from './testing/index.ts'"],
    ['an import at run time', "const { startRedis } = await import('./testing/redis.ts')"],
  ])('check finds the start of a process through %s', (_, source) => {
    expect(pathOf(source)?.[0]).toBe('a.test.ts')
  })

  it.each([
    ['another name of the index', "import { clock } from './testing/index.ts'"],
    ['a type', "import { clock, type Redis } from './testing/redis-types.ts'"],
    ['the product', "import { run } from './run.ts'"],
  ])('check finds no start of a process through %s', (_, source) => {
    expect(pathOf(source)).toBeNull()
  })

  const { pathTo } = createImports()
  const pathToProcesses = (file: string) => pathTo(file, PROCESSES, isTestCode)

  it('a test that starts Redis or a process is named x.integration.test.ts', () => {
    const plain = tests.filter((file) => !isIntegration(file))
    expect(plain.length).toBeGreaterThan(150)
    const misnamed = plain.map(pathToProcesses).filter((path) => path !== null)
    expect(misnamed.map((path) => path.join(' > '))).toEqual([])
  })

  it('a folder of test/ imports only from itself and from test/support', () => {
    const imported = /(?:from |import\()'(\.[^']+)'/g
    const imports = files
      // lookup-sizes.ts has the text of a module that is not in its folder.
      .filter((file) => /^test\/[^/]+\/.*\.ts$/.test(file) && file !== 'test/sizes/lookup-sizes.ts')
      .flatMap((file) =>
        [...read(file).matchAll(imported)].map(([, path = '']) => [
          file,
          join(dirname(file), path),
        ]),
      )
    expect(imports.length).toBeGreaterThan(300)
    const folderOf = (path = '') => /^test\/([^/]+)\//.exec(path)?.[1]
    const others = imports.filter(([file, path]) => {
      const folder = folderOf(path)
      return folder !== undefined && folder !== 'support' && folder !== folderOf(file)
    })
    expect(others.map((both) => both.join(' > '))).toEqual([])
  })

  it('a test that starts neither is named x.test.ts', () => {
    const named = tests.filter(isIntegration)
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((file) => pathToProcesses(file) === null)).toEqual([])
  })
})

/** The path from a test with this source, in a small tree, to a module that starts processes. */
function pathOf(source: string) {
  const tree: Readonly<Record<string, string>> = {
    'a.test.ts': source,
    'run.ts': "import { spawn } from 'node:child_process'",
    'x/testing/index.ts': "export { clock } from './clock.ts'; export * from './redis.ts'",
    'x/testing/clock.ts': 'export const clock = 0',
    'x/testing/redis.ts':
      "import { spawn } from 'node:child_process'; export const startRedis = spawn",
    'x/testing/both.ts':
      "import { startRedis } from './index.ts'; export const startBoth = startRedis",
    'x/testing/redis-types.ts': "import type { Redis } from './redis.ts'; export const clock = 0",
  }
  const at = (from: string) => `x/testing/${from.slice(from.lastIndexOf('/') + 1)}`
  return createImports({
    sourceOf: (file) => tree[file] ?? '',
    resolve: (from) =>
      from.startsWith('./') ? (tree[at(from)] === undefined ? from.slice(2) : at(from)) : null,
  }).pathTo('a.test.ts', PROCESSES, isTestCode)
}
