/** The genesis of tests: a small network with fixed keys, whose rules can be overridden. */
import { type KeyPair, keyPairFromSeed, sha256, sha256Hex, toHex } from '@quorumscan/base'
import { canonicalJson, type Genesis, parseGenesis, utf8 } from '@quorumscan/verifier'

export type TestNetwork = {
  readonly genesis: Genesis
  /** Hex. */
  readonly genesisHash: string
  /** One for each node, in the order of the genesis. */
  readonly operators: readonly KeyPair[]
  readonly scans: readonly KeyPair[]
  readonly synchronizer: KeyPair
}

export const HOUR_MICROS = 3_600_000_000
export const DAY_MICROS = 24 * HOUR_MICROS

const keyPairs = new Map<string, KeyPair>()

/** Made once: a key takes longer than the rest of a network. */
function keyPairOf(seed: string): KeyPair {
  const keyPair = keyPairs.get(seed) ?? keyPairFromSeed(seed)
  keyPairs.set(seed, keyPair)
  return keyPair
}

/** The same key for the same label, always. */
export function testKeyPair(label: string): KeyPair {
  return keyPairOf(toHex(sha256(utf8(`test key ${label}`))))
}

/** A devnet of nodes `sv-1` …, the same for the same options. */
export function createTestNetwork(
  options: {
    /** 4 by default. */
    readonly nodeCount?: number
    /** 0..255: networks with different numbers have different keys and hashes. */
    readonly network?: number
    /** Record time of offset 0, µs since the epoch. */
    readonly recordTime?: number
    readonly devnet?: boolean
    readonly names?: Partial<Genesis['names']>
    readonly coin?: Partial<Genesis['coin']>
    /** The newest by default. */
    readonly protocolVersion?: number
    readonly deduplicationMicrosMax?: number
    readonly activityRetentionMicros?: number
    readonly stateBytesPerDay?: number
  } = {},
): TestNetwork {
  const seed = (role: number, index: number): string =>
    toHex(Uint8Array.of(options.network ?? 0, role, index)).padEnd(64, '0')
  const nodes = Array.from({ length: options.nodeCount ?? 4 }, (_, index) => `sv-${index + 1}`)
  const scans = nodes.map((_, index) => keyPairOf(seed(1, index)))
  const operators = nodes.map((_, index) => keyPairOf(seed(2, index)))
  const synchronizer = keyPairOf(seed(3, 0))
  const genesis = parseGenesis({
    version: 3,
    protocolVersion: options.protocolVersion ?? 4,
    nonce: seed(9, 0),
    recordTime: options.recordTime ?? 1_700_000_000_000_000,
    synchronizerId: `global-domain::1220${'a'.repeat(64)}`,
    ordering: { driver: 'redis', key: synchronizer.publicKey },
    dso: `DSO::1220${'d'.repeat(64)}`,
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
    ...(options.stateBytesPerDay === undefined
      ? {}
      : { stateBytesPerDay: options.stateBytesPerDay }),
  })
  // The same hash as `hashGenesis`, computed synchronously.
  const genesisHash = sha256Hex(utf8(canonicalJson(genesis)))
  return { genesis, genesisHash, operators, scans, synchronizer }
}
