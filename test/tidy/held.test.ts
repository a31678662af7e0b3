/**
 * A factory makes each long-lived `Set` and `Map` with `held` of `@quorumscan/base`, so that its size is a metric and a test
 * sees what stays. Long-lived is what a function changes that the maker of the collection returns or registers: a member of
 * a class, a variable of a module, and a variable that a function within the maker changes.
 */
import { parseSync } from 'oxc-parser'
import { expect, it } from 'vitest'
import { productSources, read } from '../support/tree.ts'

/** What runs in a process of an operator. Packages for browsers have no metrics: they cannot import `base`. */
const PROCESSES =
  /^(?:packages\/(?!verifier|reader|ledger\/|model|api|errors|testkit)[^/]+|apps\/(?!console)[^/]+|cluster)\/src\/(?!judge\/chaos\/|(?:.*\/)?testing\/)/

/** Collections that end with one call, although a function within changes them: by file and name. */
const OF_ONE_CALL: Readonly<Record<string, readonly string[]>> = {
  // Itself.
  'packages/base/src/held.ts': ['entries'],
  // Of a command.
  'apps/cli/src/attempts.ts': ['reasons'],
  // Of the start of a process.
  'packages/operator/src/run/operator-config.ts': ['known'],
  'packages/operator/src/run/operator-services.ts': ['specs'],
  // Of an answer or a request.
  'packages/cometbft/src/mempool-policy.ts': ['seen'],
  'packages/cometbft/src/state-sync/state-sync.ts': ['reports'],
  'packages/ledger-api/src/state.ts': ['shown'],
  'packages/log/src/recent-groups.ts': ['stored'],
  'packages/log/src/repair.ts': ['copies'],
  'packages/snapshots/src/snapshot-peers.ts': ['listedByKey', 'holders'],
  'packages/wallet/src/wallet/subscriptions.ts': ['mayActByUser'],
  // Of a batch, a record or a snapshot that is loaded.
  'packages/replica/src/ingest/lookahead.ts': ['missing', 'knownPrefixes'],
  'packages/replica/src/storage/commands.ts': ['openByName'],
  'packages/replica/src/storage/update-codec.ts': ['numbers'],
  'packages/replica/src/snapshot/load-snapshot.ts': ['documentIds', 'names', 'documents'],
}

type Node = { readonly type: string; readonly [member: string]: unknown }

const CHANGES = new Set(['add', 'set', 'delete', 'clear'])

/** The names of long-lived collections that are not made with `held`. */
function plainIn(code: string): readonly string[] {
  const found: string[] = []
  const visit = (node: Node, around: readonly Node[]): void => {
    const name = collectionOf(node)
    if (name !== null) {
      const maker = around.findLast(isFunction)
      // A table that is made whole is a constant, unless it is changed later.
      const isTable = maker === undefined && !isEmpty(node)
      if (!isTable && (maker === undefined || isChangedWithin(maker, name))) found.push(name)
    }
    for (const child of childrenOf(node)) visit(child, [...around, node])
  }
  visit(parseSync('source.ts', code).program as unknown as Node, [])
  return found
}

/** The name of the variable or member that is made as a collection; null: it is another node. */
function collectionOf(node: Node): string | null {
  if (node.type !== 'VariableDeclarator' && node.type !== 'PropertyDefinition') return null
  const value = initOf(node)
  if (value?.type !== 'NewExpression') return null
  const { name } = value['callee'] as { readonly name?: string }
  if (name !== 'Set' && name !== 'Map') return null
  const id = (node['id'] ?? node['key']) as { readonly name: string }
  return id.name
}

function initOf(node: Node): Node | null {
  return (node.type === 'VariableDeclarator' ? node['init'] : node['value']) as Node | null
}

function isEmpty(node: Node): boolean {
  return (initOf(node)?.['arguments'] as readonly Node[] | undefined)?.length === 0
}

/** Whether a function within this one changes the collection with this name. */
function isChangedWithin(maker: Node, name: string): boolean {
  const visit = (node: Node, depth: number): boolean => {
    if (depth > 0 && isChangeOf(node, name)) return true
    const below = isFunction(node) ? depth + 1 : depth
    return childrenOf(node).some((child) => visit(child, below))
  }
  return childrenOf(maker).some((child) => visit(child, 0))
}

function isChangeOf({ type, callee }: Node, name: string): boolean {
  if (type !== 'CallExpression') return false
  const { object, property } = callee as {
    readonly object?: { readonly name?: string }
    readonly property?: { readonly name?: string }
  }
  return object?.name === name && CHANGES.has(property?.name ?? '')
}

function isFunction({ type }: Node): boolean {
  return type.includes('Function')
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(
      (one): one is Node => typeof one === 'object' && one !== null && 'type' in one,
    ),
  )
}

it('each long-lived Set and Map of a process reports its size', () => {
  const files = productSources.filter((file) => file.endsWith('.ts') && PROCESSES.test(file))
  expect(files.length).toBeGreaterThan(300)
  const plain = files.flatMap((file) => {
    const names = plainIn(read(file))
    const excepted = OF_ONE_CALL[file] ?? []
    expect(
      excepted.filter((name) => !names.includes(name)),
      file,
    ).toEqual([])
    return names.filter((name) => !excepted.includes(name)).map((name) => `${file}: ${name}`)
  })
  expect(plain).toEqual([])
})

it.each<readonly [string, readonly string[]]>([
  ['function createA() { const b = new Set(); return { add: (c) => b.add(c) } }', ['b']],
  ['function createA() { const b = held(about, new Set()); return (c) => b.add(c) }', []],
  ['class A { readonly #b = new Map() }', ['b']],
  ['const b = new Map()', ['b']],
  ['function a() { const b = new Set(); for (const c of d) b.add(c); return b }', []],
  ['const B = new Set([1, 2])', []],
  ['function createA() { const b = new Set(c); return () => b.has(1) }', []],
  ['function createA() { const b = new Set(c); return () => b.add(1) }', ['b']],
])('in %s', (code, expected) => {
  expect(plainIn(code)).toEqual(expected)
})
