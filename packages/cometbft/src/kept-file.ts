/** What a member keeps in a file of JSON beside its engine. */
import { readParsed } from '@quorumscan/base'

/**
 * What the file holds, or `otherwise` where it does not exist. Not where it cannot be read: the next write would replace
 * what it holds.
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
