import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { synchronizerRoutes } from '@quorumscan/api'
import { createSystemClock, type KeyPair, toHex, utf8 } from '@quorumscan/base'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import { createLogger } from '@quorumscan/runtime'
import { createEvidenceStore } from '@quorumscan/scan-proxy'
import { buildServer } from '@quorumscan/server'
import {
  createDirectory,
  createTestNetwork,
  send,
  startRedis,
  testKeyPair,
  untilTrue,
} from '@quorumscan/testkit'
import { openValidatorStore, type StoredText } from '@quorumscan/users'
import {
  chainIdOf,
  type Evidence,
  encodeStateStatement,
  hashGenesis,
  parseGenesis,
  verifyEvidence,
} from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { startValidator } from '../server.ts'

const { genesis, genesisHash, scans } = createTestNetwork({ nodeCount: 4 })

const signed = (offset: number, word: string) => {
  const statement = encodeStateStatement({
    genesisHash,
    offset,
    recordTime: offset,
    historyHash: 'ab'.repeat(32),
    stateRoot: word.repeat(32),
  })
  const signature = scans[1]?.sign(statement) ?? new Uint8Array()
  return { statement: toHex(statement), signature: toHex(signature) }
}
/** A statement of sv-2 for an offset. */
const signs = (offset: number, word: string, other: string): Evidence => ({
  signer: 'sv-2',
  statements: [signed(offset, word), signed(offset, other)],
})

function keeper(store: StoredText) {
  const alarms: string[] = []
  const created = createEvidenceStore({
    store,
    onFound: (evidence) => alarms.push(evidence.signer),
    onUnsaved: () => alarms.push('unsaved'),
  })
  return { created, alarms }
}

describe('evidence', () => {
  it('is found once, raises an alarm, and survives a restart', async () => {
    await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
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

  it('is written with the next piece if the store was down', async () => {
    let isAway = true
    let kept: string | null = null
    const store: StoredText = {
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

describe('evidence of the synchronizer', () => {
  const voters = genesis.nodes.map(({ name }) => testKeyPair(`vote of ${name}`))
  const ordered = parseGenesis({
    ...genesis,
    ordering: {
      driver: 'cometbft',
      validators: genesis.nodes.map(({ name }, index) => ({
        name,
        key: voters[index]?.publicKey,
        nodeId: testKeyPair(`engine of ${name}`).publicKey.slice(0, 40),
      })),
      timeouts: {
        proposeMicros: 500_000,
        voteMicros: 200_000,
        commitMicros: 100_000,
        emptyBlockMicros: 1_000_000,
      },
      blockBytesMax: 512 * 1024,
      blockContractsMax: 4096,
    },
  })

  /** A prevote at height 7 for the block, as the engine has its members sign it. */
  const votes = async (block: string, key: KeyPair) => {
    const field = (tag: number, bytes: Uint8Array) => [tag, bytes.byteLength, ...bytes]
    const vote = [
      0x08,
      1,
      0x11,
      7,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      ...field(0x22, utf8(block)),
      ...field(0x2a, new Uint8Array()),
      ...field(0x32, utf8(chainIdOf(await hashGenesis(ordered)))),
    ]
    const statement = Uint8Array.of(vote.length, ...vote)
    return { statement: toHex(statement), signature: toHex(key.sign(statement)) }
  }
  /** Evidence that sv-3 voted for two blocks, signed with this key. */
  const voted = async (key: KeyPair | undefined, one: string, other: string): Promise<Evidence> => {
    const by = key as KeyPair // Defined: the key of one of the four members.
    return { signer: 'sv-3', statements: [await votes(one, by), await votes(other, by)] }
  }

  it('is listed once verified, also next to forged evidence, and is fetched again', async () => {
    await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    using directory = createDirectory()
    const file = async (name: string, text: string) => {
      await writeFile(join(directory.path, name), text, { mode: 0o600 })
      return join(directory.path, name)
    }
    const forged: Evidence[] = [
      await voted(voters[1], 'a', 'b'),
      await voted(voters[2], 'a', 'a'),
      { ...(await voted(voters[2], 'a', 'b')), signer: 'sv-2' },
    ]
    const listed = [...forged, await voted(voters[2], 'a', 'b')]
    let askedCount = 0
    const { listOrderingEvidence } = synchronizerRoutes
    const synchronizer = buildServer({
      routes: { listOrderingEvidence },
      handlers: {
        listOrderingEvidence: async () => {
          askedCount++
          return { body: utf8(JSON.stringify({ evidence: listed })) }
        },
      },
      prefix: null,
      rateLimit: null,
    })
    const url = await synchronizer.listen({ host: '127.0.0.1', port: 0 })
    const system = createSystemClock()
    const seeds: string[] = ['http://127.0.0.1:9']
    const config = {
      genesisFile: await file('genesis', JSON.stringify(ordered)),
      redis: { place: { path: redis.socketPath } },
      host: '127.0.0.1',
      port: 0,
      logLevel: 'silent',
      tracesEndpoint: null,
      peersFile: null,
      connections: PLAIN_CONNECTIONS,
      nodes: [],
      log: {
        url,
        tokenFile: await file('peer', 'a-token-of-this-validator-alone'),
        certificate: null,
      },
      rateLimit: 100_000,
      seeds,
      audience: 'validator',
      participantKeyFile: await file('participant', testKeyPair('participant').seed),
      tokens: { kind: 'shared-secret', secretFile: await file('jwt', testKeyPair('jwt').seed) },
      tokenLifetimeSecondsMax: null,
      nodeTokensFile: null,
      allowPrivateAddresses: true,
      isLossAccepted: false,
      networkName: 'localnet',
      trustRule: null,
    } as const
    const logger = createLogger({ name: 'validator', level: 'silent' })
    // A paused loop continues at once.
    const clock = {
      ...system,
      delay: (ms: number, signal?: AbortSignal) => system.delay(Math.min(ms, 20), signal),
    }
    const validator = await startValidator(config, { logger, clock })
    const listing = async (): Promise<Evidence[]> =>
      (await send(`${validator.url}/v0/scan-proxy/evidence`)).body.evidence
    /** The validator has processed what it received. */
    const askedAgain = async () => {
      const seen = askedCount
      await untilTrue('it to ask twice more', () => askedCount > seen + 1)
    }
    try {
      await askedAgain()
      expect(await listing()).toEqual(listed.slice(-1))
      const later = await voted(voters[2], 'c', 'd')
      listed.unshift(later)
      await askedAgain()
      expect(await listing()).toEqual([listed.at(-1), later])
    } finally {
      await validator[Symbol.asyncDispose]()
      await synchronizer.close()
    }
  })
})
