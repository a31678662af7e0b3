/**
 * Makes the facts about upstream's interfaces from its OpenAPI documents (YAML): `node generate.mjs DIRECTORY`. Only names
 * are taken: operations, the members of their requests, and which are required. Our words are kept from the files that
 * exist; what is new has none, and `members.test.ts` names it. Without a directory only the tables in
 * docs/upstream.md and README.md are written.
 *
 * `word` of an operation: `implemented` (as `ours`, if that has another name), `missing`, or `refused`.
 * `word` of a member of an implemented operation: `implemented`, `refused` (any value that asks for something is
 * answered with 400), or `no effect` (docs/upstream.md says why).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { operationsOf } from './members.mjs'
import { PAGES, withFacts } from './summary.mjs'

const [directory] = process.argv.slice(2)
const files = directory === undefined ? [] : readdirSync(directory)
for (const file of files.filter((name) => name.endsWith('.yaml'))) {
  const document = parse(readFileSync(join(directory, file), 'utf8'))
  const target = new URL(`${basename(file, '.yaml')}.json`, import.meta.url)
  const operations = operationsOf(document).map(withWords(wordsOf(target)))
  writeFileSync(target, textOf({ version: document.info.version, operations }))
}

for (const path of Object.keys(PAGES)) {
  const file = new URL(`../../${path}`, import.meta.url)
  writeFileSync(file, withFacts(path, readFileSync(file, 'utf8')))
}

/** The words of a file, by operation and member. */
function wordsOf(target) {
  try {
    const { operations } = JSON.parse(readFileSync(target, 'utf8'))
    return new Map(operations.map((known) => [known.operation, known]))
  } catch (error) {
    if (error.code === 'ENOENT') return new Map()
    throw error
  }
}

function withWords(known) {
  return ({ operation, members }) => {
    const { word = null, ours, members: before = [] } = known.get(operation) ?? {}
    const wordOf = new Map(before.map((row) => [row.member, row.word]))
    const rows = members.map((row) => {
      const own = wordOf.get(row.member)
      return own === undefined ? row : { ...row, word: own }
    })
    return { operation, word, ...(ours === undefined ? {} : { ours }), members: rows }
  }
}

/** A member a line. */
function textOf({ version, operations }) {
  const blocks = operations.map(({ members, ...operation }) => {
    const rows = members.map((row) => `      ${JSON.stringify(row)}`)
    const list = rows.length === 0 ? '[]' : `[\n${rows.join(',\n')}\n    ]`
    return `    ${JSON.stringify(operation).slice(0, -1)},"members":${list}}`
  })
  return `{\n  "version": ${JSON.stringify(version)},\n  "operations": [\n${blocks.join(',\n')}\n  ]\n}\n`
}
