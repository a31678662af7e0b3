import { expect, it } from 'vitest'
import { formatPreset, presetOf } from './format.ts'

it('prints the network of a cluster as createScan takes it, and as variables of the examples', () => {
  const urls = ['http://127.0.0.1:4611', 'http://127.0.0.1:4612']
  const preset = presetOf({
    cluster: { genesisHash: 'ab'.repeat(32) },
    nodes: urls.map((url) => ({ url })),
    validator: { url: 'http://127.0.0.1:4601' },
  })
  expect(preset).toEqual({
    network: { name: 'localnet', genesis: 'ab'.repeat(32), seeds: urls },
    validator: { url: 'http://127.0.0.1:4601' },
  })
  expect(formatPreset(preset).split('\n')).toEqual([
    'export SEED=http://127.0.0.1:4611',
    'export SEEDS=http://127.0.0.1:4611,http://127.0.0.1:4612',
    `export GENESIS_HASH=${'ab'.repeat(32)}`,
    'export VALIDATOR=http://127.0.0.1:4601',
  ])
})
