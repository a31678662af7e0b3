/** What the code says about `docs/`, and what users read, which must stand without it. */
import { describe, expect, it } from 'vitest'
import { files, hits, productSources, read } from './tree.ts'

const texts = files.filter((file) => /\.(ts|tsx|mjs|md|css|lua|txt)$/.test(file))
const reference = (pattern: RegExp) =>
  texts.flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([, name = '']) => ({ file, name })),
  )
const headings = (file: string, pattern: RegExp) =>
  new Set([...read(file).matchAll(pattern)].map(([, name = '']) => name))

describe('documents', () => {
  it('every D-n that the tree names is a decision with its reason', () => {
    const decisions = headings('docs/decisions.md', /^- \*\*D-(\d+)\*\* .*\*Why:\* \S/gm)
    const named = reference(/\bD-(\d+)\b/g)
    expect(named.length).toBeGreaterThan(500)
    expect(named.filter(({ name }) => !decisions.has(name))).toEqual([])
  })

  it('every alert has a row that says what it means and what to do about it, and no row is of another', () => {
    const alerts = headings('deploy/prometheus/alerts.yml', /^ +- alert: (\w+)$/gm)
    const rows = [
      ...read('deploy/README.md').matchAll(/^\| ([A-Z]\w+(?:, [A-Z]\w+)*) \| \S.* \| \S.* \|$/gm),
    ]
    expect(rows.flatMap(([, names = '']) => names.split(', ')).sort()).toEqual([...alerts].sort())
  })

  it('every variable that an operator is told to set is one that a process reads', () => {
    const known = headings('docs/configuration.md', /^\| `((?:QS|OTEL)_\w+)` \|/gm)
    const named = files
      .filter(
        (file) => file.startsWith('deploy/') || /^docs\/(operations|architecture)\.md$/.test(file),
      )
      .flatMap((file) =>
        [...read(file).matchAll(/\bQS_[A-Z_]+\b/g)].map(([name]) => ({ file, name })),
      )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  it('the image has the engine that the code pins', () => {
    const [, pinned] =
      /ENGINE_VERSION = '(.*)'/.exec(read('cluster/src/engine/find-engine.ts')) ?? []
    expect(pinned).toMatch(/^\d/)
    expect(read('deploy/docker/Dockerfile')).toContain(`cometbft@v${pinned}\n`)
  })

  it('decisions are numbered from 1 on without a gap', () => {
    const numbers = [...headings('docs/decisions.md', /^- \*\*D-(\d+)\*\*/gm)].map(Number)
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  it('every Rule n that the tree names is one of the Rules of the architecture', () => {
    const rules = headings('docs/architecture.md', /^(\d+)\. \*\*/gm)
    const named = reference(/\bRules? (\d+)\b/g)
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter(({ name }) => !rules.has(name))).toEqual([])
  })

  it('every § that the tree names is a section of docs/upstream.md, unless it is of an RFC', () => {
    const sections = headings('docs/upstream.md', /^#+ ([DLN][\d.]*?)\.? /gm)
    const named = texts
      .filter((file) => file !== 'test/tidy/documents.test.ts')
      .flatMap((file) =>
        read(file)
          .split('\n')
          .filter((line) => !/RFC/.test(line))
          .flatMap((line) => [...line.matchAll(/§([A-Z]?[\d.]*\d|[A-Z]\b)/g)])
          .map(([, name = '']) => ({ file, name })),
      )
    expect(named.length).toBeGreaterThan(80)
    expect(named.filter(({ name }) => !sections.has(name))).toEqual([])
  })

  it('no document is named that is not here', () => {
    const named = reference(/\b((?:docs|spec|reference|design)\/[a-z-]+\.md)\b/g)
    expect(named.filter(({ name }) => !files.includes(name))).toEqual([])
  })
})

/** A number of ours says nothing to who has not read `docs/`. */
const NUMBERED = /\bD-\d+|\bRules? \d|§[A-Z]?\d/

/** Without comments: what is left of `D-n` stands in a text that the program writes. */
function withoutComments(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

describe('what users read', () => {
  it('documents of the interfaces, of errors and of the SDK name no decision, rule or section', () => {
    const documents = files.filter((file) =>
      /^(packages\/api\/generated\/|sdk\/src\/generated\/|sdk\/[^/]*\.(md|txt)$|\.changeset\/|README\.md$|CHANGELOG\.md$|cluster\/README\.md$)/.test(
        file,
      ),
    )
    expect(documents.length).toBeGreaterThan(10)
    expect(hits(documents, NUMBERED)).toEqual([])
  })

  it('texts of the command line, the console and errors name none either', () => {
    expect(hits(productSources, NUMBERED, withoutComments)).toEqual([])
  })
})
