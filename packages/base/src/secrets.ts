/** Files that a configuration names. An invalid file is an `EnvError`: only an operator can correct it. */
import { readFile } from 'node:fs/promises'
import { EnvError } from './env.ts'
import { describeReadError } from './file-errors.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'

/**
 * The parsed content of a file; null: the empty text, for an optional file.
 *
 * @param parse - Throws if the content is invalid.
 * @throws {EnvError} Which names the file.
 */
export async function readParsed<T>(path: string | null, parse: (text: string) => T): Promise<T> {
  try {
    return parse(path === null ? '' : await readFile(path, 'utf8'))
  } catch (cause) {
    throw new EnvError(describeReadError(cause, path ?? ''), { cause })
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

/** @throws {Error} If the text is not a seed in hex; a line feed may end it. The error does not contain the text. */
export function parseKeyFile(text: string): KeyPair {
  if (!/^[0-9a-f]{64}$/.test(text.trim()))
    throw new Error('the file must hold a seed of 64 hexadecimal digits')
  return keyPairFromSeed(text.trim())
}
