/** The files that the engine reads. All follows from genesis and keys, so that nothing is configured twice. The forms are its own. */
import {
  createKeyPair,
  fromHex,
  type KeyPair,
  MICROS_PER_MS,
  sha256,
  toHex,
} from '@quorumscan/base'
import {
  type CometbftOrdering,
  chainIdOf,
  EVIDENCE_AGE,
  formatInstant,
  type Genesis,
} from '@quorumscan/verifier'
import { BUNDLE_BYTES_MAX } from './bundles.ts'

/**
 * What the engine has signed last, below its home. An engine that votes without it may sign a height twice. Only the
 * command that makes the key makes this file.
 */
export const VOTE_STATE_FILE = 'data/priv_validator_state.json'
/**
 * Below its home: the operator's request that a member votes although it lost the record of what it has signed, because
 * the others cannot order without it. The member deletes the file.
 */
export const FORCE_VOTE_FILE = 'vote-anyway'
/** The vote state of an engine that follows without a vote. */
const FOLLOWING_STATE_FILE = 'data/following_state.json'

export type EngineInput = {
  readonly name: string
  readonly genesis: Pick<Genesis, 'recordTime'>
  readonly ordering: CometbftOrdering
  /** Hex. */
  readonly genesisHash: string
  /** Signs votes; null: the engine follows without one. */
  readonly votingKey: KeyPair | null
  /** What the engine proves to be. */
  readonly nodeKey: KeyPair
  /** Unix sockets: the application's, and the one on which the engine is asked. */
  readonly sockets: { readonly abci: string; readonly engine: string }
  /** `host:port` on which it listens for others. */
  readonly address: string
  /** `id@host:port` */
  readonly peers: readonly string[]
  /** The anchor from which an engine without blocks starts; null: it starts with the first block. */
  readonly stateSync: StateSyncInput | null
}

export type StateSyncInput = {
  readonly height: number
  /** The hash of the block, hex. */
  readonly blockHash: string
  /** Unix sockets, two or more, on each of which the engine of another member is asked. */
  readonly servers: readonly string[]
}

/** Every member's, as each has one vote. */
export const VOTING_POWER = 1
/** Headers, votes of the largest network, and evidence. */
const BLOCK_EXTRA_BYTES = 128 * 1024
const EVIDENCE_BYTES_MAX = 64 * 1024
const ADDRESS_BYTES = 20
/** Bundles of entries that wait for a block. The engine refuses more. */
const MEMPOOL_BUNDLES_MAX = 5000
const MEMPOOL_BYTES_MAX = 32 * 2 ** 20
/** Bundles whose check result is cached. */
const MEMPOOL_CACHE_BUNDLES = 20_000
/** Members of the largest network and full nodes, and connections that are pending (`engine-acceptor.ts`). */
const INBOUND_MAX = 512
/** The time between two searches for what a peer lacks: an idle engine costs little, a block takes several. */
const GOSSIP_SLEEP_MS = 50
const FLUSH_MS = 10
/**
 * Bytes per second for each peer. A block of the largest size arrives within the time for a proposal, because several
 * peers send it at once. A peer that floods others can send less than half of what the engine accepts by default.
 */
const RATE_BYTES = 2 * 2 ** 20
const NANOS_PER_MICRO = 1000n
/**
 * Unlimited: the engine's trust period protects against former members. Here members never change, and f + 1 of them
 * confirm the block on the same day.
 */
const TRUST_PERIOD = '876000h'
/** The minimum: time for peers to list their snapshots. */
const DISCOVERY_TIME = '5s'

/** The id of the engine with this key, hex. */
export function nodeIdOf(publicKey: string): string {
  return toHex(sha256(fromHex(publicKey)).subarray(0, ADDRESS_BYTES))
}

/** Contents by path below the engine's home. All may be written again at any time. */
export function engineFiles(input: EngineInput): Readonly<Record<string, string>> {
  // The engine needs a key even without a vote: a new key has no vote.
  const votingKey = input.votingKey ?? createKeyPair()
  const identity = validatorIdentity(votingKey.publicKey)
  return {
    'config/config.toml': configToml(input),
    'config/genesis.json': json(engineGenesis(input)),
    'config/node_key.json': json({ priv_key: privateKey(input.nodeKey) }),
    'config/priv_validator_key.json': json({ ...identity, priv_key: privateKey(votingKey) }),
    ...(input.votingKey === null ? { [FOLLOWING_STATE_FILE]: voteStateAt(0) } : {}),
  }
}

/** The vote state of a member that has signed nothing above this height; 0 with a new key. */
export function voteStateAt(height: number): string {
  return json({ height: String(height), round: 0, step: 0 })
}

