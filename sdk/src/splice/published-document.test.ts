/**
 * The reader accepts every answer that the published document of upstream's Scan API allows. The test makes values from
 * the types in upstream's client package, with and without each optional member, and serves them by real HTTP servers.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createSeededIntegers } from '@quorumscan/testkit'
import { it as base, type FixturesOf } from '@quorumscan/testkit/fixtures'
import { idOf, partyOf, startScans } from '@quorumscan/testkit/splice-scans'
import { expect } from 'vitest'
import { createSpliceScan, type SpliceOutcome } from './index.ts'

/** The used part of TypeScript 5's syntax trees. The SDK depends on TypeScript for its generated types. */
type Tree = {
  readonly kind: number
  readonly name?: { readonly text: string }
  readonly type?: Tree
  readonly questionToken?: object
  readonly members?: readonly Tree[]
  readonly types?: readonly Tree[]
  readonly elementType?: Tree
  readonly literal?: Tree & { readonly text?: string }
  readonly objectType?: Tree
  readonly indexType?: Tree
  readonly typeName?: { readonly text: string }
  readonly typeArguments?: readonly Tree[]
  readonly statements?: readonly Tree[]
}
type Compiler = {
  readonly SyntaxKind: Readonly<Record<string, number>>
  createSourceFile(name: string, text: string, target: number): Tree
}

const root = join(import.meta.dirname, '../../..')
const compiler = createRequire(join(root, 'sdk/package.json'))('typescript') as Compiler
const { SyntaxKind } = compiler
const file = join(
  root,
  'node_modules/@canton-network/core-splice-client/dist/generated-clients/scan.d.ts',
)

/** `components.schemas` by name. */
const schemas = new Map<string, Tree>()
function memberOf(tree: Tree | undefined, name: string): Tree | undefined {
  return tree?.members?.find((member) => member.name?.text === name)?.type
}
const source = compiler.createSourceFile(file, readFileSync(file, 'utf8'), 99)
const components = source.statements?.find(({ name }) => name?.text === 'components')
for (const member of memberOf(components, 'schemas')?.members ?? [])
  if (member.name && member.type) schemas.set(member.name.text, member.type)

/** Integers from 0 and below a bound. */
type Draw = ReturnType<typeof createSeededIntegers>
const pick = <Item>(items: readonly Item[], draw: Draw) => items[draw(items.length)] as Item

/** A value of the type. */
function make(type: Tree, draw: Draw, name = ''): unknown {
  switch (type.kind) {
    case SyntaxKind['StringKeyword']:
      return text(name, draw)
    case SyntaxKind['NumberKeyword']:
      return draw(2 ** 31)
    case SyntaxKind['BooleanKeyword']:
      return draw(2) === 0
    case SyntaxKind['ArrayType']:
      return Array.from({ length: draw(4) }, () => make(type.elementType as Tree, draw, name))
    case SyntaxKind['UnionType']:
      return make(pick(type.types ?? [], draw), draw, name)
    case SyntaxKind['IntersectionType']:
      return Object.assign({}, ...(type.types ?? []).map((part) => make(part, draw, name)))
    case SyntaxKind['LiteralType']:
      return type.literal?.text ?? null
    case SyntaxKind['IndexedAccessType']: {
      const schema = type.indexType?.literal?.text ?? ''
      return makeSchema(schema, draw, name)
    }
    case SyntaxKind['TypeReference']:
      if (type.typeName?.text === 'Record') return { any: 'thing' }
      break
    case SyntaxKind['TypeLiteral']:
      return Object.fromEntries(
        (type.members ?? []).flatMap((member) => {
          // A map from contract ids to contracts.
          if (member.name === undefined) {
            const value = make(member.type as Tree, draw) as {
              contract?: { contract_id: string }
            }
            return [[value.contract?.contract_id ?? 'key', value]]
          }
          if (member.questionToken && draw(2) === 0) return []
          return [[member.name.text, make(member.type as Tree, draw, member.name.text)]]
        }),
      )
  }
  throw new Error(`a type of kind ${type.kind}, of ${name}`)
}

