/** The command of a test cluster, played by a program. */
import { existsSync } from 'node:fs'
import { createTestNetwork } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { startCluster } from './testing.ts'

const { genesis, genesisHash } = createTestNetwork()
const status = { cluster: { genesisHash }, nodes: [], validator: { url: 'http://127.0.0.1:9' } }

/** Ignores SIGINT, as a command whose processes hang. */
const program = `
  const { writeFileSync } = require('node:fs')
  process.on('SIGINT', () => {})
  const directory = process.argv[process.argv.indexOf('--data-dir') + 1]
  writeFileSync(directory + '/genesis.json', ${JSON.stringify(JSON.stringify(genesis))})
  console.log(${JSON.stringify(JSON.stringify(status))})
  setInterval(() => {}, 1000)
`

it('a command that does not end is killed after the time that `down` gives it', async () => {
  const cluster = await startCluster({ command: [process.execPath, '-e', program, '--'] })
  expect(existsSync(cluster.dataDir)).toBe(true)
  await cluster.down({ timeoutMs: 50 })
  expect(existsSync(cluster.dataDir)).toBe(false)
})

it('an option that a call of a cluster does not have is refused', async () => {
  const cluster = await startCluster({ command: [process.execPath, '-e', program, '--'] })
  const more = { unheardOf: 1 } as never
  const unknown = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('`unheardOf`') }
  await expect(cluster.waitFor(() => true, more)).rejects.toMatchObject(unknown)
  await expect(cluster.down(more)).rejects.toMatchObject(unknown)
  expect(() => cluster.scan(more)).toThrow(expect.objectContaining(unknown))
  expect(() => cluster.validator('alice', more)).toThrow(expect.objectContaining(unknown))
  await cluster.down({ timeoutMs: 50 })
})
