/** References to `docs/` exist. Texts for users do not need `docs/`. */
import { describe, expect, it } from 'vitest'
import { files, matchingLines, productSources, read } from '../support/tree.ts'
import { decisions } from './decisions.ts'

const texts = files.filter((file) => /\.(ts|tsx|mjs|md|css|lua|txt)$/.test(file))
/** The names that a pattern finds, in order, including duplicates. */
const namesIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name = '']) => name)

/** `file: name` for each unknown name that a pattern finds in the files. */
function unknownNames(
  among: readonly string[],
  pattern: RegExp,
  known: readonly string[],
  textOf = read,
): string[] {
  return among.flatMap((file) =>
    namesIn(textOf(file), pattern)
      .filter((name) => !known.includes(name))
      .map((name) => `${file}: ${name}`),
  )
}

const DECISION = /\bD-(\d+)\b/g
const RULE = /\bRules? (\d+)\b/g
const VARIABLE = /\b(QS_[A-Z_]+)\b/g
const SECTION = /§([A-Z]?[\d.]*\d|[A-Z]\b)/g
const SOURCE_FILE = /`((?:[\w@.-]+\/)*[\w.-]+\.(?:ts|tsx|mjs|lua))`/g
const DOCUMENT = /\b((?:docs|spec|reference|design)\/[a-z-]+\.md)\b/g

/** Removes lines with sections of an RFC. */
const withoutRfcs = (file: string) => read(file).replace(/^.*RFC.*$/gm, '')

describe('documents', () => {
  // Tests the patterns, because a pattern without a match would pass each check below.
  it.each([
    ['a decision', DECISION, `see D-${9999}`, '9999'],
    ['a Rule', RULE, `by Rule ${99}`, '99'],
    ['a variable', VARIABLE, `set QS_${'TYPO'}=1`, 'QS_TYPO'],
    ['a section', SECTION, `§${'N99.9'}, and more`, 'N99.9'],
    ['a source file', SOURCE_FILE, `in \`${'typo'}.ts\``, 'typo.ts'],
    ['a document', DOCUMENT, `in docs/${'typo'}.md`, `docs/${'typo'}.md`],
  ])('the check detects %s that does not exist', (_what, pattern, text, name) => {
    expect(unknownNames(['planted'], pattern, ['1'], () => text)).toEqual([`planted: ${name}`])
    expect(unknownNames(['planted'], pattern, [name], () => text)).toEqual([])
  })

  it('every D-n in the repository is a decision', () => {
    const numbers = decisions.map(({ number }) => String(number))
    expect(unknownNames(texts, DECISION, numbers)).toEqual([])
  })

  it('every alert links to its own section, which has its meaning and what to do', () => {
    const rules = read('deploy/prometheus/alerts.yml')
      .split(/^ +- alert: /m)
      .slice(1)
    const alerts = rules.map((rule) => /^\w+/.exec(rule)?.[0] ?? '')
    const sections = namesIn(
      read('docs/operations.md'),
      /^### ([A-Z]\w+)\n(?:[^#\n].*\n)+\n\*\*What to do:\*\* \S/gm,
    )
    expect(sections.sort()).toEqual([...alerts].sort())
    const urls = namesIn(read('deploy/prometheus/alerts.yml'), /^ +runbook_url: (\S+)$/gm)
    expect(urls).toEqual(alerts.map((name) => `docs/operations.md#${name.toLowerCase()}`))
  })

  it('every alert names its process, fires in a test of promtool, and ends in one', () => {
    const rules = read('deploy/prometheus/alerts.yml')
      .split(/^ +- alert: /m)
      .slice(1)
    const cases = read('deploy/prometheus/alerts.test.yml')
    for (const rule of rules) {
      const alert = /^\w+/.exec(rule)?.[0] ?? ''
      expect(rule, alert).toMatch(/summary: .*\$labels\.process\b/)
      expect(cases).toMatch(new RegExp(`alertname: ${alert}\n +exp_alerts:\n +- exp_labels`))
      expect(cases).toContain(`alertname: ${alert}, exp_alerts: [] }`)
    }
  })

  it('a process reads every variable that documents for operators name', () => {
    const known = namesIn(read('docs/configuration.md'), /^\| `((?:QS|OTEL)_\w+)` \|/gm)
    const pages = files.filter(
      (file) => file.startsWith('deploy/') || /^docs\/(operations|architecture)\.md$/.test(file),
    )
    expect(unknownNames(pages, VARIABLE, known)).toEqual([])
  })

  it('the image has the engine version that the code pins', () => {
    const [, pinned] =
      /ENGINE_VERSION = '(.*)'/.exec(read('packages/operator/src/engine/find-engine.ts')) ?? []
    expect(pinned).toMatch(/^\d/)
    expect(read('deploy/docker/Dockerfile')).toContain(`cometbft@v${pinned}\n`)
  })

  it('every Rule n in the repository is a Rule of the architecture', () => {
    const rules = namesIn(read('docs/architecture.md'), /^(\d+)\. \*\*/gm)
    expect(rules).toEqual(rules.map((_, index) => String(index + 1)))
    expect(unknownNames(texts, RULE, rules)).toEqual([])
  })

  it('every § in the repository is a section of docs/upstream.md, unless it is of an RFC', () => {
    const sections = namesIn(read('docs/upstream.md'), /^#+ ([DLNU][\d.]*?)\.? /gm)
    expect(unknownNames(texts, SECTION, sections, withoutRfcs)).toEqual([])
  })

  it('every source file that documents name exists', () => {
    const pages = files.filter((file) =>
      /^(docs|packages|apps|cluster|test)\/.*\.md$|^CONTRIBUTING\.md$/.test(file),
    )
    // Documents refer to a file by its name, or by the end of its path.
    const ends = files.flatMap((file) => {
      const parts = file.split('/')
      return parts.map((_, index) => parts.slice(index).join('/'))
    })
    expect(pages.length).toBeGreaterThan(20)
    expect(unknownNames(pages, SOURCE_FILE, ends)).toEqual([])
  })

  it('every document that files name exists', () => {
    expect(unknownNames(texts, DOCUMENT, files)).toEqual([])
  })
})

/** Numbers that are meaningless without `docs/`. */
const NUMBERED = /\bD-\d+|\bRules? \d|§[A-Z]?\d/

/** The source without comments, in which `D-n` can only be in a text of the program. */
function withoutComments(file: string): string {
  return read(file)
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

describe('texts for users', () => {
  it('in documents of interfaces, errors and the SDK name no decision, Rule or section', () => {
    const documents = files.filter((file) =>
      /^(packages\/api\/generated\/|sdk\/src\/generated\/|sdk\/[^/]*\.(md|txt)$|\.changeset\/|README\.md$|CHANGELOG\.md$|cluster\/README\.md$|docs\/cluster\.md$)/.test(
        file,
      ),
    )
    expect(documents.length).toBeGreaterThan(10)
    expect(matchingLines(documents, NUMBERED)).toEqual([])
  })

  it('of the command line, the console and errors name no decision, Rule or section', () => {
    expect(matchingLines(productSources, NUMBERED, withoutComments)).toEqual([])
  })
})
