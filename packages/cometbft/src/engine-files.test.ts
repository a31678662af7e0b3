import { createKeyPair } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { engineFiles } from './engine-files.ts'

const PEER = `${'ab'.repeat(20)}@sv-2.example:26656`

/** A setting of an engine with this voting key, as its file has it. */
function settingOf(
  setting: string,
  votingKey: ReturnType<typeof createKeyPair> | null = null,
): string | undefined {
  const micros = 100_000
  const files = engineFiles({
    name: 'sv-1',
    genesis: { recordTime: 0 },
    ordering: {
      driver: 'cometbft',
      validators: [],
      timeouts: {
        proposeMicros: micros,
        voteMicros: micros,
        commitMicros: micros,
        emptyBlockMicros: micros,
      },
      blockBytesMax: 1000,
      blockContractsMax: 10,
    },
    genesisHash: '00'.repeat(32),
    votingKey,
    nodeKey: createKeyPair(),
    sockets: { abci: '/run/a', engine: '/run/e' },
    address: '0.0.0.0:26656',
    peers: [PEER],
    stateSync: null,
  })
  return new RegExp(`^${setting} = (.*)$`, 'm').exec(files['config/config.toml'] ?? '')?.[1]
}

it('configures as persistent peers only the members that know the engine', () => {
  expect(settingOf('persistent_peers', createKeyPair())).toBe(`"${PEER}"`)
  expect(settingOf('persistent_peers')).toBe('""')
})

it('stores at most 5000 bundles of entries that wait for a block, and 32 MiB', () => {
  expect([settingOf('size'), settingOf('max_txs_bytes')]).toEqual(['5000', '33554432'])
})
