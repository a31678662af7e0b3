import { createKeyPair } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { engineFiles } from './engine-files.ts'

const PEER = `${'ab'.repeat(20)}@sv-2.example:26656`

function dialedByItself(votingKey: ReturnType<typeof createKeyPair> | null): string | undefined {
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
  return /^persistent_peers = "(.*)"$/m.exec(files['config/config.toml'] ?? '')?.[1]
}

it('configures as persistent peers only the members that know the engine', () => {
  expect(dialedByItself(createKeyPair())).toBe(PEER)
  expect(dialedByItself(null)).toBe('')
})
