/** The schema of the genesis in the OpenAPI document agrees with its strict parser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testKeyPair } from '@quorumscan/testkit'
import { parseGenesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'

type Schema = {
  readonly type?: string
  readonly const?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
}

const path = join(import.meta.dirname, '../../packages/api/generated/scan.json')
const document = JSON.parse(readFileSync(path, 'utf8'))
const schema: Schema = document.components.schemas.Genesis

/** A valid value of the schema, with texts for the patterns that occur in a genesis. */
function example(of: Schema): unknown {
  if (of.anyOf?.[0] !== undefined) return example(of.anyOf[0])
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

it('the parser accepts a document with the members of the schema, and requires each of them', () => {
  const genesis = example(schema) as Record<string, unknown>
  expect(() => parseGenesis(genesis)).not.toThrow()
  for (const name of schema.required ?? []) {
    const { [name]: _, ...rest } = genesis
    expect(() => parseGenesis(rest), name).toThrow()
  }
  // The schema has the same minimum as the parser.
  const { deduplicationMicrosMax: shortest } = genesis as { deduplicationMicrosMax: number }
  expect(() => parseGenesis({ ...genesis, deduplicationMicrosMax: shortest - 1 })).toThrow(
    /deduplicationMicrosMax/,
  )
  const optional = ['stateBytesPerDay']
  expect([...(schema.required ?? []), ...optional].sort()).toEqual(Object.keys(genesis).sort())
  expect(() => parseGenesis({ ...genesis, stateBytesPerDay: 65_535 })).toThrow(/stateBytesPerDay/)
})

it.each([
  [{ version: 1 }, 'at version: this software reads form 3'],
  [{ ordering: undefined }, 'at ordering.driver'],
  [{ ordering: { driver: 'raft', key: '' } }, 'knows "redis" and "cometbft", not "raft"'],
  [{ ordering: { driver: 'redis', key: '00'.repeat(32) } }, 'at ordering.key'],
  [{ ordering: { driver: 'redis' } }, 'at ordering: it lacks "key"'],
])('the parser names the mistake of %j', (changes, want) => {
  const genesis = example(schema) as object
  expect(() => parseGenesis({ ...genesis, ...changes })).toThrow(want)
})

const members = {
  driver: 'cometbft',
  validators: [{ name: 'sv-1', key: testKeyPair('vote').publicKey, nodeId: 'ab'.repeat(20) }],
  timeouts: {
    proposeMicros: 500_000,
    voteMicros: 200_000,
    commitMicros: 100_000,
    emptyBlockMicros: 5_000_000,
  },
  blockBytesMax: 524_288,
  blockContractsMax: 4096,
}
const [validator] = members.validators
const { timeouts } = members
const node = {
  name: 'sv-1',
  scanKey: testKeyPair('scan').publicKey,
  operatorKey: testKeyPair('operator').publicKey,
}

it('the parser accepts nodes as ordering members with separate keys', () => {
  const genesis = { ...(example(schema) as object), nodes: [node], ordering: members }
  expect(() => parseGenesis(genesis)).not.toThrow()
  const evidenceAge = { micros: 1_000_000, blocks: 1 }
  const other = { ...genesis, ordering: { ...members, evidenceAge } }
  expect(parseGenesis(other)).toEqual(other)
})

it.each([
  [{ validators: [] }, 'validators: it must have from 1 to 1 items'],
  [{ validators: [{ ...validator, name: 'sv-2' }] }, 'validators[0].name'],
  [{ validators: [{ ...validator, key: node.operatorKey }] }, 'occurs twice'],
  [{ validators: [{ ...validator, nodeId: 'ab' }] }, 'validators[0].nodeId'],
  [{ timeouts: { ...timeouts, proposeMicros: 501_000 } }, 'from 1000 to 500000'],
  [{ timeouts: { ...timeouts, voteMicros: 1500 } }, 'voteMicros: whole milliseconds'],
  [{ timeouts: { ...timeouts, emptyBlockMicros: 6_000_000 } }, 'from 1000 to 5000000'],
  [{ blockBytesMax: 200_000 }, 'from 263168 to 1048576'],
  [{ blockContractsMax: 999 }, 'from 1000'],
  [{ evidenceAge: { micros: 1_000_000, blocks: 0 } }, 'ordering.evidenceAge.blocks'],
  [{ evidenceAge: { micros: 999, blocks: 1 } }, 'ordering.evidenceAge.micros'],
  [{ evidenceAge: { micros: 1_000_000 } }, 'at ordering.evidenceAge: it lacks "blocks"'],
  [{ more: 1 }, 'at ordering: "more" is no member of this version'],
])('the parser refuses ordering members with %j', (changes, want) => {
  const ordering = { ...members, ...changes }
  const genesis = { ...(example(schema) as object), nodes: [node], ordering }
  expect(() => parseGenesis(genesis)).toThrow(want)
})
