import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyPair } from '@quorumscan/base'
import { createTestNetwork } from '@quorumscan/testkit'
import { it as fixtures } from '@quorumscan/testkit/fixtures'
import {
  type CometbftOrdering,
  chainIdOf,
  type Evidence,
  EvidenceError,
  hashGenesis,
  parseGenesis,
  verifyEvidence,
} from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import type { SignedVote } from './engine-answers.ts'
import { nodeIdOf } from './engine-files.ts'
import { EngineUnavailableError } from './engine-rpc.ts'
import { createMisbehavior } from './misbehavior.ts'
import { voteSignBytes } from './votes.ts'

const keyPair = createKeyPair()
const base = createTestNetwork({ nodeCount: 4 }).genesis
const ordering: CometbftOrdering = {
  driver: 'cometbft',
  validators: base.nodes.map(({ name }, index) => ({
    name,
    key: index === 1 ? keyPair.publicKey : createKeyPair().publicKey,
    nodeId: nodeIdOf(createKeyPair().publicKey),
  })),
  timeouts: {
    proposeMicros: 500_000,
    voteMicros: 200_000,
    commitMicros: 100_000,
    emptyBlockMicros: 1_000_000,
  },
  blockBytesMax: 512 * 1024,
  blockContractsMax: 4096,
}
const genesis = parseGenesis({ ...base, ordering })
const chainId = chainIdOf(await hashGenesis(genesis))

/** A vote in the JSON of the engine. */
function vote(word: string, change: Partial<SignedVote> = {}, key = keyPair): SignedVote {
  const block_id = {
    hash: word.repeat(32).toUpperCase(),
    parts: { total: 1, hash: 'AB'.repeat(32) },
  }
  const unsigned = {
    type: 1,
    height: '7',
    round: 0,
    block_id,
    timestamp: '2026-11-22T10:00:00.00000123Z',
    validator_address: nodeIdOf(keyPair.publicKey).toUpperCase(),
    signature: '',
    ...change,
  }
  const signature = Buffer.from(key.sign(voteSignBytes(unsigned, chainId))).toString('base64')
  return { ...unsigned, signature }
}

const blockWith = (...pairs: readonly (readonly [SignedVote, SignedVote])[]) => ({
  block: {
    evidence: {
      evidence: pairs.map(([vote_a, vote_b]) => ({
        type: 'tendermint/DuplicateVoteEvidence',
        value: { vote_a, vote_b },
      })),
    },
  },
})

const it = fixtures.extend('open', ({ directory }) => (answer: () => unknown) => {
  const asked: unknown[] = []
  const found: Evidence[] = []
  const created = createMisbehavior({
    file: join(directory, 'kept.json'),
    rpc: {
      async call(method, parameters) {
        asked.push([method, parameters])
        return answer()
      },
    },
    genesis,
    ordering,
    chainId,
    onFound: (evidence) => found.push(evidence),
  })
  return { created, asked, found }
})

