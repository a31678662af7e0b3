/** A small network for tests: fixed keys, devnet, rules that can be overridden. */
import { type KeyPair, keyPairFromSeed, sha256, toHex, utf8 } from '@quorumscan/base'
import { type Genesis, parseGenesis } from '@quorumscan/consensus'
import { genesisHashOf } from '../history.ts'

export type TestNetwork = {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** By node, in the order of the genesis. */
  readonly operators: readonly KeyPair[]
  readonly scans: readonly KeyPair[]
}

export const HOUR_MICROS = 3_600_000_000
export const DAY_MICROS = 24 * HOUR_MICROS

/** The same key for the same label, always. */
export function testKeyPair(label: string): KeyPair {
  return keyPairFromSeed(toHex(sha256(utf8(`test key ${label}`))))
}

export function createTestNetwork(
  options: {
    readonly nodeCount?: number
    readonly devnet?: boolean
    readonly names?: Partial<Genesis['names']>
    readonly coin?: Partial<Genesis['coin']>
    readonly deduplicationMicrosMax?: number
    readonly activityRetentionMicros?: number
  } = {},
): TestNetwork {
  const nodes = Array.from({ length: options.nodeCount ?? 4 }, (_, index) => `sv-${index + 1}`)
  const operators = nodes.map((name) => testKeyPair(`${name} operator`))
  const scans = nodes.map((name) => testKeyPair(`${name} scan`))
  const genesis = parseGenesis({
    version: 1,
    nonce: '5a'.repeat(32),
    recordTime: 1_700_000_000_000_000,
    synchronizerId: `sync::1220${'ab'.repeat(32)}`,
    synchronizerKey: testKeyPair('synchronizer').publicKey,
    dso: `DSO::1220${'cd'.repeat(32)}`,
    nodes: nodes.map((name, index) => ({
      name,
      scanKey: scans[index]?.publicKey,
      operatorKey: operators[index]?.publicKey,
    })),
    devnet: options.devnet ?? true,
    names: {
      entryFeeUsd: '1.0000000000',
      entryLifetimeMicros: 90 * DAY_MICROS,
      renewalDurationMicros: 30 * DAY_MICROS,
      descriptionPrefix: 'ANS entry: ',
      requestLifetimeMicros: DAY_MICROS,
      openRequestsMax: 16,
      ...options.names,
    },
    coin: {
      tickMicros: 600_000_000,
      priceUsd: '0.0050000000',
      rewardPerRound: '10.0000000000',
      ...options.coin,
    },
    deduplicationMicrosMax: options.deduplicationMicrosMax ?? DAY_MICROS,
    activityRetentionMicros: options.activityRetentionMicros ?? 90 * DAY_MICROS,
  })
  return { genesis, genesisHash: genesisHashOf(genesis), operators, scans }
}
