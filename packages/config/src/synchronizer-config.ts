/** Reads the configuration of a synchronizer from environment variables. `context.ts` reads the files. */
import {
  assertCertificate,
  type Env,
  type EnvReader,
  type NoteVariable,
  parseKeyFile,
  readEnv,
} from '@quorumscan/base'
import { type RedisConfig, readOwnRedis, readRedis, usesSentinels } from '@quorumscan/redis'
import { parsePeerTokens } from '@quorumscan/runtime'
import { type AppConfig, readAppConfig, readEnginePeers, readNodeTokens } from './app-config.ts'
import { assertAddress } from './connections-config.ts'

export type SynchronizerConfig = ReturnType<typeof readSynchronizerConfig>
export type Rates = SynchronizerConfig['entryRates']

/** A client is a participant that submits for all its users: ten times what D-33 gives one of those. */
const RATE_LIMIT_DEFAULT = 2000
/** A fiftieth of the capacity of four replicas and a validator on two cores: some ten registrations per second. */
const ANONYMOUS_RATE_DEFAULT = 50
/** Enough for the users of a large validator. */
const PEER_RATE_DEFAULT = 500
/** About 25 registrations per second. At this rate, a faulty super-validator slows the others by less than half. */
const SV_RATE_DEFAULT = 25
const RATE_MAX = 10_000_000
/** Space for years of checkpoints, and for the rewrites of the Redis files of a small cluster. */
const DISK_FREE_MIB_MIN_DEFAULT = 256
const DISK_FREE_MIB_MIN_MAX = 1_048_576

/** A node that was down for less than a day continues from its own head. */
const LOG_KEEP_SECONDS_DEFAULT = 86_400
/** A hundred years: for ever. */
const LOG_KEEP_SECONDS_MAX = 3_155_760_000

export type EngineConfig = Extract<
  SynchronizerConfig['ordering'],
  { readonly driver: 'cometbft' }
>['engine']

/** @throws {EnvError} That names every missing or bad variable. */
export function readSynchronizerConfig(env: Env, note?: NoteVariable) {
  return readEnv(
    env,
    (variables) => {
      const rate = (name: string, whose: string, fallback: number) =>
        variables.integer(name, {
          about: `units of entries per second that the log accepts from ${whose}`,
          example: '100',
          range: [1, RATE_MAX],
          fallback,
        })
      return {
        // The nodes of the genesis confirm clock and log: f + 1 of them or more.
        ...withClientCertificates(readAppConfig(variables, RATE_LIMIT_DEFAULT), variables),
        ordering: readOrdering(variables),
        logDirectory: variables.optional('QS_LOG_DIRECTORY', {
          about:
            'the directory of the Redis with the log, whose disk is watched; not set if this Redis is on another machine',
          example: '/var/lib/quorumscan/redis/sv-1',
        }),
        diskFreeMibMin: variables.integer('QS_DISK_FREE_MIB_MIN', {
          about:
            'the synchronizer refuses entries if the disk of QS_LOG_DIRECTORY has less free space, in MiB',
          example: '1024',
          range: [0, DISK_FREE_MIB_MIN_MAX],
          fallback: DISK_FREE_MIB_MIN_DEFAULT,
        }),
        logKeepSeconds: variables.integer('QS_LOG_KEEP_SECONDS', {
          about:
            'seconds of the log that stay before the newest snapshot that a quorum of nodes has',
          example: '604800',
          range: [0, LOG_KEEP_SECONDS_MAX],
          fallback: LOG_KEEP_SECONDS_DEFAULT,
        }),
        /** Units of entries per second (`budgets.ts`). */
        entryRates: {
          /** The rate of an anonymous client's address. All of them together have four times as much. */
          anonymous: rate(
            'QS_STRANGER_ENTRY_RATE',
            'each address without a token, and four times as much from all of them together',
            ANONYMOUS_RATE_DEFAULT,
          ),
          /** The rate of a peer, and of the engine of another member. */
          peer: rate(
            'QS_PEER_ENTRY_RATE',
            'each peer with a token, and from the engine of each other member',
            PEER_RATE_DEFAULT,
          ),
          /** The rate of the operator key of a super-validator. */
          superValidator: rate(
            'QS_SV_ENTRY_RATE',
            'each super-validator, by its operator key',
            SV_RATE_DEFAULT,
          ),
        },
        peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE', {
          about:
            'a file of tokens, one per line, of peers, which follow the log and may submit more; read again every 2 s',
          example: '/etc/quorumscan/peer-tokens',
          file: parsePeerTokens,
        }),
        nodeTokensFile: readNodeTokens(variables),
      }
    },
    note,
  )
}

