/**
 * Removes each single check from the verifier of the SDK in turn, and prints those whose removal no vector detects.
 *
 *     node test/vectors/mutate-library.mjs [N]     of all removals, or of every N-th; exits with 1 if one survives that
 *                                                  REDUNDANT does not list, or if a vector notices one that it lists
 *
 * A mutant lacks one guard (an `if` that throws or returns a failure), always passes a guard (`if (ok) return …; throw
 * …`), or lacks one operand of `&&` or `||`. The first vector with another answer, message or error kills it.
 */

import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { parseSync, Visitor } from 'oxc-parser'
import { rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'packages/verifier/src')

/** Files of the verifier, and the functions of each that do not verify. */
const FILES = {
  'certificates/certificate.ts': ['combineCertificates', 'isSamePoint', 'isSameHistory'],
  'certified/activities.ts': [],
  'certified/document.ts': [],
  'certified/freshness.ts': ['isStale'],
  'certified/lists.ts': [],
  'certified/lookups.ts': [],
  'certified/page-token.ts': [],
  'certified/query-of-request.ts': [],
  'certified/query.ts': [],
  'crypto/crypto.ts': ['createNodeCrypto', 'createWebCrypto'],
  'encoding/base64.ts': [],
  'genesis/threshold.ts': ['parseThreshold'],
  'proof/activity-run.ts': [],
  'proof/append-tree.ts': ['append', 'joinSubtrees', 'subtreesOf'],
  'proof/bits.ts': [],
  'proof/prune.ts': [],
  'proof/range-proof.ts': ['shownLeaves', 'wholeOf'],
  'proof/tree-hash.ts': [],
}

/** Removals that change nothing, each with the reason. */
const REDUNDANT = {
  'certificates/certificate.ts: if (signer !== name || signature === undefined) continue -- signature === undefined':
    'For the compiler alone: a signer has a signature, as parseCertificate has checked.',
  'certified/lists.ts: const isLast = found.length <= page.pageSize || after === undefined -- after === undefined':
    'For the compiler alone: of more entries than a page has, which is one at least, one is the last of it.',
  'certified/lookups.ts: party.startsWith(`${name}::1220`) && -- party.startsWith(`${name}::1220`)':
    'Saves a hash: the comparison that follows includes it.',
  'proof/bits.ts: const isSettled = difference > 0 || differsAt < bit || bit + 1 >= 8 * bound.length -- differsAt < bit':
    'Keys that part before the bit differ there, so the difference is not 0, unless the bound is a prefix: then the bit is after its end.',
  "proof/range-proof.ts: if (isShown && LONE_SURROGATE.test(value)) throw malformed('leaf') -- isShown":
    'For the compiler alone: a value that is not a text is not taken as one.',
}

const FAILURES = new Set(['undefined', 'null', 'false'])

