/** Makes the genesis document of a new cluster, with the defaults of D-18. */
import { fromHex, type Random, randomHex, sha256, toHex, utf8 } from '@quorumscan/base'
import {
  type CometbftOrdering,
  canonicalJson,
  type Genesis,
  type GenesisNode,
  type GenesisOrdering,
  parseGenesis,
} from '@quorumscan/consensus'
import type { LogGenesis } from '@quorumscan/log'
import { participantOfKey } from '@quorumscan/model'
import { ClusterError, messageOf } from './cluster-error.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** How a log is ordered. */
export const ORDERING_DRIVERS = ['redis', 'cometbft'] as const
export type OrderingDriver = (typeof ORDERING_DRIVERS)[number]

/** The rules that a cluster may start with other values of, e.g. seconds instead of days. */
export type GenesisOverrides = {
  readonly devnet?: boolean
  readonly names?: Partial<Genesis['names']>
  readonly coin?: Partial<Genesis['coin']>
  readonly deduplicationMicrosMax?: number
  readonly activityRetentionMicros?: number
}

export type GenesisInput = {
  readonly nodes: readonly GenesisNode[]
  readonly ordering: GenesisOrdering
  readonly recordTime: number
  readonly overrides: GenesisOverrides
  readonly random: Random
}

/** @throws {ClusterError} If the overrides make no valid genesis document; it names the member. */
export function createGenesis(input: GenesisInput): Genesis {
  const { overrides } = input
  const nonce = randomHex(input.random, 32)
  const document = {
    version: 2,
    nonce,
    recordTime: input.recordTime,
    synchronizerId: `synchronizer::${synchronizerDigits(input.ordering, nonce)}`,
    ordering: input.ordering,
    // Nobody holds its key (D-29): the digits are no hash of a key but of the nonce.
    dso: `DSO::1220${toHex(sha256(utf8('quorumscan/dso/1\0'), fromHex(nonce)))}`,
    nodes: input.nodes,
    devnet: true,
    deduplicationMicrosMax: DAY,
    activityRetentionMicros: 90 * DAY,
    ...overrides,
    names: {
      entryFeeUsd: '1.0000000000',
      entryLifetimeMicros: 90 * DAY,
      renewalDurationMicros: 30 * DAY,
      descriptionPrefix: 'ANS entry: ',
      requestLifetimeMicros: DAY,
      openRequestsMax: 16,
      ...overrides.names,
    },
    coin: {
      tickMicros: 10 * MINUTE,
      priceUsd: '0.0050000000',
      rewardPerRound: '10.0000000000',
      ...overrides.coin,
    },
  }
  const protectedMembers = ['version', 'nonce', 'recordTime', 'synchronizerId', 'ordering']
  const forbidden = [...protectedMembers, 'dso', 'nodes'].find((member) => member in overrides)
  if (forbidden !== undefined)
    throw new ClusterError(`the genesis overrides may not set "${forbidden}"`)
  try {
    return parseGenesis(document)
  } catch (error) {
    throw new ClusterError(`the genesis overrides do not fit: ${messageOf(error)}`)
  }
}

/** Of its key; where all members order together nobody has one. */
function synchronizerDigits(ordering: GenesisOrdering, nonce: string): string {
  if (ordering.driver === 'redis') return participantOfKey(ordering.key)
  return `1220${toHex(sha256(utf8('quorumscan/synchronizer/1\0'), fromHex(nonce)))}`
}

/**
 * All of these order together, on one machine: a block takes a tenth of a second there, and three tenths without a
 * proposal mean that its proposer is away. An idle network makes a block every three seconds: its time runs up to one
 * such interval behind, and readers ask another node about answers older than twelve.
 */
export function cometbftOrdering(validators: CometbftOrdering['validators']): CometbftOrdering {
  return {
    driver: 'cometbft',
    validators,
    timeouts: {
      proposeMicros: 300_000,
      voteMicros: 200_000,
      commitMicros: 100_000,
      emptyBlockMicros: 3 * SECOND,
    },
    blockBytesMax: 512 * 1024,
    blockContractsMax: 4096,
  }
}

/** SHA-256 of the RFC 8785 form, hex (D-41). */
export function hashGenesis(genesis: Genesis): string {
  return toHex(sha256(utf8(canonicalJson(genesis))))
}

/** What the log is verified against. */
export function logGenesisOf(genesis: Genesis): LogGenesis {
  const { recordTime, ordering } = genesis
  return { hash: hashGenesis(genesis), recordTime, ordering }
}
