import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSynchronizerConfig } from '@quorumscan/config'
import { createDirectory, createManualClock, createTestNetwork } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createAppBase } from './app.ts'

it('follows its nodes and engine peers to the newest addresses in the file of QS_PEERS_FILE', async () => {
  using directory = createDirectory()
  const at = (name: string) => join(directory.path, name)
  writeFileSync(at('genesis.json'), JSON.stringify(createTestNetwork().genesis))
  const peer = `${'ab'.repeat(20)}@sv-2.example:26656`
  const write = (nodes: string, peers: string) =>
    writeFileSync(at('peers.env'), `QS_NODES=${nodes}\nQS_ENGINE_PEERS=${peers}\n`)
  write('sv-1=https://sv-1.example', '')
  const config = readSynchronizerConfig({
    QS_GENESIS: at('genesis.json'),
    QS_PORT: '0',
    QS_LOG_LEVEL: 'silent',
    QS_NODES: 'sv-1=https://old.example,sv-2=https://sv-2.example',
    QS_PEERS_FILE: at('peers.env'),
    QS_LOG_REDIS: 'unix:///d/log',
    QS_KEY_FILE: at('key'),
  })
  const clock = createManualClock()
  const { nodes, enginePeers } = await createAppBase('synchronizer', config, { clock })
  const urls = () => nodes.map(({ name, url }) => `${name} ${url}`)
  expect(urls()).toEqual(['sv-1 https://sv-1.example', 'sv-2 https://sv-2.example'])
  expect(enginePeers()).toEqual({ peers: [], followers: [] })
  write('sv-1=https://new.example,sv-2=https://sv-2.example', peer)
  await clock.advance(2_000)
  expect(urls()).toEqual(['sv-1 https://new.example', 'sv-2 https://sv-2.example'])
  expect(enginePeers()).toEqual({ peers: [peer], followers: [] })
})

it('has as peers those of its file and its own synchronizer, by the token with which it follows it', async () => {
  using directory = createDirectory()
  const at = (name: string) => join(directory.path, name)
  writeFileSync(at('genesis.json'), JSON.stringify(createTestNetwork().genesis))
  const [own, listed, later] = ['o', 'l', 'n'].map((letter) => letter.repeat(32))
  writeFileSync(at('own'), `${own}\n`)
  writeFileSync(at('listed'), `${listed}\n`)
  const config = readSynchronizerConfig({
    QS_GENESIS: at('genesis.json'),
    QS_PORT: '0',
    QS_LOG_LEVEL: 'silent',
    QS_NODES: 'sv-1=https://sv-1.example,sv-2=https://sv-2.example',
    QS_PEER_TOKENS_FILE: at('listed'),
    QS_LOG_REDIS: 'unix:///d/log',
    QS_KEY_FILE: at('key'),
  })
  const clock = createManualClock()
  const options = { ...config, ownTokenFile: at('own') }
  const { serving } = await createAppBase('synchronizer', options, { clock })
  const tokens = () => serving.rateLimit.peerTokens
  expect(tokens()).toEqual([listed, own])
  // Digests are made again only for another list.
  expect(tokens()).toBe(tokens())
  writeFileSync(at('own'), `${later}\n`)
  await clock.advance(2_000)
  expect(tokens()).toEqual([listed, later])
})
