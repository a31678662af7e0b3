import { toHex } from '@quorumscan/base'
import { type Evidence, encodeStateStatement, verifyEvidence } from '@quorumscan/consensus'
import { ScanError } from '@quorumscan/errors'
import { createTestNetwork, startRedis } from '@quorumscan/testkit'
import { type KeptText, ValidatorStore } from '@quorumscan/users'
import { describe, expect, it } from 'vitest'
import { createEvidenceKeeper } from './evidence.ts'

const { genesis, genesisHash, scans } = createTestNetwork({ nodeCount: 4 })

const signed = (offset: number, word: string) => {
  const statement = encodeStateStatement({
    ...{ genesisHash, offset, recordTime: offset },
    historyHash: 'ab'.repeat(32),
    stateRoot: word.repeat(32),
  })
  const signature = scans[1]?.sign(statement) ?? new Uint8Array()
  return { statement: toHex(statement), signature: toHex(signature) }
}
/** What sv-2 signed about an offset. */
const signs = (offset: number, word: string, other: string): Evidence => ({
  signer: 'sv-2',
  statements: [signed(offset, word), signed(offset, other)],
})

function keeper(store: KeptText) {
  const alarms: string[] = []
  const created = createEvidenceKeeper({
    store,
    onFound: (evidence) => alarms.push(evidence.signer),
    onUnsaved: () => alarms.push('unsaved'),
  })
  return { created, alarms }
}

describe('evidence', () => {
  it('is found once, raises an alarm, and is still there after a restart', async () => {
    await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    await using store = await ValidatorStore.create({ path: redis.socketPath, genesisHash })
    const before = keeper(store.evidence)
    {
      await using evidence = await before.created
      for (const word of ['bb', 'bb', 'cc']) evidence.note(signs(3, 'aa', word))
      expect(before.alarms).toEqual(['sv-2', 'sv-2'])
    }
    const after = keeper(store.evidence)
    await using evidence = await after.created
    evidence.note(signs(3, 'aa', 'cc'))
    evidence.note(signs(5, 'aa', 'bb'))
    expect(after.alarms).toEqual(['sv-2'])
    const proven = await Promise.all(
      evidence.list().map((found) => verifyEvidence(found, { genesis })),
    )
    expect(proven).toEqual([3, 3, 5].map((offset) => ({ signer: 'sv-2', kind: 'state', offset })))
  })

  it('is written with the next find if the store was away', async () => {
    let isAway = true
    let kept: string | null = null
    const store: KeptText = {
      load: async () => kept,
      save: async (text) => {
        if (isAway) throw new ScanError('DEPENDENCY_UNAVAILABLE', 'away')
        kept = text
      },
    }
    const { created, alarms } = keeper(store)
    const evidence = await created
    evidence.note(signs(1, 'aa', 'bb'))
    await evidence[Symbol.asyncDispose]()
    expect(alarms).toEqual(['sv-2', 'unsaved'])
    isAway = false
    evidence.note(signs(2, 'aa', 'bb'))
    await evidence[Symbol.asyncDispose]()
    expect(JSON.parse(kept ?? '[]')).toEqual(evidence.list())
    expect(evidence.list()).toHaveLength(2)
  })
})
