/** What the process is told by its environment. Files are read in `context.ts`. */
import { type Env, type EnvReader, readEnv } from '@quorumscan/base'
import { readAppConfig } from '@quorumscan/http'
import type { Rates } from './budgets.ts'

export type SynchronizerConfig = ReturnType<typeof envToConfig>

/** A client is a participant that submits for all its users: ten times what D-33 gives one of those. */
const RATE_LIMIT_DEFAULT = 2000
/** A fiftieth of what four replicas and a validator can do on two cores: some ten registrations a second. */
const STRANGER_RATE_DEFAULT = 50
/** Enough for the users of a large validator. */
const PEER_RATE_DEFAULT = 500
/** As many registrations a second; one that goes astray slows the others of a small machine by less than half. */
const SV_RATE_DEFAULT = 25
const RATE_MAX = 10_000_000
/** Checkpoints for years, and what the Redis of a small cluster need to rewrite their files. */
const DISK_FREE_MIB_MIN_DEFAULT = 256
const DISK_FREE_MIB_MIN_MAX = 1_048_576

export type EngineConfig = Extract<
  SynchronizerConfig['ordering'],
  { readonly driver: 'cometbft' }
>['engine']

/** @throws {EnvError} That names every missing or bad variable. */
export function envToConfig(env: Env) {
  return readEnv(env, (variables) => {
    const rate = (name: string, fallback: number) =>
      variables.integer(name, { min: 1, max: RATE_MAX, fallback })
    return {
      // The nodes vouch for clock and log: those of the genesis, f + 1 of them or more.
      ...readAppConfig(variables, { rateLimit: RATE_LIMIT_DEFAULT }),
      ordering: readOrdering(variables),
      /** Of the log's Redis, whose disk is watched; null where it is on another machine. */
      logDirectory: variables.optional('QS_LOG_DIRECTORY'),
      /** Below this nothing is written, in MiB. */
      diskFreeMibMin: variables.integer('QS_DISK_FREE_MIB_MIN', {
        min: 0,
        max: DISK_FREE_MIB_MIN_MAX,
        fallback: DISK_FREE_MIB_MIN_DEFAULT,
      }),
      /** Units of entries a second (`budgets.ts`). */
      entryRates: {
        stranger: rate('QS_STRANGER_ENTRY_RATE', STRANGER_RATE_DEFAULT),
        peer: rate('QS_PEER_ENTRY_RATE', PEER_RATE_DEFAULT),
        superValidator: rate('QS_SV_ENTRY_RATE', SV_RATE_DEFAULT),
      } satisfies Rates,
      /** Tokens of peers, who follow the log and may submit more, one a line; null: there are none. */
      peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE'),
    }
  })
}

/** Which of the two it is stands in the genesis; here is what each needs. */
function readOrdering(variables: EnvReader) {
  const home = variables.optional('QS_ENGINE_HOME')
  if (home === null)
    return {
      driver: 'redis' as const,
      /** The log's own. */
      redis: {
        path: variables.text('QS_LOG_REDIS'),
        passwordFile: variables.text('QS_LOG_REDIS_PASSWORD_FILE'),
      },
      /** Hex seed of the key that the genesis names for the synchronizer. */
      keyFile: variables.text('QS_KEY_FILE'),
    }
  return {
    driver: 'cometbft' as const,
    /** The operator's. */
    redisPath: variables.text('QS_REDIS'),
    engine: {
      /** What it keeps: its blocks, and what it has signed. */
      home,
      program: variables.text('QS_COMETBFT', 'cometbft'),
      /** Beginning of the paths of two unix sockets, which end at 107 bytes. */
      sockets: variables.text('QS_ENGINE_SOCKETS'),
      /** `host:port` on which it listens for other engines. */
      address: variables.text('QS_ENGINE_ADDRESS'),
      /** `id@host:port` of the other members' engines. */
      peers: variables.parsed('QS_ENGINE_PEERS', parsePeers),
      /** Hex seeds: what the engine proves to be, and what it votes with; null: it follows without a vote. */
      nodeKeyFile: variables.text('QS_ENGINE_KEY_FILE'),
      votingKeyFile: variables.optional('QS_VOTING_KEY_FILE'),
    },
    /** Ids of engines without a vote that may connect. */
    followers: variables.parsed('QS_ENGINE_FOLLOWERS', parseIds),
  }
}

function parsePeers(text: string): readonly string[] {
  return parseList(text, /^[0-9a-f]{40}@[!-~]+:[0-9]{1,5}$/, 'id@host:port')
}

function parseIds(text: string): readonly string[] {
  return parseList(text, /^[0-9a-f]{40}$/, 'id of an engine')
}

function parseList(text: string, pattern: RegExp, what: string): readonly string[] {
  const items = text.split(',').filter((item) => item !== '')
  const wrong = items.find((item) => !pattern.test(item))
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} is no ${what}`)
  return items
}
