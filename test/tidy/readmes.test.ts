/** The README of each package names only existing files and names and correct import limits. */
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, isTest, read } from '../support/tree.ts'

const readmes = files.filter((file) => /^((packages|apps)\/[^/]+|cluster)\/README\.md$/.test(file))
const ofPackages = readmes.filter((file) => file.startsWith('packages/'))

const namesIn = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name)
const isPath = (name: string) => /^[\w*./-]+(\.ts|\/)$/.test(name)

/** Paths of a line that do not exist relative to the root, the package, its sources or the folder of the row. */
function missingPaths(folder: string, line: string, tree: readonly string[] = files): string[] {
  const paths = namesIn(line).filter(isPath)
  const row = paths.find((path) => path.endsWith('/')) ?? ''
  const bases = ['', folder, join(folder, 'src'), join(folder, 'src', row)]
  const exists = (path: string) => {
    const start = normalize(path).replaceAll('.', '\\.').replaceAll('*', '[^/]*')
    const pattern = new RegExp(`^${start}${path.endsWith('/') ? '' : '$'}`)
    return tree.some((file) => pattern.test(file))
  }
  return paths.filter((path) => !bases.some((base) => exists(join(base, path))))
}

/** Names of packages, libraries, or `node` for all modules of Node. With `only` null, all packages are allowed. */
type Limits = { readonly only: readonly string[] | null; readonly not: readonly string[] }
const ONLY = /must import only ([^.:]+)/
const NOT = /must not import ([^.:]+)/

function limitsOf(text: string): Limits {
  const [, only] = ONLY.exec(text) ?? []
  const [, not = ''] = NOT.exec(text) ?? []
  const isNodeForbidden = /thing of Node/.test(text)
  return {
    only: only !== undefined ? namesIn(only) : /any package/.test(not) ? [] : null,
    not: [...namesIn(not), ...(isNodeForbidden ? ['node'] : [])],
  }
}

/** The imports that a README forbids. */
function forbidden({ only, not }: Limits, imports: readonly string[]): string[] {
  return imports.filter((from) => {
    const [, own] = /^@quorumscan\/([\w-]+)/.exec(from) ?? []
    if (own !== undefined && only !== null && !only.includes(own)) return true
    const name = own ?? (from.startsWith('node:') ? 'node' : from)
    return not.includes(name)
  })
}

/** Imports of a package. Those of types also count, because readers of the code follow them. */
const importsOf = (folder: string) =>
  files
    .filter((file) => file.startsWith(`${folder}/src/`) && /\.tsx?$/.test(file))
    .filter((file) => !isTest(file) && !file.includes('/testing/'))
    .flatMap((file) => [...read(file).matchAll(/\bfrom '([^'.][^']*)'/g)])
    .map(([, from = '']) => from)
    .filter((from) => from !== `@quorumscan/${folder.split('/')[1]}`)

describe('the checks of READMEs', () => {
  it('detects paths that do not exist, also relative to the folder of their row', () => {
    const tree = ['packages/a/src/x.ts', 'packages/a/src/b/y.ts', 'test/sim/main.ts']
    const missing = (line: string) => missingPaths('packages/a', line, tree)
    expect(missing('`x.ts`, `b/` `y.ts`, `b/y.ts`, `b/*.ts`, `test/sim/`, `word`')).toEqual([])
    expect(missing('`y.ts`, `c/`, `x`, `b/*x.ts`')).toEqual(['y.ts', 'c/', 'b/*x.ts'])
  })

  it('detects a forbidden import', () => {
    const imports = ['@quorumscan/b', '@quorumscan/c/x', 'fastify', 'node:fs']
    const of = (text: string) => forbidden(limitsOf(text), imports)
    expect(of('It must import only `b` and `c`. All else: `fastify`.')).toEqual([])
    expect(of('It must import only `b`, and nothing of Node.')).toEqual([
      '@quorumscan/c/x',
      'node:fs',
    ])
    expect(of('It must not import any package.')).toEqual(['@quorumscan/b', '@quorumscan/c/x'])
    expect(of('It must not import `c`, `fastify`, or an app: `b`.')).toEqual([
      '@quorumscan/c/x',
      'fastify',
    ])
  })
})

describe('READMEs of packages', () => {
  it('have a file to start with, and limits of imports', () => {
    expect(ofPackages.length).toBeGreaterThan(20)
    for (const file of ofPackages) {
      const text = read(file)
      expect(text, file).toMatch(/[Ss]tart with/)
      expect(ONLY.test(text) || NOT.test(text), file).toBe(true)
    }
  })

  it('name only files and folders that exist', () => {
    const missing = readmes.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line) => missingPaths(dirname(file), line))
        .map((path) => `${file}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  it('name only functions, classes and types of their sources', () => {
    const isName = (name: string) => /^([a-z]+[A-Z]\w*|[A-Z][a-z]\w+)(\(.*\))?$/.test(name)
    const unknown = ofPackages.flatMap((file) => {
      const sources = files
        .filter((source) => source.startsWith(`${dirname(file)}/src/`))
        .map(read)
        .join('\n')
      return namesIn(read(file))
        .filter(isName)
        .map((name) => name.replace(/\(.*/, ''))
        .filter((name) => !new RegExp(`\\b${name}\\b`).test(sources))
        .map((name) => `${file}: ${name}`)
    })
    expect(unknown).toEqual([])
  })

  it('forbid no import of their package', () => {
    for (const file of ofPackages)
      expect(forbidden(limitsOf(read(file)), importsOf(dirname(file))), file).toEqual([])
  })
})
