/** The shape of the genesis in the OpenAPI document is that of its strict parser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseGenesis } from '@quorumscan/consensus'
import { expect, test } from 'vitest'

type Schema = {
  readonly type?: string
  readonly const?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly required?: readonly string[]
}

const path = join(import.meta.dirname, '../../packages/api/generated/scan.json')
const document = JSON.parse(readFileSync(path, 'utf8'))
const schema: Schema = document.components.schemas.Genesis

/** A value that fits, with texts drawn from the patterns that occur in a genesis. */
function example(of: Schema): unknown {
  if (of.const !== undefined) return of.const
  if (of.type === 'object')
    return Object.fromEntries(
      Object.entries(of.properties ?? {}).map(([name, member]) => [name, example(member)]),
    )
  if (of.type === 'array') return [example(of.items ?? {})]
  if (of.type === 'integer') return of.minimum ?? 1
  if (of.type === 'boolean') return true
  count++
  const hex = count.toString(16).padStart(64, '0')
  const texts = ['a', hex, '1.0000000000', `a::1220${hex}`, `n${count}`]
  return texts.find((text) => of.pattern === undefined || new RegExp(of.pattern).test(text))
}
let count = 0

test('a document with the members of the schema passes the parser, and each member is needed', () => {
  const genesis = example(schema) as Record<string, unknown>
  expect(() => parseGenesis(genesis)).not.toThrow()
  for (const name of schema.required ?? []) {
    const { [name]: _, ...rest } = genesis
    expect(() => parseGenesis(rest), name).toThrow()
  }
  // What the parser refuses, the schema shows, too.
  const { deduplicationMicrosMax: shortest } = genesis as { deduplicationMicrosMax: number }
  expect(() => parseGenesis({ ...genesis, deduplicationMicrosMax: shortest - 1 })).toThrow(
    /deduplicationMicrosMax/,
  )
  expect([...(schema.required ?? [])].sort()).toEqual(Object.keys(genesis).sort())
})

test.each([
  [{ version: 1 }, 'at version: this software reads form 2'],
  [{ ordering: undefined }, 'at ordering.driver'],
  [{ ordering: { driver: 'raft', key: '' } }, 'knows "redis", not "raft"'],
  [{ ordering: { driver: 'redis', key: '00'.repeat(32) } }, 'at ordering.key'],
  [{ ordering: { driver: 'redis' } }, 'at ordering (members)'],
])('the parser names what is wrong with %j', (changes, want) => {
  const genesis = example(schema) as object
  expect(() => parseGenesis({ ...genesis, ...changes })).toThrow(want)
})
