import { createKeyPair, type KeyPair, systemRandom, toHex } from '@quorumscan/base'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { nodeIdOf } from '../engine-files.ts'
import type { EngineRpc } from '../engine-rpc.ts'
import { signRequest } from './engine-read.ts'
import { createReadAnswers } from './reads.ts'

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
