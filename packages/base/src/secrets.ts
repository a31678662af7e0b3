/** Files that a configuration names. What is wrong with one is an `EnvError`: only an operator can put it right. */
import { readFile } from 'node:fs/promises'
import { EnvError } from './env.ts'
import { describeFileError } from './file-errors.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'

/**
 * What a file holds; null: the empty text, of a file that is not everywhere.
 *
 * @param parse - Throws if it is not what it must be.
 * @throws {EnvError} That names the file.
 */
export async function readParsed<T>(path: string | null, parse: (text: string) => T): Promise<T> {
  try {
    return parse(path === null ? '' : await readFile(path, 'utf8'))
  } catch (cause) {
    const file = path ?? ''
    const why = describeFileError(cause, file) ?? `${file}: ${(cause as Error).message}`
    throw new EnvError(why, { cause })
  }
}

/**
 * The text of a file that holds a key or a password, without the end of its line.
 *
 * @throws {EnvError} If it cannot be read.
 */
export function readSecret(path: string): Promise<string> {
  return readParsed(path, (text) => text.trim())
}

/** The key pair of a file with its seed in hex. @throws {EnvError} If it cannot be read, or holds none. */
export function readKeyPair(path: string): Promise<KeyPair> {
  return readParsed(path, parseKeyFile)
}

/** @throws {Error} If the text is no seed in hex; a line feed may end it. It does not show the text. */
export function parseKeyFile(text: string): KeyPair {
  if (!/^[0-9a-f]{64}$/.test(text.trim()))
    throw new Error('it holds no seed: 64 hexadecimal digits')
  return keyPairFromSeed(text.trim())
}
