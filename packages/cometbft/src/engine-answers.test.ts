import { expect, it } from 'vitest'
import {
  readBlockHash,
  readConnectedEngines,
  readDuplicateVotes,
  readPeerIds,
  readStatus,
} from './engine-answers.ts'

const syncInfo = {
  earliest_block_height: '3',
  latest_block_height: '7',
  latest_block_time: '2026-11-22T10:00:00.5Z',
  catching_up: true,
}

it('reads how far an engine is, and refuses an answer of another form', () => {
  expect(readStatus({ sync_info: syncInfo, node_info: {} })).toEqual({
    earliest: 3,
    latest: 7,
    latestTime: '2026-11-22T10:00:00.5Z',
    isCatchingUp: true,
  })
  for (const change of [
    { latest_block_height: 7 },
    { catching_up: 'true' },
    { earliest_block_height: '-1' },
  ])
    expect(() => readStatus({ sync_info: { ...syncInfo, ...change } })).toThrow('sync_info')
  expect(() => readBlockHash({ signed_header: null })).toThrow('signed_header')
})

it('reads no peers of a list that Go left out, and no height of a peer that claims none', () => {
  expect([readPeerIds({ peers: null }), readPeerIds({})]).toEqual([[], []])
  const claims = ['12', '9'.repeat(30), 'x', null, undefined]
  const peers = claims.map((height, index) => ({
    node_address: `${index}@[::1]:${4000 + index}`,
    peer_state: { round_state: { height } },
  }))
  const engines = readConnectedEngines({ peers: [...peers, { node_address: 'new@127.0.0.1:1' }] })
  expect(engines.map(({ id, port }) => `${id} ${port}`)).toEqual([
    '0 4000',
    '1 4001',
    '2 4002',
    '3 4003',
    '4 4004',
    'new 1',
  ])
  expect(engines.map(({ height }) => height)).toEqual([12, null, null, null, null, null])
})

it('passes over evidence of other kinds, and refuses votes of another form', () => {
  const evidenceOf = (...evidence: object[]) => ({ block: { evidence: { evidence } } })
  const attack = { type: 'tendermint/LightClientAttackEvidence', value: {} }
  expect(readDuplicateVotes(evidenceOf(attack))).toEqual([])
  const bare = { type: 'tendermint/DuplicateVoteEvidence', value: { vote_a: null, vote_b: null } }
  expect(() => readDuplicateVotes(evidenceOf(bare))).toThrow('vote_a')
})
