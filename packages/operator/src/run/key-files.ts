/** Whether the private keys of an operator are there, can be read by its user alone, and hold a key. */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseKeyFile } from '@quorumscan/base'
import { messageOf } from '@quorumscan/runtime'

/** The rights of the group and of all others. */
const RIGHTS_OF_OTHERS = 0o077

export type KeyFile = { readonly publicKey: string } | { readonly problem: string }

/**
 * Absent, unreadable, readable by others and wrong content are different sentences, because only an absent key may be made.
 *
 * @param options.role - As `keys new` takes it.
 * @param options.areReadableAllowed - Whether others may be able to read it, as on a file system without rights.
 * @param options.publicIn - What has its public key, such as `the genesis`: then it cannot be made again. Null: nothing.
 */
export function readKeyFile(
  file: string,
  {
    role,
    areReadableAllowed,
    publicIn,
  }: {
    readonly role: string
    readonly areReadableAllowed: boolean
    readonly publicIn: string | null
  },
): KeyFile {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats === undefined)
      return {
        problem:
          publicIn === null
            ? `${file} does not exist; \`quorumscan keys new --role ${role}\` makes it, unless this is the configuration of another role`
            : `${file} does not exist, and ${publicIn} has its public key, so that it cannot be made again. Put it back from your copy or a backup, or correct QS_DATA_DIR or the role`,
      }
    const text = readFileSync(file, 'utf8')
    if ((stats.mode & RIGHTS_OF_OTHERS) !== 0 && !areReadableAllowed)
      return {
        problem:
          `${file} is a private key that other users can read (mode ${octal(stats.mode)}): \`chmod 600 ${file}\`. ` +
          'On a file system that has no rights, set QS_ALLOW_READABLE_KEYS=1',
      }
    return { publicKey: parseKeyFile(text).publicKey }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') return { problem: unreadable(file) }
    if (code === 'ENOTDIR')
      return { problem: `${dirname(dirname(file))} is no directory: name that with the keys` }
    return { problem: `${file}: ${messageOf(error)}` }
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}

/** It exists, or may exist: it must not be made again, because other members know its public key. */
function unreadable(file: string): string {
  const closed = closedPart(file)
  const owner =
    closed === null
      ? ''
      : ` (${closed.path} belongs to the user with the id ${closed.owner}, mode ${octal(closed.mode)})`
  // A directory hides all keys: one sentence.
  const hidesAll = closed !== null && closed.path !== file
  return (
    `${hidesAll ? `the keys in ${dirname(file)}` : file} cannot be read by ${describeUser()}: permission denied${owner}. ` +
    `${hidesAll ? 'They may exist: do not make them again. Run the command as their owner, or give the directory' : 'It may exist: do not make it again. Run the command as its owner, or give the file and its directories'} to this user`
  )
}

function describeUser(): string {
  return `the user with the id ${process.getuid?.() ?? 'of this process'}`
}

/** The file, or the directory that hides it; null: not known. */
function closedPart(file: string) {
  for (let path = file; ; path = dirname(path))
    try {
      const { uid, mode } = statSync(path)
      return { path, owner: uid, mode }
    } catch {
      if (path === dirname(path)) return null
    }
}
