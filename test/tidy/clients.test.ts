/** Each file that makes a client of another process has a row in the table "Clients" of docs/architecture.md, with its limit. */
import { expect, it } from 'vitest'
import { productSources, read } from '../support/tree.ts'

/** What makes a client. `connect` of a process of this machine has a socket or an address. */
const MAKERS =
  /\b(?:createPeerClient|createUndiciTransport|createLogClient|createFetchTransport|createFetch|new Pool|new Agent|new Redis)\(|\brequest\(\s*\{\s*socketPath|\bfetch\(url,|= connect\((?:socket\)|parseAddress)/
/** The SDK has limits of its own for each call, and the rig is no product. */
const OTHERS = /^(?:sdk|cluster|apps\/console)\//
/** They define a maker whose calls are looked for, and make no client by themselves. */
const NAMED_LIMIT = /`([A-Z_]+(?:_MS|_MS_MAX))`/g

const sources = productSources.filter((file) => file.endsWith('.ts') && !OTHERS.test(file))
const makers = sources.filter((file) => MAKERS.test(read(file)))
const section = /^## Clients\n([\s\S]*?)^## /m.exec(read('docs/architecture.md'))?.[1] ?? ''
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.slice(2, -2).split(' | '))
const filesOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, file]) => file)

it('each file that makes a client has a row, and each row makes one', () => {
  expect(makers.length).toBeGreaterThan(15)
  expect(rows.flatMap(([files]) => filesOf(files)).sort()).toEqual([...makers].sort())
})

it('each limit is a constant, and each row says what comes of it', () => {
  const code = sources.map(read).join('\n')
  for (const [file, , limit = '', outcome = ''] of rows) {
    expect([file, limit, outcome]).not.toContain('')
    for (const [, name] of limit.matchAll(NAMED_LIMIT))
      expect([file, name, code.includes(`const ${name} =`)]).toEqual([file, name, true])
  }
})
