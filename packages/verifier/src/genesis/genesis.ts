/**
 * The genesis document (D-34, D-41): the fixed set of members with their keys, and every rule of the
 * network. Its hash is what wallets pin. A change of members is a new genesis.
 */
export type GenesisNode = {
  /** `[a-z0-9-]{1,32}` (D-33). */
  readonly name: string
  /** Ed25519 public keys, 64 lower-case hex digits. `scan` signs states, `operator` submissions. */
  readonly scanKey: string
  readonly operatorKey: string
}

/** The ordering driver, and the keys that prove its order. */
export type GenesisOrdering = RedisOrdering | CometbftOrdering

/** One synchronizer, which signs groups of the log with this Ed25519 key. */
type RedisOrdering = { readonly driver: 'redis'; readonly key: string }

/**
 * All members together, by CometBFT: any f of them may fail. A group proves nothing to others, so each follower reads
 * the log of its own operator's synchronizer.
 */
export type CometbftOrdering = {
  readonly driver: 'cometbft'
  /** CometBFT's term: the ordering members, one for each node, in the same order. Not the validators of the network. */
  readonly validators: readonly {
    /** The node's. */
    readonly name: string
    /** Ed25519, hex: signs votes on blocks, and is used for nothing else. */
    readonly key: string
    /** 20 bytes, hex: what its engine proves to be when another one connects. */
    readonly nodeId: string
  }[]
  /** The same for all members. CometBFT increases the timeouts of propose and vote with each round. */
  readonly timeouts: {
    readonly proposeMicros: number
    /** For prevotes, and for precommits. */
    readonly voteMicros: number
    /** How long a member waits after a block. Late votes and new log entries go into the next block. */
    readonly commitMicros: number
    /** The time between blocks while no log entries wait. */
    readonly emptyBlockMicros: number
  }
  /** The size of the group that a block makes. */
  readonly blockBytesMax: number
  /** Contracts that the entries of a block name, summed. */
  readonly blockContractsMax: number
  /** Absent: `EVIDENCE_AGE`. */
  readonly evidenceAge?: EvidenceAge
}

/** How long two block votes for one step are evidence, and engines store blocks: until both bounds have passed. */
export type EvidenceAge = {
  readonly micros: number
  readonly blocks: number
}

/** Two days: enough time for an operator to see the evidence. */
export const EVIDENCE_AGE: EvidenceAge = { micros: 172_800_000_000, blocks: 100_000 }

/** All durations in microseconds, decimals as strings with 10 fractional digits. */
export type Genesis = {
  /** The version of this form. */
  readonly version: 3
  /** The version of the protocol that the network begins with; super-validators vote for later ones (D-67). */
  readonly protocolVersion: number
  /** 32 random bytes, hex: no two networks share a genesis hash. */
  readonly nonce: string
  /** Record time of offset 0, µs since the epoch. */
  readonly recordTime: number
  readonly synchronizerId: string
  readonly ordering: GenesisOrdering
  /** The operator party, `DSO::1220…`. No process holds its key (D-29). */
  readonly dso: string
  readonly nodes: readonly GenesisNode[]
  /** Whether `tap` works (D-18). */
  readonly devnet: boolean
  readonly names: {
    readonly entryFeeUsd: string
    readonly entryLifetimeMicros: number
    readonly renewalDurationMicros: number
    readonly descriptionPrefix: string
    /** The age from which an unpaid request may be expired (D-17). */
    readonly requestLifetimeMicros: number
    /** Requests that one party may have open at a time, 1 to 1000 (D-17). */
    readonly openRequestsMax: number
  }
  readonly coin: {
    readonly tickMicros: number
    readonly priceUsd: string
    /** Coin for each super-validator when a round closes. */
    readonly rewardPerRound: string
  }
  /** Longest deduplication period (D-29), not below `NOT_AFTER_MICROS_MAX`. */
  readonly deduplicationMicrosMax: number
  /** D-25. */
  readonly activityRetentionMicros: number
  /**
   * Bytes that the entries of a participant key may add to the state in a day of record time, from version 4 of the
   * protocol on (D-94). Absent: `STATE_BYTES_PER_DAY`.
   */
  readonly stateBytesPerDay?: number
}

/** 32 MiB: some ten thousand registrations, and 1 GiB a month at most. */
export const STATE_BYTES_PER_DAY = 33_554_432

/**
 * µs of record time that the `notAfter` of a submission may lie ahead (Rule 4): bounds the seen set. No
 * deduplication period may be limited to less, or a command could take effect twice in that time.
 */
export const NOT_AFTER_MICROS_MAX = 600_000_000

export class GenesisError extends Error {
  override readonly name = 'GenesisError'
}

/** f: how many of n nodes may lie (D-34). */
export function maxFaulty(nodeCount: number): number {
  return Math.floor((nodeCount - 1) / 3)
}

/** q: confirmations that an operator action needs, and the `strong` threshold (D-23, D-36). */
export function quorumOf(nodeCount: number): number {
  return Math.ceil((nodeCount + maxFaulty(nodeCount) + 1) / 2)
}

/** How many of n members that order together must vote on a block: more than two thirds, as CometBFT counts. */
export function blockQuorumOf(memberCount: number): number {
  return Math.floor((2 * memberCount) / 3) + 1
}
