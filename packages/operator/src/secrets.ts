/** Secrets of a data directory: tokens of those that follow a log, and others, each made once. */
import { randomHex, systemRandom } from '@quorumscan/base'
import { readSecret, SECRET_BYTES, writeFileAtomic, writeFileOnce } from '@quorumscan/runtime'
import type { DataDirectory } from './data-directory.ts'

/** A token of its own for each process that follows the log, and in a file those that follow one synchronizer. */
export function makeLogTokens(
  directory: DataDirectory,
  synchronizer: string,
  followers: readonly string[],
): void {
  const tokens = followers.map((name) => makeSecret(directory, logTokenOf(name)))
  writeFileAtomic(directory.secretFile(logTokensOf(synchronizer)), `${tokens.join('\n')}\n`)
}

/** Secrets of the data directory, by file: what makes its processes peers of a synchronizer. */
export const logTokensOf = (synchronizer: string) => `log-tokens-${synchronizer}`
export const logTokenOf = (name: string) => `log-token-${name}`

/** Makes the secret unless it is there, and returns it. */
export function makeSecret(directory: DataDirectory, name: string): string {
  const file = directory.secretFile(name)
  writeFileOnce(file, () => randomHex(systemRandom, SECRET_BYTES))
  return readSecret(file)
}
