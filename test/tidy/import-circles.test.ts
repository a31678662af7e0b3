/** No file imports itself through others, so that each can be read, tested and moved with only its imports. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Imports of types also count, because readers of the code follow them. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g

/** Strongly connected components of two or more nodes (Tarjan's algorithm). */
function circlesOf(targetsOf: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = []
  const orderOf = new Map<string, number>()
  const path: string[] = []
  /** The order of the earliest node on the path that is reachable from the node. */
  const visit = (node: string): number => {
    const order = orderOf.size
    orderOf.set(node, order)
    path.push(node)
    let earliest = order
    for (const target of targetsOf.get(node) ?? [])
      if (!orderOf.has(target)) earliest = Math.min(earliest, visit(target))
      else if (path.includes(target)) earliest = Math.min(earliest, orderOf.get(target) ?? earliest)
    if (earliest === order) {
      const circle = path.splice(path.indexOf(node))
      if (circle.length > 1) circles.push(circle.sort())
    }
    return earliest
  }
  for (const node of targetsOf.keys()) if (!orderOf.has(node)) visit(node)
  return circles
}

it('a circle is found without the nodes that only lead from it', () => {
  const graph = { a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: [] }
  expect(circlesOf(new Map(Object.entries(graph)))).toEqual([['a', 'b', 'c']])
})

it('imports have no circle', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && existsSync(join(root, file)))
  const importsOf = (file: string): string[] =>
    [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path = '']) =>
      normalize(join(dirname(file), path)),
    )
  const graph = new Map(files.map((file) => [file, importsOf(file)]))
  expect([...graph.values()].flat().length).toBeGreaterThan(files.length)
  expect(circlesOf(graph)).toEqual([])
})
