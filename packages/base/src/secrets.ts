import { readFile } from 'node:fs/promises'

/** The text of a file that is not everywhere; empty for null. */
export async function readOptional(path: string | null): Promise<string> {
  return path === null ? '' : await readFile(path, 'utf8')
}

/** The text of a file that holds a key or a password, without the end of its line. */
export async function readSecret(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim()
}