/** @returns For each removal its place, and the text of the file without it. */
function removalsOf(file, excluded) {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const found = []
  const ignored = []
  const textOf = ({ start, end }) => text.slice(start, end)
  const lineOf = ({ start }) => {
    const from = text.lastIndexOf('\n', start) + 1
    return text.slice(from, text.indexOf('\n', start)).trim()
  }
  const add = (node, removed, by) => {
    const { start, end } = node
    if (ignored.some((range) => range.start <= start && end <= range.end)) return
    const mutant = text.slice(0, start) + by + text.slice(end)
    found.push({
      file,
      name: `${file}: ${lineOf(node)} -- ${removed.replace(/\s+/g, ' ')}`,
      text: mutant,
    })
  }
  const last = (node) => (node?.type === 'BlockStatement' ? node.body.at(-1) : node)
  const isFailure = (node) =>
    node?.type === 'ThrowStatement' ||
    (node?.type === 'ReturnStatement' &&
      (node.argument === null || FAILURES.has(textOf(node.argument))))
  const visitStatements = (statements) => {
    for (const [index, statement] of statements.entries()) {
      if (statement.type !== 'IfStatement' || statement.alternate !== null) continue
      const { test, consequent } = statement
      if (isFailure(last(consequent))) add(statement, `if (${textOf(test)})`, ';')
      else if (
        last(consequent)?.type === 'ReturnStatement' &&
        statements[index + 1]?.type === 'ThrowStatement'
      )
        add(test, textOf(test), 'true')
    }
  }
  const visitors = {
    functionDeclaration(node) {
      if (excluded.includes(node.id?.name)) ignored.push(node)
    },
    // The condition of a loop is not a check, and without a part of it the loop might not end.
    loop: ({ test }) => void (test && ignored.push(test)),
    logicalExpression(node) {
      if (node.operator === '??') return
      add(node, textOf(node.left), `(${textOf(node.right)})`)
      add(node, textOf(node.right), `(${textOf(node.left)})`)
    },
  }
  new Visitor({
    ['FunctionDeclaration']: visitors.functionDeclaration,
    ['WhileStatement']: visitors.loop,
    ['ForStatement']: visitors.loop,
    ['Program']: ({ body }) => visitStatements(body),
    ['BlockStatement']: ({ body }) => visitStatements(body),
    ['ForOfStatement']: ({ body }) => visitStatements([body]),
    ['LogicalExpression']: visitors.logicalExpression,
  }).visit(program)
  return found
}

const ENTRY = join(import.meta.dirname, 'mutant.ts')
const CODE = `import { verifyVector } from '../support/library-verifier.ts'\nglobalThis.verify = verifyVector`

/** @param mutant - A file of the verifier with its text; null: no file is changed. */
async function bundleOf(mutant) {
  const changed = mutant === null ? null : join(SOURCES, mutant.file)
  const build = await rolldown({
    input: ENTRY,
    platform: 'browser',
    logLevel: 'silent',
    resolve: { conditionNames: ['@quorumscan/source'] },
    plugins: [
      {
        name: 'mutant',
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? CODE : id === changed ? mutant.text : null),
      },
    ],
  })
  const { output } = await build.generate({ format: 'iife', codeSplitting: false })
  await build.close()
  return output[0].code
}

const { genesis, vectors } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'certified.json'), 'utf8'),
)

async function verifierOf(mutant) {
  const code = await bundleOf(mutant)
  const globals = { TextDecoder, TextEncoder, atob, btoa, crypto: webcrypto }
  const inside = createContext(globals)
  runInContext(code, inside)
  return async (vector) => {
    try {
      const { answer, signers } = await inside.verify(genesis, vector)
      return JSON.stringify([answer, signers])
    } catch ({ name, code = name, message }) {
      return `${code}: ${message}`
    }
  }
}

const whole = await verifierOf(null)
const reports = new Map()
for (const vector of vectors) reports.set(vector, await whole(vector))

const every = Number(process.argv[2] ?? 1)
const removals = Object.entries(FILES)
  .flatMap(([file, excluded]) => removalsOf(file, excluded))
  .filter((_, index) => index % every === 0)
const survivors = []
/** Vectors that killed the last mutants come first, because they kill the most. */
let order = vectors
for (const removal of removals) {
  let killer
  try {
    const verify = await verifierOf(removal)
    for (const vector of order)
      if ((await verify(vector)) !== reports.get(vector)) {
        killer = vector
        break
      }
  } catch {
    killer = order[0] // The mutant does not load.
  }
  if (killer === undefined) survivors.push(removal.name)
  else order = [killer, ...order.filter((vector) => vector !== killer)]
}

console.log(`${removals.length} removals, ${survivors.length} survive`)
for (const name of survivors) console.log(`  ${name}\n    ${REDUNDANT[name] ?? 'NOT LISTED'}`)
const names = new Set(removals.map(({ name }) => name))
const stale = Object.keys(REDUNDANT).filter(
  (name) => !survivors.includes(name) && (every === 1 || names.has(name)),
)
for (const name of stale) console.log(`  listed as redundant, and noticed, or not there: ${name}`)
process.exitCode = stale.length > 0 || survivors.some((name) => !(name in REDUNDANT)) ? 1 : 0
