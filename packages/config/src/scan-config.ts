/** Reads the configuration of a scan node from environment variables. `context.ts` reads the files. */
import { statSync } from 'node:fs'
import {
  type Env,
  type EnvReader,
  type NoteVariable,
  parseKeyFile,
  readEnv,
} from '@quorumscan/base'
import { isPartyId, readAmount } from '@quorumscan/model'
import { readOwnRedis } from '@quorumscan/redis'
import { parsePeerTokens, parseServiceUrl } from '@quorumscan/runtime'
import { readFollowerConfig } from './app-config.ts'

export type ScanConfig = ReturnType<typeof readScanConfig>

/** @throws {EnvError} That names every missing or bad variable. */
export function readScanConfig(env: Env, note?: NoteVariable) {
  return readEnv(
    env,
    (variables) => ({
      ...readFollowerConfig(variables),
      redis: readOwnRedis(variables),
      /** Its peers are the other nodes of `QS_NODES`. */
      nodeName: variables.text('QS_NODE_NAME', {
        about: 'its name in the genesis',
        example: 'sv-1',
      }),
      scanKeyFile: variables.text('QS_SCAN_KEY_FILE', {
        about:
          'the file of the key that signs its address and the states of its replica (a seed in hex)',
        example: '/var/lib/quorumscan/keys/sv-1.scan',
        file: parseKeyFile,
      }),
      operatorKeyFile: variables.text('QS_OPERATOR_KEY_FILE', {
        about: 'the file of the key that signs the decisions of its operator',
        example: '/var/lib/quorumscan/keys/sv-1.operator',
        file: parseKeyFile,
      }),
      /** The address at which others reach this node; null: the address on which it listens. */
      publicUrl: variables.optional('QS_PUBLIC_URL', {
        about: 'the public URL of this node; without it, the address on which it listens',
        example: 'https://sv-1.example',
        read: parseServiceUrl,
      }),
      /** null: it takes no snapshots. */
      snapshotDirectory: variables.optional('QS_SNAPSHOTS', {
        about:
          'the directory in which it keeps snapshots of the state, for replicas that start from scratch; without it, it takes none',
        example: '/var/lib/quorumscan/snapshots/sv-1',
        read: assertNoFile,
      }),
      rewards: readRewards(variables),
      /** D-33. */
      peerTokensFile: variables.optional('QS_PEER_TOKENS_FILE', {
        about:
          'a file of tokens, one per line, of callers with a higher rate limit; read again every 2 s',
        example: '/etc/quorumscan/peer-tokens',
        file: parsePeerTokens,
      }),
    }),
    note,
  )
}

/** The process makes the directory. @throws {Error} If a file is in its place. */
function assertNoFile(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Error(`${path} is a file, and not a directory`)
  return path
}

/** What the node sends of its coin (D-78); null: nothing. */
function readRewards(variables: EnvReader) {
  const to = variables.optional('QS_REWARDS_TO', {
    about:
      'the party to which the node offers the coin that its operator earns; without it, `quorumscan rewards send` does',
    example: `treasury::1220${'0'.repeat(64)}`,
    read: parseParty,
  })
  const keep = variables.optional('QS_REWARDS_KEEP', {
    about: 'the coin that it keeps of it; without it, none. Needs QS_REWARDS_TO',
    example: '100',
    read: parseKept,
  })
  if (to === null && keep !== null)
    variables.contradiction(
      ['QS_REWARDS_KEEP', 'QS_REWARDS_TO'],
      'QS_REWARDS_KEEP needs QS_REWARDS_TO',
    )
  return to === null ? null : { to, keep: readAmount(keep ?? '0') ?? 0n }
}

function parseParty(text: string): string {
  if (isPartyId(text)) return text
  throw new Error('is no party: write it as in alice::1220…, with 64 hex digits at the end')
}

function parseKept(text: string): string {
  if ((readAmount(text) ?? -1n) >= 0n) return text
  throw new Error('is no amount of coin, with at most 10 decimals, such as 100 or 2.5')
}