function makeSchema(schema: string, draw: Draw, name = ''): unknown {
  const type = schemas.get(schema)
  if (type === undefined) throw new Error(`the document has no ${schema}`)
  return make(type, draw, name)
}

function text(name: string, draw: Draw): string {
  if (/contract_id$/.test(name)) return idOf(String(draw(1e9)))
  if (/_at$|^date$/.test(name)) return `2099-01-01T00:00:${10 + draw(50)}Z`
  return pick(['', 'text', '\u{1f600} "quoted"', String(draw(1e9))], draw) + draw(1e9)
}

const NAMES = ['a', 'b', 'c', 'd']
const NAME = 'alice.unverified.cns'
/** The document calls it any text. */
const PARTY = partyOf('p')
const it = base
  .extend('scans', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startScans({ svNames: NAMES })),
  )
  .extend('scan', { scope: 'file' }, ({ scans, fileResources }) => {
    const scan = createSpliceScan({ scans: scans.addresses, svCount: 4, threshold: 4 })
    fileResources.onClose(() => scan.close())
    return scan
  })
type Given = Pick<FixturesOf<typeof it>, 'scan'>

/** A response whose entry has these members, because clients compare them with the request. */
const having = (more: object) => (body: unknown) => ({
  entry: { ...(body as { entry: object }).entry, ...more },
})
/** A response with its contract, which the document calls optional because the caller may have cached it. */
const whole = (member: string) => (body: unknown, draw: Draw) => ({
  ...(body as object),
  [member]: { contract: makeSchema('Contract', draw) },
})
const READS: [
  string,
  (body: unknown, draw: Draw) => unknown,
  (given: Given) => Promise<SpliceOutcome<unknown>>,
][] = [
  [
    'LookupEntryByNameResponse',
    having({ name: NAME, user: PARTY }),
    ({ scan }: Given) => scan.names.lookup(NAME),
  ],
  [
    'LookupEntryByPartyResponse',
    having({ user: PARTY }),
    ({ scan }: Given) => scan.names.lookupParty(PARTY),
  ],
  ['GetDsoInfoResponse', (body) => body, ({ scan }: Given) => scan.dso()],
  ['DomainScans', (body) => ({ scans: [body] }), ({ scan }: Given) => scan.scans()],
  ['GetAnsRulesResponse', whole('ans_rules_update'), ({ scan }: Given) => scan.ansRules()],
  ['GetClosedRoundsResponse', (body) => body, ({ scan }: Given) => scan.closedRounds()],
  [
    'HoldingsSummaryResponse',
    (body) => body,
    ({ scan }: Given) =>
      scan.holdings({ migrationId: 1, recordTime: '2026-01-01T00:00:00Z', ownerPartyIds: ['p'] }),
  ],
]

it.for(READS)('reads every allowed %s', async ([schema, shaped, read], { scans, scan }) => {
  for (let seed = 1; seed <= 20; seed++) {
    const draw = createSeededIntegers(`${seed}`)
    const body = JSON.stringify(shaped(makeSchema(schema, draw), draw))
    for (const name of NAMES) scans.behave(name, () => ({ status: 200, text: body }))
    expect(await read({ scan }), body).toMatchObject({ kind: 'proven' })
  }
})

it('reads every allowed row of activities', async ({ scans, scan }) => {
  for (let seed = 1; seed <= 20; seed++) {
    const body = makeSchema('ListActivityResponse', createSeededIntegers(`${seed}`)) as {
      activities: object[]
    }
    const pages = new Map(NAMES.map((name) => [name, 0]))
    for (const name of NAMES)
      scans.behave(name, () => {
        const page = pages.get(name) ?? 0
        pages.set(name, page + 1)
        return { status: 200, text: JSON.stringify(page === 0 ? body : { activities: [] }) }
      })
    let count = 0
    for await (const row of scan.activities({ order: 'desc' })) {
      expect(row.eventId).not.toBe('')
      count++
    }
    expect(count).toBe(body.activities.length)
  }
})
