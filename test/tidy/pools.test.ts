/** Each shared pool of the code has a row in the table "Pools" of docs/architecture.md, and a test of a greedy owner. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { productSources, read, root } from '../support/tree.ts'

/** What makes a pool. The name is a literal, so that it can be compared; dialects of sockets have theirs in `limits`. */
const MAKERS =
  /\b(?:createShares|createTurns|new ConnectionLimiter|new UnreadAnswers)\b(?:<[^(]*>)?\(/g
const NAMED = /\b(?:createShares|createTurns)\b(?:<[^(]*>)?\(\s*'([^']+)'|\bpool: '([^']+)'/g
/** Makes pools of the name in its parameter. */
const UNNAMED: ReadonlyMap<string, number> = new Map([
  ['packages/base/src/shares.ts', 2],
  // Of the limits that a dialect or a constant names.
  ['packages/server/src/sockets/mount.ts', 2],
  ['packages/server/src/long-polls.ts', 1],
  ['packages/cometbft/src/engine-acceptor.ts', 1],
])

const codes = productSources
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, code: read(file) }))
const names = codes.flatMap(({ code }) =>
  [...code.matchAll(NAMED)].map(([, name, member]) => name ?? member ?? ''),
)

const section = /^## Pools\n([\s\S]*?)^## /m.exec(read('docs/architecture.md'))?.[1] ?? ''
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.slice(2, -2).split(' | '))

it('every pool has a row, and every row a pool', () => {
  expect(rows.map(([name]) => name).sort()).toEqual([...new Set(names)].sort())
})

it('no pool is made without a name', () => {
  for (const { file, code } of codes) {
    const made = [...code.matchAll(MAKERS)].length
    const named = [...code.matchAll(NAMED)].length
    expect([file, made <= named + (UNNAMED.get(file) ?? 0)]).toEqual([file, true])
  }
})

it('the numbers of a row are those of the code', () => {
  const limits =
    /pool: '([^']+)',\s+max: ([\d_]+),\s+perClientMax: ([\d_]+),\s+perNetworkMax: ([\d_]+)/g
  const found = codes.flatMap(({ code }) => [...code.matchAll(limits)])
  expect(found.length).toBeGreaterThan(3)
  for (const [, pool = '', ...numbers] of found) {
    const [max, client, network] = numbers.map((text) => text.replaceAll('_', ''))
    const own = client === max ? '' : `; ${client} of a client, ${network} of a network`
    expect([pool, rows.find(([name]) => name === pool)?.[1]]).toEqual([pool, `${max}${own}`])
  }
})

it('the numbers of connections and of unread bytes are the default limits of a server', () => {
  const code = read('packages/server/src/limits.ts')
  const limit = (name: string): number => {
    const [, factors = ''] = new RegExp(`^  ${name}: ([\\d_ *]+),$`, 'm').exec(code) ?? []
    return factors.split('*').reduce((product, text) => product * Number(text), 1)
  }
  const mib = (name: string) => `${limit(name) / 2 ** 20} MiB`
  expect(rows.find(([name]) => name === 'connections')?.[1]).toBe(
    `${limit('connectionsMax')}; ${limit('connectionsPerClientMax')} of a client, ` +
      `${limit('connectionsPerNetworkMax')} of a network`,
  )
  expect(rows.find(([name]) => name === 'bytes that clients have not read')?.[1]).toBe(
    `${mib('unreadBytesMax')}; ${mib('unreadBytesPerClientMax')} of a client`,
  )
})

it('every row names its limit, its owners and how they share it, and a test of a greedy one', () => {
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) {
    expect([row[0], row.length, row.filter((cell) => cell.trim() === '')]).toEqual([row[0], 5, []])
    const path = /^`(.+)`$/.exec(row[4] ?? '')?.[1] ?? ''
    const file = ['packages', 'apps']
      .map((top) => `${top}/${path}`)
      .find((one) => existsSync(join(root, one)))
    expect([path, /greedy/.test(file === undefined ? '' : read(file))]).toEqual([path, true])
  }
})