describe('two votes of one member', () => {
  it.for([
    ['for two blocks', vote('aa'), vote('bb'), { round: 0, step: 'prevote' }],
    [
      'in a later round, one for no block',
      vote('aa', { type: 2, round: 3 }),
      vote('aa', { type: 2, round: 3, block_id: { hash: '', parts: { total: 0, hash: '' } } }),
      { round: 3, step: 'precommit' },
    ],
  ] as const)('are evidence %s', async ([_, one, other, about], { open }) => {
    const { created, asked, found } = open(() => blockWith([one, other]))
    const misbehavior = await created
    await misbehavior.note(9)
    await misbehavior.fetch()
    expect(asked).toEqual([['block', { height: '9' }]])
    expect(misbehavior.list()).toEqual(found)
    const [evidence] = found
    expect(await verifyEvidence(evidence as Evidence, { genesis })).toEqual({
      signer: 'sv-2',
      kind: 'vote',
      height: 7,
      ...about,
    })
    await misbehavior.fetch()
    expect(asked).toHaveLength(1)
  })

  it.for([
    ['for the same block', vote('aa'), vote('aa', { timestamp: '2026-11-22T10:00:01Z' })],
    ['of another round', vote('aa'), vote('bb', { round: 1 })],
    ['of another step', vote('aa'), vote('bb', { type: 2 })],
    ['of another height', vote('aa'), vote('bb', { height: '8' })],
    ['that are no votes', vote('aa', { type: 32 }), vote('bb', { type: 32 })],
    ['of another key', vote('aa'), vote('bb', {}, createKeyPair())],
  ] as const)('are no evidence %s', async ([_, one, other], { open }) => {
    const { created, found } = open(() => blockWith([one, other]))
    const misbehavior = await created
    await misbehavior.note(9)
    await expect(misbehavior.fetch()).rejects.toThrow()
    expect([found, misbehavior.list()]).toEqual([[], []])
  })

  it.for([
    ['another member', 'sv-1', 'signature 1 does not verify'],
    ['a name without a vote', 'sv-9', 'the signer has no vote in this network'],
  ] as const)('are no evidence against %s', async ([_, signer, message], { open }) => {
    const { created, found } = open(() => blockWith([vote('aa'), vote('bb')]))
    const misbehavior = await created
    await misbehavior.note(9)
    await misbehavior.fetch()
    const evidence = { ...(found[0] as Evidence), signer }
    await expect(verifyEvidence(evidence, { genesis })).rejects.toThrow(new EvidenceError(message))
  })

  it('are no evidence in another network', async ({ open }) => {
    const { created, found } = open(() => blockWith([vote('aa'), vote('bb')]))
    const misbehavior = await created
    await misbehavior.note(9)
    await misbehavior.fetch()
    const nonce = 'ff'.repeat(32)
    const verified = verifyEvidence(found[0] as Evidence, { genesis: { ...genesis, nonce } })
    await expect(verified).rejects.toThrow('another network')
  })

  it('are fetched again after a restart, and stay in the list', async ({ open }) => {
    const before = await open(() => {
      throw new EngineUnavailableError('away')
    }).created
    await before.note(9)
    await expect(before.fetch()).rejects.toThrow('away')
    const after = await open(() => blockWith([vote('aa'), vote('bb')])).created
    await after.fetch()
    expect(after.list()).toHaveLength(1)
    expect((await open(() => blockWith()).created).list()).toEqual(after.list())
  })

  it('are retried after a restart if they cannot be verified, and block no others', async ({
    open,
  }) => {
    const forged = blockWith([vote('aa'), vote('bb', {}, createKeyPair())])
    const good = blockWith([vote('aa'), vote('bb')])
    let height = 0
    const before = open(() => (++height === 1 ? forged : good))
    const misbehavior = await before.created
    await misbehavior.note(9)
    await misbehavior.note(10)
    await expect(misbehavior.fetch()).rejects.toThrow()
    expect(before.found).toHaveLength(1)
    await misbehavior.fetch()
    expect(before.asked).toHaveLength(2)
    const after = open(() => good)
    await (await after.created).fetch()
    expect(after.asked).toEqual([['block', { height: '9' }]])
  })

  it('of a block that cannot be read block no others', async ({ open }) => {
    const unreadable = { block: { evidence: { evidence: [{ type: 7 }] } } }
    let height = 0
    const answer = () => (++height === 1 ? unreadable : blockWith([vote('aa'), vote('bb')]))
    const { created, found } = open(answer)
    const misbehavior = await created
    await misbehavior.note(9)
    await misbehavior.note(10)
    await expect(misbehavior.fetch()).rejects.toThrow('type')
    expect(found).toHaveLength(1)
  })

  it('prevent the start if the stored evidence cannot be read', async ({ directory, open }) => {
    await mkdir(join(directory, 'kept.json'))
    await expect(open(() => blockWith()).created).rejects.toThrow('kept.json')
  })
})
