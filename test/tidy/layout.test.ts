/** A package imports only packages that docs/architecture.md lists before it. */
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, isTest, productSources, read } from '../support/tree.ts'

const [, list = ''] =
  /## Packages\n[\s\S]*?```\npackages\/.*\n([\s\S]*?)```/.exec(read('docs/architecture.md')) ?? []
const order = [...list.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name)

/** Packages outside of the order, which only tests import. */
const TEST_ONLY = ['testkit']
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'@quorumscan\/([\w-]+)[^']*'/g

/** @returns The imports that break the order, as `importer -> imported (file)`. */
function violationsOf(imports: readonly (readonly [string, string, string])[]): string[] {
  return imports
    .filter(([from, to]) => from !== to && !(order.indexOf(to) < order.indexOf(from)))
    .concat(imports.filter(([, to]) => !order.includes(to) || TEST_ONLY.includes(to)))
    .map(([from, to, file]) => `${from} -> ${to} (${file})`)
}

const imports = productSources
  .filter((file) => file.startsWith('packages/') && !isTest(file) && !file.includes('/testing/'))
  .flatMap((file) =>
    [...read(file).matchAll(IMPORT)].map(
      ([, to = '']) => [file.split('/')[1] ?? '', to, file] as const,
    ),
  )

describe('the order of packages', () => {
  it('lists each package once', () => {
    const packages = files
      .filter((file) => /^packages\/[\w-]+\/package\.json$/.test(file))
      .map((file) => dirname(file).slice('packages/'.length))
    expect([...order].sort()).toEqual(packages.sort())
  })

  it('finds an import of a later package, and of a package for tests', () => {
    const [first = '', second = ''] = order
    expect(violationsOf([[second, first, 'a.ts']])).toEqual([])
    expect(violationsOf([[first, second, 'a.ts']])).toEqual([`${first} -> ${second} (a.ts)`])
    expect(violationsOf([[second, 'testkit', 'a.ts']])).not.toEqual([])
  })

  it('has a picture with each import that does not follow from others', () => {
    const importsOf = new Map<string, Set<string>>()
    for (const [from, to] of imports)
      if (from !== to) importsOf.set(from, (importsOf.get(from) ?? new Set()).add(to))
    const reach = (from: string): Set<string> =>
      new Set([...(importsOf.get(from) ?? [])].flatMap((to) => [to, ...reach(to)]))
    const needed = [...importsOf].flatMap(([from, targets]) =>
      [...targets]
        .filter((to) => ![...targets].some((other) => reach(other).has(to)))
        .map((to) => `${from} --> ${to}`),
    )
    const [, picture = ''] =
      /## Packages\n[\s\S]*?```mermaid\n([\s\S]*?)```/.exec(read('docs/architecture.md')) ?? []
    const drawn = picture.match(/[\w-]+ --> [\w-]+/g) ?? []
    expect([...drawn].sort()).toEqual(needed.sort())
  })

  it('holds for every import', () => {
    expect(imports.length).toBeGreaterThan(300)
    expect(violationsOf(imports)).toEqual([])
  })
})