function withClientCertificates(config: AppConfig, variables: EnvReader): AppConfig {
  const clientCaFile = variables.optional('QS_TLS_CLIENT_CA', {
    about:
      'certificates (PEM) of the authorities of peers, which follow the log and may submit more, as with a token; needs QS_TLS_CERT',
    example: '/etc/quorumscan/followers-ca.pem',
    file: assertCertificate,
  })
  const { tls } = config.connections
  if (clientCaFile === null) return config
  if (tls === null) {
    variables.problem({
      variable: 'QS_TLS_CLIENT_CA',
      place: 'value',
      why: 'clients show certificates only by TLS; set QS_TLS_CERT',
    })
    return config
  }
  return { ...config, connections: { ...config.connections, tls: { ...tls, clientCaFile } } }
}

/** The variables of each driver. The genesis says which one is in force. */
function readOrdering(variables: EnvReader) {
  const home = variables.optional('QS_ENGINE_HOME', {
    about:
      'the directory for blocks and vote state of its engine; not set where one synchronizer orders',
    example: '/var/lib/quorumscan/engines/sv-1',
  })
  if (home === null)
    return {
      driver: 'redis' as const,
      /** The log's own. */
      redis: readLogRedis(variables),
      keyFile: variables.text('QS_KEY_FILE', {
        about: 'the file of the key that signs the log (a seed in hex)',
        example: '/var/lib/quorumscan/keys/synchronizer',
        file: parseKeyFile,
      }),
    }
  return {
    driver: 'cometbft' as const,
    /** The operator's. */
    redis: readOwnRedis(variables),
    engine: {
      /** The directory of its blocks, and of its record of signed votes. */
      home,
      program: variables.text('QS_COMETBFT', {
        about: 'the engine, CometBFT',
        example: '/usr/local/bin/cometbft',
        fallback: 'cometbft',
      }),
      sockets: variables.text('QS_ENGINE_SOCKETS', {
        about: 'the prefix of the paths of two unix sockets, which may have 107 bytes',
        example: '/run/quorumscan/engine',
      }),
      address: variables.text('QS_ENGINE_ADDRESS', {
        about: 'host:port on which its engine accepts connections of other engines',
        example: '0.0.0.0:26656',
        read: assertAddress,
      }),
      nodeKeyFile: variables.text('QS_ENGINE_KEY_FILE', {
        about: 'the file of the key by which its engine proves its id (a seed in hex)',
        example: '/var/lib/quorumscan/keys/sv-1.engine',
        file: parseKeyFile,
      }),
      /** Null: it follows without a vote. */
      votingKeyFile: variables.optional('QS_VOTING_KEY_FILE', {
        about:
          'the file of the key that votes on blocks; without it the engine follows without a vote',
        example: '/var/lib/quorumscan/keys/sv-1.voting',
        file: parseKeyFile,
      }),
    },
    engines: readEnginePeers(variables),
  }
}

function readLogRedis(variables: EnvReader): RedisConfig {
  const config = readRedis(variables, 'QS_LOG_REDIS', {
    about: 'the Redis that holds the log, and nothing else',
    example: 'unix:///run/quorumscan/log',
  })
  // A promoted Redis replica may lack acknowledged entries (Rule 3).
  if (usesSentinels(config.place))
    variables.contradiction(
      ['QS_LOG_REDIS'],
      'QS_LOG_REDIS must not use sentinels: a promoted Redis replica may lack the end of the log',
    )
  return config
}
