/** What the process is told by its environment. Files are read in `context.ts`. */
import { type Env, readEnv } from '@quorumscan/base'
import { type Peer, parsePeers } from '@quorumscan/http'
import type { Rates } from './budgets.ts'

export type SynchronizerConfig = {
  readonly genesisFile: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly logLevel: string
  readonly logRedis: { readonly path: string; readonly passwordFile: string }
  /** Hex seed of the key that the genesis names for the synchronizer. */
  readonly keyFile: string
  /** Of the log's Redis, whose disk is watched; null where it is on another machine. */
  readonly logDirectory: string | null
  /** Below this nothing is written, in MiB. */
  readonly diskFreeMibMin: number
  /** Nodes of the genesis with their addresses, f + 1 of them or more: they vouch for clock and log. */
  readonly nodes: readonly Peer[]
  /** Requests a second for each client address (D-33). */
  readonly rateLimit: number
  /** Units of entries a second (`budgets.ts`). */
  readonly entryRates: Rates
  /** Tokens of peers, one a line; null: there are none. */
  readonly peerTokensFile: string | null
  /** Where traces are sent (OTLP over HTTP); absent or null for nowhere. */
  readonly tracesEndpoint?: string | null
}

/** A client is a participant that submits for all its users: ten times what D-33 gives one of those. */
const RATE_LIMIT_DEFAULT = 2000
/** A fiftieth of what four replicas and a validator can do on two cores: some ten registrations a second. */
const STRANGER_RATE_DEFAULT = 50
/** Enough for the users of a large validator. */
const PEER_RATE_DEFAULT = 500
/** As many registrations a second; one that goes astray slows the others of a small machine by less than half. */
const SV_RATE_DEFAULT = 25
const RATE_LIMIT_MAX = 10_000_000
/** Checkpoints for years, and what the Redis of a small cluster need to rewrite their files. */
const DISK_FREE_MIB_MIN_DEFAULT = 256
const DISK_FREE_MIB_MIN_MAX = 1_048_576

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env): SynchronizerConfig {
  return readEnv(env, (variables) => {
    const rate = (name: string, fallback: number) =>
      variables.integer(name, { min: 1, max: RATE_LIMIT_MAX, fallback })
    return {
      genesisFile: variables.text('QS_GENESIS'),
      host: variables.text('QS_HOST', '127.0.0.1'),
      port: variables.integer('QS_PORT', { min: 0, max: 65_535 }),
      logLevel: variables.text('QS_LOG_LEVEL', 'info'),
      tracesEndpoint: variables.optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
      logRedis: {
        path: variables.text('QS_LOG_REDIS'),
        passwordFile: variables.text('QS_LOG_REDIS_PASSWORD_FILE'),
      },
      logDirectory: variables.optional('QS_LOG_DIRECTORY'),
      diskFreeMibMin: variables.integer('QS_DISK_FREE_MIB_MIN', {
        min: 0,
        max: DISK_FREE_MIB_MIN_MAX,
        fallback: DISK_FREE_MIB_MIN_DEFAULT,
      }),
      keyFile: variables.text('QS_KEY_FILE'),
      nodes: variables.parsed('QS_NODES', parsePeers),
      rateLimit: rate('QS_RATE_LIMIT', RATE_LIMIT_DEFAULT),
      entryRates: {
        stranger: rate('QS_STRANGER_ENTRY_RATE', STRANGER_RATE_DEFAULT),
        peer: rate('QS_PEER_ENTRY_RATE', PEER_RATE_DEFAULT),
        superValidator: rate('QS_SV_ENTRY_RATE', SV_RATE_DEFAULT),
      },
      peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE'),
    }
  })
}