function engineGenesis({ genesis, ordering, genesisHash }: EngineInput) {
  const age = ordering.evidenceAge ?? EVIDENCE_AGE
  return {
    genesis_time: formatInstant(genesis.recordTime),
    chain_id: chainIdOf(genesisHash),
    initial_height: '1',
    consensus_params: {
      block: { max_bytes: String(ordering.blockBytesMax + BLOCK_EXTRA_BYTES), max_gas: '-1' },
      evidence: {
        max_age_num_blocks: String(age.blocks),
        max_age_duration: String(BigInt(age.micros) * NANOS_PER_MICRO),
        max_bytes: String(EVIDENCE_BYTES_MAX),
      },
      validator: { pub_key_types: ['ed25519'] },
      version: { app: '1' },
      abci: { vote_extensions_enable_height: '0' },
    },
    validators: ordering.validators.map(({ name, key }) => ({
      ...validatorIdentity(key),
      power: String(VOTING_POWER),
      name,
    })),
    app_hash: '',
  }
}

function configToml(input: EngineInput): string {
  const { timeouts, validators } = input.ordering
  const ms = (micros: number) => `${micros / MICROS_PER_MS}ms`
  const known = validators.map(({ nodeId }) => nodeId)
  // An engine without a vote has no persistent peers: a member that does not admit it would close the connection, and the
  // engine would redial at once, forever. `engine-watch.ts` dials missing members at a slower pace.
  const votes = input.votingKey !== null
  // A JSON text of plain characters is a TOML text.
  const text = JSON.stringify
  return `moniker = ${text(input.name)}
proxy_app = ${text(`unix://${input.sockets.abci}`)}
filter_peers = true
log_level = "error"
log_format = "json"
priv_validator_state_file = ${text(input.votingKey === null ? FOLLOWING_STATE_FILE : VOTE_STATE_FILE)}

[rpc]
laddr = ${text(`unix://${input.sockets.engine}`)}
unsafe = true

[p2p]
laddr = ${text(`tcp://${input.address}`)}
persistent_peers = ${text(votes ? input.peers.join(',') : '')}
unconditional_peer_ids = ${text(known.join(','))}
private_peer_ids = ${text(known.join(','))}
max_num_inbound_peers = ${INBOUND_MAX}
addr_book_strict = false
allow_duplicate_ip = true
pex = false
flush_throttle_timeout = "${FLUSH_MS}ms"
send_rate = ${RATE_BYTES}
recv_rate = ${RATE_BYTES}

[mempool]
recheck = true
size = ${MEMPOOL_BUNDLES_MAX}
max_txs_bytes = ${MEMPOOL_BYTES_MAX}
cache_size = ${MEMPOOL_CACHE_BUNDLES}
max_tx_bytes = ${BUNDLE_BYTES_MAX}

[consensus]
timeout_propose = "${ms(timeouts.proposeMicros)}"
timeout_propose_delta = "${ms(timeouts.proposeMicros)}"
timeout_prevote = "${ms(timeouts.voteMicros)}"
timeout_prevote_delta = "${ms(timeouts.voteMicros)}"
timeout_precommit = "${ms(timeouts.voteMicros)}"
timeout_precommit_delta = "${ms(timeouts.voteMicros)}"
timeout_commit = "${ms(timeouts.commitMicros)}"
create_empty_blocks = true
create_empty_blocks_interval = "${ms(timeouts.emptyBlockMicros)}"
peer_gossip_sleep_duration = "${GOSSIP_SLEEP_MS}ms"

[tx_index]
indexer = "null"
${stateSyncToml(input.stateSync)}`
}

/** An engine that has blocks passes over it. */
function stateSyncToml(stateSync: StateSyncInput | null): string {
  if (stateSync === null) return ''
  const { height, blockHash, servers } = stateSync
  return `
[statesync]
enable = true
rpc_servers = ${JSON.stringify(servers.map((socket) => `unix://${socket}`).join(','))}
trust_height = ${height}
trust_hash = ${JSON.stringify(blockHash)}
trust_period = "${TRUST_PERIOD}"
discovery_time = "${DISCOVERY_TIME}"
`
}

function validatorIdentity(publicKey: string) {
  const pub_key = { type: 'tendermint/PubKeyEd25519', value: base64(publicKey) }
  return { address: nodeIdOf(publicKey).toUpperCase(), pub_key }
}

function privateKey({ seed, publicKey }: KeyPair) {
  return { type: 'tendermint/PrivKeyEd25519', value: base64(seed + publicKey) }
}

function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
