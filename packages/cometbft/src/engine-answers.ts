/**
 * What this software reads of the engine's answers. The forms are the engine's: each is parsed here, once, and nothing else
 * knows them. The engine repeats what other engines say about themselves, so their parts may have any value.
 *
 * @throws {ZodError} (each function) If the engine answers something else.
 */
import { z } from 'zod'

/** Go writes an empty list as null, or leaves it out. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? [])

const height = z.string().regex(/^\d+$/).transform(Number)

const status = z.object({
  sync_info: z.object({
    earliest_block_height: height,
    latest_block_height: height,
    latest_block_time: z.string(),
    catching_up: z.boolean(),
  }),
})

/** Of `status`. */
export function readStatus(answer: unknown) {
  const { sync_info: sync } = status.parse(answer)
  return {
    /** The height of the first block that the engine has; 0: it has none. */
    earliest: sync.earliest_block_height,
    latest: sync.latest_block_height,
    /** RFC 3339. */
    latestTime: sync.latest_block_time,
    /** It fetches blocks that others decided. */
    isCatchingUp: sync.catching_up,
  }
}

const netInfo = z.object({ peers: listOf(z.object({ node_info: z.object({ id: z.string() }) })) })

/** The ids of the connected engines, of `net_info`. */
export function readPeerIds(answer: unknown): readonly string[] {
  return netInfo.parse(answer).peers.map(({ node_info }) => node_info.id)
}

const consensusState = z.object({
  peers: listOf(
    z.object({
      /** `id@host:port`; the port is the one from which it dialed. */
      node_address: z.string(),
      peer_state: z
        .object({ round_state: z.object({ height: z.unknown().optional() }).optional() })
        .nullish(),
    }),
  ),
})

/** The engine of another member, as this one is connected with it. */
export type ConnectedEngine = {
  readonly id: string
  /** From which it dialed. */
  readonly port: number
  /** That it works on, as it says; null: it says no height. */
  readonly height: number | null
}

/** Of `dump_consensus_state`. */
export function readConnectedEngines(answer: unknown): readonly ConnectedEngine[] {
  return consensusState.parse(answer).peers.map(({ node_address: address, peer_state }) => {
    const claimed = Number(peer_state?.round_state?.height ?? Number.NaN)
    return {
      id: idOfAddress(address),
      port: Number(/\d+$/.exec(address)),
      height: Number.isSafeInteger(claimed) ? claimed : null,
    }
  })
}

/** The id in `id@host:port`. */
export function idOfAddress(address: string): string {
  return address.slice(0, address.indexOf('@'))
}

const commit = z.object({
  signed_header: z.object({ commit: z.object({ block_id: z.object({ hash: z.string() }) }) }),
})

/** The hash of a block, lower-case hex, of its `commit`. */
export function readBlockHash(answer: unknown): string {
  return commit.parse(answer).signed_header.commit.block_id.hash.toLowerCase()
}

const header = z.object({ header: z.object({ time: z.string() }) })

/** The time of a block, RFC 3339, of its `header`. */
export function readBlockTime(answer: unknown): string {
  return header.parse(answer).header.time
}

const admission = z.object({ code: z.number(), log: z.string().default('') })

/** Of `broadcast_tx_sync`. @returns Code 0: the engine keeps the transaction. `log` says why it does not. */
export function readAdmission(answer: unknown) {
  return admission.parse(answer)
}

const signedVote = z.object({
  type: z.number(),
  height: z.string(),
  round: z.number(),
  /** Hex; of a vote for no block the hash is empty. */
  block_id: z.object({
    hash: z.string(),
    parts: z.object({ total: z.number(), hash: z.string() }),
  }),
  /** RFC 3339, with as many digits as it takes, nine at most. */
  timestamp: z.string(),
  /** Hex. */
  validator_address: z.string(),
  /** Base64. */
  signature: z.string(),
})

export type SignedVote = z.infer<typeof signedVote>

/** The type of evidence of two votes that the engine writes into blocks. */
const DUPLICATE_VOTE = 'tendermint/DuplicateVoteEvidence'
const duplicateVote = z.object({ vote_a: signedVote, vote_b: signedVote })
const evidence = z.object({ type: z.string(), value: z.unknown() })
const block = z.object({
  block: z.object({
    evidence: z.object({ evidence: listOf(evidence) }),
  }),
})

/** The pairs of votes of one member in one step that a block reports, of the `block`. */
export function readDuplicateVotes(
  answer: unknown,
): readonly (readonly [SignedVote, SignedVote])[] {
  return block
    .parse(answer)
    .block.evidence.evidence.filter(({ type }) => type === DUPLICATE_VOTE)
    .map(({ value }) => {
      const { vote_a, vote_b } = duplicateVote.parse(value)
      return [vote_a, vote_b] as const
    })
}
