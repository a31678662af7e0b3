/**
 * Texts of refusals are part of the hashed result of an entry. All replicas must have the same, whatever version of the
 * software they run: a changed text needs a version of the protocol (CONTRIBUTING.md, "Texts that are permanent").
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const LEDGER = 'packages/ledger/src'
/** Reads the commands of clients, before anything is signed: no replica hashes its texts. */
const INPUT = 'value-input.ts'
/** The functions that refuse, and the position of the text among their arguments. */
const TEXT_AT: Readonly<Record<string, number>> = { refuse: 1, demand: 2 }

/** Texts as they are in the source, in its order. */
function textsOf(file: string): readonly string[] {
  const source = readFileSync(join(root, file), 'utf8')
  const texts: string[] = []
  const add = ({ start, end }: { readonly start: number; readonly end: number }) =>
    texts.push(source.slice(start, end).replaceAll(/\s+/g, ' '))
  new Visitor({
    CallExpression({ callee, arguments: given }) {
      const text = callee.type === 'Identifier' ? given[TEXT_AT[callee.name] ?? -1] : undefined
      if (text !== undefined) add(text)
    },
    Property({ key, value }) {
      if (key.type === 'Identifier' && key.name === 'rule') add(value)
    },
  }).visit(parseSync(file, source).program)
  return texts
}

it('the texts of refusals do not change', async () => {
  const files = readdirSync(join(root, LEDGER), { encoding: 'utf8', recursive: true })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^testing\//.test(file) && file !== INPUT)
    .map((file) => join(LEDGER, file))
    .concat('packages/verifier/src/names/entry-fields.ts')
  const texts = [...new Set(files.flatMap(textsOf))].sort()
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('refusals.txt')
})
