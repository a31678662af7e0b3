/** The facts about upstream's interfaces as docs/upstream.md and the README show them. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BEGIN = '<!-- facts: written by test/upstream/generate.mjs -->\n'
const END = '<!-- end of facts -->\n'

/** The documents in the order of their names. */
export function readFacts() {
  return readdirSync(fileURLToPath(new URL('.', import.meta.url)))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({
      document: name.slice(0, -'.json'.length),
      ...JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')),
    }))
}

/** The pages that have facts between marks, by their path in the repository, each with what makes its text. */
export const PAGES = { 'docs/upstream.md': summaryOf, 'README.md': sharesOf }

/** The page with the present facts between its marks. @throws {Error} If the page has no marks. */
export function withFacts(path, page) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${path} has no marks for the facts`)
  return page.slice(0, begin + BEGIN.length) + PAGES[path](readFacts()) + page.slice(end)
}

function countsOf({ operations }) {
  const count = (word) => operations.filter((operation) => operation.word === word).length
  const [implemented, refused] = [count('implemented'), count('refused')]
  return {
    implemented,
    refused,
    missing: count('missing'),
    ofAll: percent(implemented, operations.length),
    ofOthers: percent(implemented, operations.length - refused),
  }
}

/** Two numbers of each document. */
function sharesOf(facts) {
  const rows = facts.map((fact) => {
    const { ofAll, ofOthers } = countsOf(fact)
    return `| ${fact.document} | ${fact.version} | ${ofAll} | ${ofOthers} |\n`
  })
  const head =
    '| document | version | of all operations | of those not refused |\n|---|---|---|---|\n'
  return `\n${head}${rows.join('')}\n`
}

function summaryOf(facts) {
  const counted = facts.map((fact) => {
    const { implemented, refused, missing, ofAll, ofOthers } = countsOf(fact)
    return `| ${fact.document} | ${fact.version} | ${implemented} | ${refused} | ${missing} | ${ofAll} | ${ofOthers} |\n`
  })
  const head =
    '| document | version | operations implemented | refused | missing | of all | of those not refused |\n|---|---|---|---|---|---|---|\n'
  return `\n${head}${counted.join('')}\n${refusedOperations(facts)}\n${membersOf(facts, 'refused')}\n${membersOf(facts, 'no effect')}\n`
}

function percent(part, whole) {
  return whole === 0 ? '–' : `${Math.floor((100 * part) / whole)} %`
}

function refusedOperations(facts) {
  const rows = facts
    .map(({ document, operations }) => {
      const refused = operations.filter(({ word }) => word === 'refused')
      return { document, names: refused.map(({ operation }) => operation) }
    })
    .filter(({ names }) => names.length > 0)
    .map(({ document, names }) => `| ${document} | ${names.join(', ')} |\n`)
  return `| document | refused operations |\n|---|---|\n${rows.join('')}`
}

/** Members of implemented operations with this word, each with its operations. */
function membersOf(facts, word) {
  const operationsByMember = new Map()
  for (const { operation, members } of facts.flatMap(({ operations }) => operations))
    for (const row of members.filter((member) => member.word === word)) {
      // The parts of a member share its word.
      const isWithin = ({ member }) =>
        row.member.startsWith(`${member}.`) || row.member.startsWith(`${member}[`)
      if (members.some((other) => other.word === word && isWithin(other))) continue
      const operations = operationsByMember.get(row.member) ?? []
      operationsByMember.set(row.member, [...operations, operation])
    }
  const rows = [...operationsByMember]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([member, operations]) => `| \`${member}\` | ${operations.join(', ')} |\n`)
  return `| members: ${word} | operations |\n|---|---|\n${rows.join('')}`
}
