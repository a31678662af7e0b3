import {
  createKeyPair,
  createSystemClock,
  type KeyPair,
  systemRandom,
  toHex,
} from '@quorumscan/base'
import { createManualClock, serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { nodeIdOf } from '../engine-files.ts'
import type { EngineRpc } from '../engine-rpc.ts'
import { signRequest } from './engine-read.ts'
import { createMemberReads, createReadAnswers, otherMembers } from './reads.ts'

it('a greedy engine leaves reads to ten modest ones', async () => {
  const key = createKeyPair()
  const clock = createManualClock()
  const genesisHash = 'ab'.repeat(32)
  const ownId = nodeIdOf(key.publicKey)
  const answers: (() => void)[] = []
  // An engine that answers when the test says so.
  const rpc = { call: () => new Promise((resolve) => answers.push(() => resolve({}))) }
  const answer = createReadAnswers({
    key,
    rpc: rpc as unknown as EngineRpc,
    anchors: () => [],
    clock,
    ownId,
    isPeer: () => true,
    genesisHash,
  })
  const ask = (from: KeyPair) => {
    const nonce = toHex(systemRandom.bytes(16))
    const at = { to: ownId, nowMicros: clock.nowMicros(), nonce, genesisHash, key: from }
    return answer(signRequest({ method: 'commit', params: { height: '7' } }, at).bytes)
  }
  const greedy = createKeyPair()
  const first = [ask(greedy), ask(greedy), ask(greedy), ask(greedy)]
  await expect(ask(greedy)).rejects.toMatchObject({ code: 'OVERLOADED' })
  const modest = Array.from({ length: 10 }, () => ask(createKeyPair()))
  for (const give of answers) give()
  await Promise.all([...first, ...modest])
  const again = ask(greedy)
  answers.at(-1)?.()
  await again
})

it('a member is read at its newest address', async () => {
  const asked: string[] = []
  const startNode = (name: string) =>
    serve((_request, response) => {
      asked.push(name)
      response.writeHead(503, { 'content-length': 0 }).end()
    })
  await using first = await startNode('first')
  await using second = await startNode('second')
  let url = first.url
  const node = {
    name: 'sv-2',
    get url() {
      return url
    },
  }
  const key = createKeyPair()
  const ownId = nodeIdOf(key.publicKey)
  const validators = [
    { name: 'sv-1', key: key.publicKey, nodeId: ownId },
    { name: 'sv-2', key: '', nodeId: 'other' },
  ]
  const own = { name: 'sv-1', url: first.url }
  const unknown = { name: 'sv-9', url: first.url }
  const members = otherMembers([own, node, unknown], { ordering: { validators }, ownId })
  expect(members).toEqual([{ node, nodeId: 'other' }])
  await using reads = createMemberReads({
    genesisHash: 'ab'.repeat(32),
    key,
    trust: null,
    clock: createSystemClock(),
    random: systemRandom,
  })
  const read = async () => {
    for (const member of members)
      await reads
        .read(member, { method: 'commit', params: {} }, new AbortController().signal)
        .catch((error: unknown) => asked.push(String(error)))
  }
  await read()
  url = second.url
  await read()
  const refused = 'Error: sv-2 answers with 503'
  expect(asked).toEqual(['first', refused, 'second', refused])
})
