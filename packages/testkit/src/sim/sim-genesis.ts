import { type KeyPair, keyPairFromSeed } from '@quorumscan/base'
import { type Genesis, parseGenesis } from '@quorumscan/consensus'

const DAY_MICROS = 86_400_000_000

/** A genesis of n nodes `sv-1` …, and their scan keys. The same for the same arguments. */
export function createSimGenesis(options: {
  readonly nodeCount: number
  readonly recordTime: number
  /** 0..255: networks with different numbers have different keys and hashes. */
  readonly network?: number
}): { readonly genesis: Genesis; readonly keyPairs: readonly KeyPair[] } {
  const seed = (role: number, index: number): string =>
    [options.network ?? 0, role, index]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('')
      .padEnd(64, '0')
  const keyPairs = Array.from({ length: options.nodeCount }, (_, index) =>
    keyPairFromSeed(seed(1, index)),
  )
  const party = (hint: string, fill: string): string => `${hint}::1220${fill.repeat(64)}`
  const genesis = parseGenesis({
    version: 1,
    nonce: seed(9, 0),
    recordTime: options.recordTime,
    synchronizerId: party('global-domain', 'a'),
    synchronizerKey: keyPairFromSeed(seed(3, 0)).publicKey,
    dso: party('DSO', 'd'),
    nodes: keyPairs.map((keyPair, index) => ({
      name: `sv-${index + 1}`,
      scanKey: keyPair.publicKey,
      operatorKey: keyPairFromSeed(seed(2, index)).publicKey,
    })),
    devnet: true,
    names: {
      entryFeeUsd: '1.0000000000',
      entryLifetimeMicros: 90 * DAY_MICROS,
      renewalDurationMicros: 30 * DAY_MICROS,
      descriptionPrefix: 'ANS entry: ',
      requestLifetimeMicros: DAY_MICROS,
      openRequestsMax: 16,
    },
    coin: { tickMicros: 600_000_000, priceUsd: '0.0050000000', rewardPerRound: '10.0000000000' },
    deduplicationMicrosMax: DAY_MICROS,
    activityRetentionMicros: 90 * DAY_MICROS,
  })
  return { genesis, keyPairs }
}
