/** Secrets of a data directory: tokens of followers of a log, and others, each made once; development tokens (D-32). */
import { existsSync } from 'node:fs'
import { createDevelopmentToken, FIRST_ADMIN_USER } from '@quorumscan/auth'
import { type Clock, fromHex, randomHex, systemRandom } from '@quorumscan/base'
import { DEFAULT_AUDIENCE, parseDuration } from '@quorumscan/model'
import {
  CommandError,
  readSecret,
  SECRET_BYTES,
  UsageError,
  writeFileAtomic,
  writeFileOnce,
} from '@quorumscan/runtime'
import type { DataDirectory } from './data-directory.ts'

export { FIRST_ADMIN_USER }

export const DEFAULT_TTL = '24h'
const MICROS_PER_SECOND = 1_000_000
/** The longest lifetime of a development token. */
const TTL_SECONDS_MAX = 366 * 86_400

/** A token of its own for each process that follows the log, and in a file those that follow one synchronizer. */
export function makeLogTokens(
  directory: DataDirectory,
  synchronizer: string,
  followers: readonly string[],
): void {
  const tokens = followers.map((name) => makeSecret(directory, logTokenOf(name)))
  writeFileAtomic(directory.secretFile(logTokensOf(synchronizer)), `${tokens.join('\n')}\n`)
}

/** What makes a synchronizer a peer of nodes that follow it: their own tokens, which only it and each of them know. */
export function makeNodeTokens(
  directory: DataDirectory,
  synchronizer: string,
  nodes: readonly { readonly name: string; readonly url: string }[],
): void {
  const lines = nodes.map(
    ({ name, url }) => `${new URL(url).origin} ${makeSecret(directory, logTokenOf(name))}\n`,
  )
  writeFileAtomic(directory.secretFile(nodeTokensOf(synchronizer)), lines.join(''))
}

/** Secrets of the data directory, by file: what makes its processes peers of a synchronizer. */
export const logTokensOf = (synchronizer: string) => `log-tokens-${synchronizer}`
export const nodeTokensOf = (synchronizer: string) => `node-tokens-${synchronizer}`
export const logTokenOf = (name: string) => `log-token-${name}`

/** Makes the secret unless it exists, and returns it. */
export function makeSecret(directory: DataDirectory, name: string): string {
  const file = directory.secretFile(name)
  writeFileOnce(file, () => randomHex(systemRandom, SECRET_BYTES))
  return readSecret(file)
}

/** Seconds of `90s`, `15m`, `24h` or `7d`. @throws {UsageError} For anything else. */
export function parseTtl(text: string): number {
  const seconds = (parseDuration(text) ?? 0) / MICROS_PER_SECOND
  if (Number.isInteger(seconds) && seconds > 0 && seconds <= TTL_SECONDS_MAX) return seconds
  throw new UsageError(`"${text}" is not a lifetime such as 90s, 15m, 24h or 7d, of at most 366d`)
}

/**
 * A token that the validator of this data directory takes as the user's.
 *
 * @throws {CommandError} Before the first `up`: the secret does not exist yet.
 */
export async function createToken(
  directory: DataDirectory,
  options: { readonly user: string; readonly ttlSeconds?: number; readonly clock: Clock },
): Promise<string> {
  const { ttlSeconds = parseTtl(DEFAULT_TTL) } = options
  const file = directory.secretFile('jwt')
  if (!existsSync(file))
    throw new CommandError(`no cluster exists in ${directory.path}: \`quorumscan up\` creates one`)
  const secret = fromHex(readSecret(file))
  return createDevelopmentToken({ ...options, ttlSeconds, secret, audience: DEFAULT_AUDIENCE })
}
