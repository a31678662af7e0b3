/** What a member keeps in files beside its engine. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { readParsed } from '@quorumscan/base'
import { writeFileAtomic } from '@quorumscan/runtime'

/**
 * What the file of JSON holds, or `otherwise` where it does not exist. Not where it cannot be read: the next write would
 * replace what it holds.
 *
 * @throws {EnvError} If it exists and cannot be read, or holds no JSON.
 */
export async function readKept<T>(file: string, otherwise: T): Promise<T> {
  try {
    return await readParsed(file, (text) => JSON.parse(text) as T)
  } catch (error) {
    if (Object(Object(error).cause).code === 'ENOENT') return otherwise
    throw error
  }
}

/** Replaces the file as a whole. Durable when it returns: half of what was signed is nothing. */
export function writeKept(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomic(file, text)
}
