import { createLogger } from '@quorumscan/runtime'
import { send, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createPrivateNodes } from './reads.ts'
import { startValidator } from './server.ts'
import { startNetwork } from './testing/network.ts'

const nodes = [
  { name: 'sv-1', url: 'https://10.0.0.1:4611' },
  { name: 'sv-2', url: 'https://sv-2.example' },
  { name: 'sv-3', url: 'https://sv-3.example' },
]
const network = { nodes, nodeCount: 4, needed: 2, allowPrivateAddresses: false }

it('names the nodes at private addresses, and reports when too few are left', () => {
  const known = createPrivateNodes(network)
  expect(known.detail()).toBe(
    '1 of 4 nodes may not be asked, as their addresses are private: sv-1 (https://10.0.0.1:4611). ' +
      'Set QS_ALLOW_PRIVATE_ADDRESSES=1 if this is their network',
  )
  known.note({ name: 'sv-2', url: 'https://sv-2.example' }) // Its name leads to a private address.
  known.note({ name: 'sv-4', url: 'https://192.168.0.4' })
  expect(known.detail()).toContain('3 of 4 nodes may not be asked')
  expect(known.detail()).toContain('Lookups need 2 nodes, and end with NOT_ENOUGH_NODES.')
})

it('reports nothing where private addresses are allowed, or no address is private', () => {
  expect(createPrivateNodes({ ...network, allowPrivateAddresses: true }).detail()).toBeNull()
  expect(createPrivateNodes({ ...network, nodes: nodes.slice(1) }).detail()).toBeNull()
})

it('reports it in the log at the start, in /readyz and in /status', async () => {
  await using network = await startNetwork()
  const config = { ...network.config, allowPrivateAddresses: false, nodes: network.peers }
  const lines: string[] = []
  await using validator = await startValidator(config, {
    logger: createLogger({
      name: 'test',
      level: 'warn',
      stream: { write: (line) => void lines.push(line) },
    }),
    clock: network.clock,
  })
  expect(lines.join('')).toContain('nodes may not be asked, as their addresses are private')
  await untilTrue(
    'it to be ready',
    async () => (await send(`${validator.url}/readyz`)).status === 200,
  )
  for (const path of ['/readyz', '/api/validator/readyz']) {
    const { headers } = await send(`${validator.url}${path}`)
    expect(headers.get('x-detail'), path).toContain('QS_ALLOW_PRIVATE_ADDRESSES=1')
  }
  const { body } = await send(`${validator.url}/status`)
  expect(body.success.extra.detail).toContain('Lookups need')
})
